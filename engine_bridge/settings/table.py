"""The settings, one row each.

Adding a fader means adding a row here, a field in ``config.EngineConfig`` and its line (or the
reason why there is none) in each export dialect; tests walk this table and fail otherwise.
"""

from __future__ import annotations

from engine_bridge.settings.cache_rows import CACHES
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    IntDomain,
    PathDomain,
)
from engine_bridge.settings.extra_rows import EXTRAS
from engine_bridge.settings.more_sampling_rows import MORE_SAMPLING
from engine_bridge.settings.placement_rows import PLACEMENT
from engine_bridge.settings.row import MAX_CONTEXT_TOK, Applies, Group, Setting
from engine_bridge.settings.sampling_rows import SAMPLING
from engine_bridge.settings.speculation_rows import SPECULATION

# llama.cpp refuses more sequences in one context (LLAMA_MAX_SEQ in src/llama-cparams.h).
MAX_SLOTS = 256
_POWERS = tuple(2**n for n in range(24))


def _powers(low: int, high: int) -> tuple[int, ...]:
    return tuple(power for power in _POWERS if low <= power <= high)


_CONTEXT_DOMAIN = IntDomain(256, MAX_CONTEXT_TOK, _powers(512, 1_048_576))
_CACHE_DOMAIN = ChoiceDomain(tuple(CACHE_TYPES))

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model_path",
        "Model",
        PathDomain(),
        "",
        Applies.RELOAD,
        True,
        Group.MODEL,
        "The GGUF file to run. Of a split model, the first part.",
    ),
    Setting(
        "ctx_per_slot_tok",
        "Context per slot",
        _CONTEXT_DOMAIN,
        4096,
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Tokens of one conversation, prompt and answers together. Size it to the work, not to "
        "the model's maximum: every token reserved costs memory.",
        "tok",
    ),
    Setting(
        "slots",
        "Parallel slots",
        IntDomain(1, MAX_SLOTS, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)),
        4,
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Conversations that run at the same time. The weights read for one token serve all of "
        "them, so total speed rises with each slot while each stream slows a little.",
    ),
    Setting(
        "kv_unified",
        "Shared pool",
        FlagDomain(),
        False,
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "All slots share one pool, or each owns its context. A shared one may be smaller than "
        "slots × context and can run out.",
    ),
    Setting(
        "ctx_total_tok",
        "Pool size",
        IntDomain(256, 2**31 - 256, _powers(512, 4_194_304), ("auto",)),
        "auto",
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Tokens in the shared pool; auto is slots × context per slot. Without a shared pool it "
        "always is that product.",
        "tok",
    ),
    Setting(
        "cache_type_k",
        "K cache",
        _CACHE_DOMAIN,
        "f16",
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Number format of the keys in the KV cache. q8_0 halves it at a small, measurable cost; "
        "models with a high GQA ratio notice a coarse K cache first.",
    ),
    Setting(
        "cache_type_v",
        "V cache",
        _CACHE_DOMAIN,
        "f16",
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Number format of the values in the KV cache. Any quantised type needs flash attention.",
    ),
    Setting(
        "flash_attn",
        "Flash attention",
        ChoiceDomain(("auto", "on", "off")),
        "auto",
        Applies.CONTEXT,
        True,
        Group.MAIN,
        "Exact attention, computed in tiles. It moves less memory and prefills long contexts "
        "faster. Auto takes it wherever the backend supports the model's head sizes.",
    ),
    *SPECULATION,
    *CACHES,
    *PLACEMENT,
    *EXTRAS,
    Setting(
        "batch_tok",
        "Batch",
        IntDomain(2, 65_536, _powers(32, 16_384)),
        2048,
        Applies.CONTEXT,
        True,
        Group.BATCH,
        "Most tokens handed to the engine in one step. At least one per slot; a batch of 1 makes "
        "llama.cpp abort, so 2 is the least.",
        "tok",
    ),
    Setting(
        "ubatch_tok",
        "Micro-batch",
        IntDomain(1, 65_536, _powers(16, 8192)),
        512,
        Applies.CONTEXT,
        True,
        Group.BATCH,
        "Tokens computed at once inside a batch. Larger speeds up prefill and costs compute "
        "memory: about vocabulary × micro-batch × 4 bytes at worst.",
        "tok",
    ),
    Setting(
        "prefill_chunk_tok",
        "Prefill chunk",
        IntDomain(32, 65_536, _powers(32, 8192), ("auto",)),
        "auto",
        Applies.LIVE,
        False,
        Group.BATCH,
        "Prompt tokens computed in a step while others generate. Auto follows the measured speed, "
        "so that no stream waits more than 250 ms for someone else's prompt.",
        "tok",
    ),
    Setting(
        "threads",
        "Threads, decode",
        IntDomain(1, 512, tuple(range(1, 129)), ("auto",)),
        "auto",
        Applies.LIVE,
        False,
        Group.BATCH,
        "CPU threads that generate. Auto takes the physical cores this process may use; more "
        "usually slow decoding down.",
    ),
    Setting(
        "threads_batch",
        "Threads, prefill",
        IntDomain(1, 512, tuple(range(1, 129)), ("auto",)),
        "auto",
        Applies.LIVE,
        False,
        Group.BATCH,
        "CPU threads that read prompts. Auto is the same number as for decoding.",
    ),
    *SAMPLING,
    *MORE_SAMPLING,
)

BY_KEY: dict[str, Setting] = {setting.key: setting for setting in SETTINGS}
