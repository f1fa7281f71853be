"""What is said of a combination of settings that does not work.

Knows the shape of a problem and of a rule; the rules themselves stand in ``rules`` and the files it
takes in.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from engine_bridge.settings.domain import Value

if TYPE_CHECKING:
    from engine_bridge.model_facts import ModelFacts
    from engine_bridge.settings.config import EngineConfig


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    WARNING = "warning"


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something wrong with a combination of settings.

    Attributes:
        keys: Settings involved, the one to look at first in front.
        message: What is wrong and why, for the user.
        fix: Values that repair it; empty where there is no single repair.
        severity: ``error`` if the engine would refuse or abort, else ``warning``.
    """

    keys: tuple[str, ...]
    message: str
    fix: dict[str, Value] = {}
    severity: Severity = Severity.ERROR


Rule: TypeAlias = "Callable[[EngineConfig, ModelFacts | None], Problem | None]"
