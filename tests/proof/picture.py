"""A picture of the window while the engine answers: ``python -m tests.proof.picture MODEL PNG``."""

from __future__ import annotations

import sys

from app.main import application
from engine_bridge.settings.config import EngineConfig
from resources.tokens import DARK
from tests.bench.window_desk import open_window, stream_in
from widgets.theme import apply_theme

_PROMPTS = ("A window on a large machine shows", "What a board can do in a second is")


def main() -> int:
    """Load, stream, save the picture; 1 if it could not be written."""
    model, target = sys.argv[1:3]
    apply_theme(application(), DARK)
    settings = EngineConfig(model_path=model, slots=2, max_new_tok=160, temperature=0.0)
    with open_window(settings, None) as window:
        stream_in(window, _PROMPTS, lambda: None)
        return 0 if window.grab().save(target) else 1


if __name__ == "__main__":
    sys.exit(main())
