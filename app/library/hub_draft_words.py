"""How far a search for drafts went, in words. Pure text."""

from __future__ import annotations

from app.figures import bytes_text
from app.library.hub_draft_shapes import DraftsLookedFor


def searched_words(ended: DraftsLookedFor, able: int) -> str:
    """What was found, looked into and read.

    Args:
        ended: How far it went.
        able: How many can draft.
    """
    if not ended.found:
        called = " or ".join(ended.names[:2])
        return f"Nothing smaller than the model with GGUF files has {called} in its name."
    looked = "1 was" if ended.looked == 1 else f"{ended.looked:,} were"
    found = "1 repository was" if ended.found == 1 else f"{ended.found:,} repositories were"
    said = (
        f"{found} found, {looked} looked into, {bytes_text(ended.loaded_bytes)} of headers read; "
        f"{able or 'none'} can draft."
    )
    return f"{said} {ended.problem}".rstrip()
