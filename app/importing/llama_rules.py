"""What follows from llama.cpp's rules where a line does not say it.

Sources: the server's own start (tools/server/server.cpp) and ``llama_context`` of its library.
"""

from __future__ import annotations

import re

from app.importing.llama_gathering import PRESETS, LlamaGathering
from engine_bridge.settings.config import pad_context_tok
from engine_bridge.settings.domain import Value

# Slots of a server that is not told how many.
AUTOMATIC_SLOTS = 4
_ROUTER = ("--models-dir", "--models-preset")
# What the name of a draft's file tells of its kind.
_KINDS_BY_NAME = (
    (re.compile(r"eagle-?3", re.IGNORECASE), "draft-eagle3"),
    (re.compile(r"(?<![a-z])(?:mtp|nextn)(?![a-z])", re.IGNORECASE), "draft-mtp"),
    (re.compile(r"dflash", re.IGNORECASE), "draft-dflash"),
    (re.compile(r"dspark", re.IGNORECASE), "draft-dspark"),
)


def is_router(gathering: LlamaGathering) -> bool:
    """Whether the server starts others, one for each model, and has none of its own."""
    return gathering.has(*_ROUTER) and not names_model(gathering)


def names_model(gathering: LlamaGathering) -> bool:
    """Whether a model is named, even where its name is left to a person."""
    return gathering.has("--model", "--hf-repo", "--model-url", "--docker-repo", *PRESETS)


def derive(gathering: LlamaGathering, *, is_server: bool) -> None:
    """Add what follows, marked as such."""
    _derive_drafts(gathering)
    if is_server and not is_router(gathering) and not gathering.has(*PRESETS):
        _derive_slots(gathering)
        _derive_contexts(gathering)


def _derive_slots(gathering: LlamaGathering) -> None:
    slots = gathering.settings.get("slots")
    is_automatic = "slots" not in gathering.settings or (isinstance(slots, int) and slots < 0)
    if is_automatic:
        gathering.settings.pop("slots", None)
        gathering.derive("slots", AUTOMATIC_SLOTS)
        _share_pool(gathering)
    gathering.derive("kv_unified", is_automatic)


def _share_pool(gathering: LlamaGathering) -> None:
    """A server that chooses its slots itself has them share one pool, whatever was said."""
    if gathering.settings.get("kv_unified", True) is True:
        return
    written = next(
        (said.written for said in reversed(gathering.flags) if said.is_called("--kv-unified")),
        "--no-kv-unified",
    )
    gathering.settings.pop("kv_unified")
    gathering.note(
        f"{written} has no effect without -np: llama.cpp 0.5.0 then takes {AUTOMATIC_SLOTS} slots "
        f"with one shared pool. To split the context, say -np {AUTOMATIC_SLOTS} as well."
    )


def _derive_contexts(gathering: LlamaGathering) -> None:
    settings = gathering.settings
    total, slots = _positive(settings.get("ctx_total_tok")), _positive(settings.get("slots"))
    cap = _positive(settings.get("ctx_per_slot_tok"))
    if not slots:
        return
    if cap and not total and "ctx_total_tok" not in settings:
        gathering.derive("ctx_total_tok", cap * slots)
    elif total and settings.get("kv_unified") is True:
        gathering.derive("ctx_per_slot_tok", pad_context_tok(total))
    elif total:
        gathering.derive("ctx_per_slot_tok", pad_context_tok(max(1, total // slots)))


def _positive(value: Value | None) -> int:
    """``value`` where it is a number of tokens or slots, else 0."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and value > 0 else 0


def _derive_drafts(gathering: LlamaGathering) -> None:
    """A draft model alone drafts nothing; what was meant is plain all the same."""
    named = [gathering.settings.get(key) for key in ("draft_model_path", "draft_hf_repo")]
    draft = next((name for name in named if isinstance(name, str) and name), "")
    kinds = gathering.settings.get("spec_types")
    has_kind = isinstance(kinds, tuple) and any(kind.startswith("draft-") for kind in kinds)
    if not draft or has_kind:
        return
    meant = next((kind for sign, kind in _KINDS_BY_NAME if sign.search(draft)), "draft-simple")
    gathering.problem(
        "spec_off",
        f"a draft model without its kind stays unused in 0.5.0; --spec-type {meant} turns it on",
    )
    if "spec_types" not in gathering.settings:
        gathering.derive("spec_types", (meant,))
