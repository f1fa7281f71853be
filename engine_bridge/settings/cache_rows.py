"""The rows of the settings table about what is kept of earlier prompts; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import FlagDomain
from engine_bridge.settings.row import Applies, Group, Setting

CACHES: tuple[Setting, ...] = (
    Setting(
        "swa_full",
        "Full sliding-window cache",
        FlagDomain(),
        False,
        Applies.CONTEXT,
        True,
        Group.CACHE,
        "Keep every token of a sliding-window model. Costs several times the memory of the window "
        "and lets any prefix be reused.",
    ),
)
