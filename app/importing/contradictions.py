"""What a text says that cannot be together, by the rules between the desk's settings.

For engines whose own engine is llama.cpp, or a copy of it.
"""

from __future__ import annotations

from app.importing.found_settings import settings_for
from app.importing.gathering import Gathering
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of


def tell_contradictions(gathering: Gathering) -> None:
    """Tell of settings of the text that llama.cpp would refuse together."""
    values: dict[str, object] = dict(settings_for(gathering.found()).values)
    for problem in errors_of(EngineConfig().with_values(values)):
        if set(problem.keys) <= gathering.settings.keys():
            gathering.problem("contradiction", problem.message)
