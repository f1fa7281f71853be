"""What ``tunedeck hub drafts`` does, told to a terminal as it comes, or as JSON at the end."""

from __future__ import annotations

import argparse
import sys

import msgspec

from app.figures import bytes_text, count_text
from app.json_output import tell_error, write_json
from app.library.draft_verdicts import percent_text, verdict_sentence, verdict_words
from app.library.hub import Hub
from app.library.hub_draft_shapes import DraftsLookedFor, HubDraft
from app.library.hub_draft_words import searched_words
from app.library.hub_drafts import DraftSearch
from app.plain_output import printable
from engine_bridge.gguf_window import GgufError
from engine_bridge.settings.home_path import whole_path


def tell_hub_drafts(hub: Hub, arguments: argparse.Namespace) -> int:
    """Look for what can draft for ``arguments.model``; gives the exit status.

    Raises:
        HubError: If the hub tells nothing, in a sentence.
    """
    path = whole_path(arguments.model)
    found: list[HubDraft] = []

    def tell(draft: HubDraft) -> None:
        found.append(draft)
        if not arguments.json:
            for line in _lines(draft):
                sys.stdout.write(f"{printable(line)}\n")
            sys.stdout.flush()

    try:
        ended = DraftSearch(hub, path, arguments.most).run(tell)
    except GgufError as error:
        tell_error(str(error), as_json=arguments.json)
        return 1
    able = sum(draft.can_draft for draft in found)
    if arguments.json:
        write_json(_told(path, found, ended), sys.stdout)
    else:
        sys.stdout.write(f"{printable(searched_words(ended, able))}\n")
    return 0


def _told(path: str, found: list[HubDraft], ended: DraftsLookedFor) -> dict[str, object]:
    drafts = [
        {"can_draft": draft.can_draft}
        | msgspec.structs.asdict(draft)
        | {"size_bytes": draft.model.size_bytes, "share": draft.share}
        for draft in found
    ]
    return {"model": path, "drafts": drafts, "search": ended}


def _lines(draft: HubDraft) -> list[str]:
    size = draft.model.size_bytes
    parts = [draft.repo, draft.model.name, draft.kind]
    parts.append(count_text(draft.parameters) if draft.parameters else "")
    if size:
        parts += [bytes_text(size), f"{percent_text(draft.share)} of the model"]
    parts.append(verdict_words(draft.kind, draft.share, draft.why_not, draft.problem))
    sentence = verdict_sentence(draft.kind, draft.share, draft.why_not, draft.problem)
    lines = [" · ".join(filter(None, parts)), f"    {sentence}"]
    if draft.can_draft:
        lines.append(f"    tunedeck hub download {draft.repo} {draft.model.name}")
    return lines
