"""The rows of the settings table about what is kept of earlier prompts; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import FlagDomain, IntDomain
from engine_bridge.settings.row import MAX_CONTEXT_TOK, Applies, Group, Setting

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
    Setting(
        "context_shift",
        "Context shift",
        FlagDomain(),
        False,
        Applies.LIVE,
        False,
        Group.CACHE,
        "When a slot is full while it answers, drop the older half of its tokens and go on instead "
        "of ending the answer. The model no longer knows what was dropped; an answer without a "
        "limit can then go on for ever.",
    ),
    Setting(
        "keep_tok",
        "Kept by the shift",
        IntDomain(-1, MAX_CONTEXT_TOK, (-1, 0, *(2**n for n in range(4, 17)))),
        0,
        Applies.LIVE,
        False,
        Group.CACHE,
        "Tokens at the beginning that a context shift never drops, such as a system prompt. −1 "
        "keeps the whole prompt.",
        "tok",
    ),
)
