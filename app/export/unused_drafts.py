"""Why settings of drafts are not said by the kind of draft that is on.

Must not know any engine's words.
"""

from __future__ import annotations

from app.export.llama_speculation import DRAFT_KEYS
from app.export.sheet import Sheet
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY, MODEL_KINDS

DRAFT_CACHE_KEYS = ("draft_cache_type_k", "draft_cache_type_v")


def leave_unused_drafts(sheet: Sheet, engine: str, kind: str) -> None:
    """Reasons for every setting of drafts that ``kind`` has no use and ``engine`` no word for.

    Args:
        sheet: Where the reasons go; a dialect's own answers come over them later.
        engine: What the engine is called.
        kind: The kind that drafts there, empty for none.
    """
    for key, kinds in KINDS_OF_KEY.items():
        if kind not in kinds:
            sheet.leave(key, f"It has no effect while {' or '.join(kinds)} does not draft.")
    if kind not in MODEL_KINDS:
        sheet.leave(DRAFT_KEYS, "It has no effect while no model drafts.")
        return
    sheet.leave("draft_n_min", f"{engine} checks every draft, however short.")
    sheet.leave("draft_p_min", f"{engine} drafts as many tokens as it was told.")


def others_left_out(engine: str, kinds: tuple[str, ...]) -> str:
    """A sentence with a blank before it on the kinds behind the first; empty where it is alone."""
    if not kinds[1:]:
        return ""
    return f" {engine} drafts in one way and leaves out {', '.join(kinds[1:])}."
