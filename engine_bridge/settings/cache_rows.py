"""The rows of the settings table about what is kept of earlier prompts; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import FlagDomain, IntDomain
from engine_bridge.settings.row import MAX_CONTEXT_TOK, Applies, Group, Setting

CACHES: tuple[Setting, ...] = (
    Setting(
        "cache_prompt",
        "Prompt caching",
        FlagDomain(),
        True,
        Applies.LIVE,
        False,
        Group.CACHE,
        "Reuse what earlier prompts have computed. Off computes every prompt from its first token, "
        "which is for measuring.",
    ),
    Setting(
        "cache_ram_mib",
        "Prompts kept in RAM",
        IntDomain(-1, 1 << 20, (-1, 0, *(2**n for n in range(7, 18)))),
        8192,
        Applies.LIVE,
        True,
        Group.CACHE,
        "RAM for conversations that had to leave their slot. At most this much, taken as they "
        "come, the oldest dropped first, and never what the system or the weights need. −1 sets "
        "no limit, 0 keeps none.",
        "MiB",
    ),
    Setting(
        "ctx_checkpoints",
        "Checkpoints per slot",
        IntDomain(0, 1024, (0, 1, 2, 4, 8, 16, 32, 64, 128)),
        32,
        Applies.LIVE,
        True,
        Group.CACHE,
        "Copies of a state or window, to go back to. A recurrent state or a sliding window cannot "
        "be cut: an edited message goes back to the last copy instead of the beginning.",
    ),
    Setting(
        "checkpoint_min_step_tok",
        "Checkpoint distance",
        IntDomain(0, MAX_CONTEXT_TOK, (0, *(2**n for n in range(8, 17)))),
        8192,
        Applies.LIVE,
        False,
        Group.CACHE,
        "Tokens between checkpoints inside a long prompt. Also the least distance of old ones "
        "where they become too many; 0 takes none inside a prompt.",
        "tok",
    ),
    Setting(
        "cache_reuse_tok",
        "Chunk reuse",
        IntDomain(0, MAX_CONTEXT_TOK, (0, *(2**n for n in range(4, 13)))),
        0,
        Applies.LIVE,
        False,
        Group.CACHE,
        "Least length of pieces that are moved, not computed. They stand behind a change, and were "
        "read after other words: faster, and no longer exact. 0 turns it off.",
        "tok",
    ),
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
        "Makes room in a full slot by dropping old tokens. The older half goes and the answer goes "
        "on instead of ending: for chats without an end. The model no longer knows what was "
        "dropped; an answer without a limit can go on for ever.",
    ),
    Setting(
        "keep_tok",
        "Kept by the shift",
        IntDomain(-1, MAX_CONTEXT_TOK, (-1, 0, *(2**n for n in range(4, 17)))),
        0,
        Applies.LIVE,
        False,
        Group.CACHE,
        "Tokens at the beginning that a shift never drops. As many as the system prompt has keep "
        "the model in its role; −1 keeps the whole prompt.",
        "tok",
    ),
)
