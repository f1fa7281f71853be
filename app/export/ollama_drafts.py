"""Drafts in Ollama: a DRAFT model in the Modelfile, or layers of the model's own."""

from __future__ import annotations

from app.export.carried import not_carried, same_for
from app.export.ollama_sheet import ENGINE, OllamaSheet
from app.export.unused_drafts import leave_unused_drafts
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY

# It drafts by models alone.
NGRAMS = same_for(KINDS_OF_KEY, not_carried(f"{ENGINE} drafts by models alone."))
_AMOUNT = "draft_num_predict"
_BY_FILE = ("draft-simple", "draft-mtp")
_ITSELF = f"{ENGINE} refuses a DRAFT that is the model itself: choose another file as draft model."


def say_drafts(sheet: OllamaSheet) -> None:
    """Writes the kind of draft that Ollama has, where one of those is on."""
    config = sheet.config
    kind = next((one for one in config.spec_types if one in _BY_FILE), "")
    leave_unused_drafts(sheet, ENGINE, kind)
    if not config.spec_types:
        sheet.say("spec_types", "no drafts unless told")
        return
    others = [one for one in config.spec_types if one != kind]
    # It refuses a DRAFT that is the file of FROM; layers of the model's own need none.
    is_itself = bool(config.draft_model_path) and config.draft_model_path == config.model_path
    draft_path = "" if is_itself else config.draft_model_path
    if not kind or (kind == "draft-simple" and not draft_path):
        _none(sheet, kind, is_itself=is_itself)
        return
    if is_itself:
        sheet.leave("draft_model_path", _ITSELF)
    left_out = f" {ENGINE} drafts in one way and leaves out {', '.join(others)}." if others else ""
    if draft_path:
        sheet.instruct("draft_model_path", "DRAFT", draft_path)
        about = f"DRAFT: {ENGINE} sees by the file how it drafts."
    else:
        about = f"PARAMETER {_AMOUNT}: with it the model's own layers guess ahead."
    sheet.bridge("spec_types", about + left_out)
    sheet.parameter("draft_n_max", _AMOUNT, config.draft_n_max)


def _none(sheet: OllamaSheet, kind: str, *, is_itself: bool) -> None:
    if kind and is_itself:
        sheet.leave(("spec_types", "draft_model_path"), _ITSELF)
        sheet.leave("draft_n_max", "It has no effect without a draft model.")
    elif kind:
        sheet.leave("spec_types", "No draft model is chosen: DRAFT would name it.")
        sheet.leave("draft_n_max", "It has no effect without a draft model.")
    else:
        sheet.leave(
            "spec_types", f"{ENGINE} drafts by a plain model or by layers of the model's own."
        )
