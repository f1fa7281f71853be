"""vLLM's speculation: one JSON value today, a handful of flags before."""

from __future__ import annotations

from app.importing.draft_words import kind_by_name, without_heir
from app.importing.flag_reader import Said
from app.importing.gathering import Gathering
from app.importing.loose_json import Json
from app.importing.model_words import DRAFT, place_model
from app.importing.serving_words import json_object

# Every method that ends in _mtp is some model's own layers that guess ahead.
_KINDS = {
    "ngram": "ngram-simple",
    "ngram_gpu": "ngram-simple",
    "draft_model": "draft-simple",
    "eagle3": "draft-eagle3",
    "mtp": "draft-mtp",
    "dflash": "draft-dflash",
    "dspark": "draft-dspark",
}
_NO_MODEL = ("", "ngram", "[ngram]")
_TOKENS, _LOOKUP_MOST = "num_speculative_tokens", "prompt_lookup_max"
_READ = {"method", "model", _TOKENS, _LOOKUP_MOST, "prompt_lookup_min"}


def config(gathering: Gathering, said: Said) -> None:
    """``--speculative-config``, whole or one part of it."""
    values = json_object(gathering, said)
    if "method" in values or ("model" in values and not _is_settled(gathering)):
        _take_kind(gathering, _text(values, "method"), _text(values, "model"))
    if _text(values, "model") not in _NO_MODEL:
        place_model(gathering, _text(values, "model"), DRAFT)
    for name in (_TOKENS, _LOOKUP_MOST):
        if name in values:
            _take_length(gathering, name, _text(values, name))
    rest = sorted(values.keys() - _READ)
    if rest:
        gathering.note(f"Of {said.written}, {', '.join(rest)} is not taken over.")


def method(gathering: Gathering, said: Said) -> None:
    """``--spec-method``."""
    _take_kind(gathering, said.value, _draft_named(gathering))


def model(gathering: Gathering, said: Said) -> None:
    """``--spec-model``, and ``--speculative-model`` before."""
    if not _is_settled(gathering):
        _take_kind(gathering, "", said.value)
    if said.value not in _NO_MODEL:
        place_model(gathering, said.value, DRAFT)


def tokens(gathering: Gathering, said: Said) -> None:
    """``--spec-tokens``, and ``--num-speculative-tokens`` before."""
    _take_length(gathering, _TOKENS, said.value)


def lookup_most(gathering: Gathering, said: Said) -> None:
    """The longest piece of text that is looked up."""
    _take_length(gathering, _LOOKUP_MOST, said.value)


def _take_kind(gathering: Gathering, name: str, draft: str) -> None:
    if not name and draft in _NO_MODEL[1:]:
        name = "ngram"
    if not name:
        gathering.setting("spec_types", (kind_by_name(draft),), derived=True)
        return
    kind = "draft-mtp" if name.endswith("_mtp") else _KINDS.get(name)
    if name == "eagle" and kind_by_name(draft or _draft_named(gathering)) == "draft-eagle3":
        kind = "draft-eagle3"
    if kind is None:
        gathering.settings.pop("spec_types", None)
        without_heir(gathering, f"the method {name} of vLLM")
    else:
        gathering.setting("spec_types", (kind,))


def _is_settled(gathering: Gathering) -> bool:
    """Whether the kind was said already, if only one that there is not here."""
    return "spec_types" in gathering.settings or gathering.has_problem("no_heir")


def _take_length(gathering: Gathering, name: str, text: str) -> None:
    gathering.whole("ngram_size_n" if name == _LOOKUP_MOST else "draft_n_max", text, name)


def _draft_named(gathering: Gathering) -> str:
    path = gathering.settings.get("draft_model_path")
    return path if isinstance(path, str) else str(gathering.other.get("draft_source_model", ""))


def _text(values: dict[str, Json], name: str) -> str:
    value = values.get(name, "")
    return value if isinstance(value, str) else ""
