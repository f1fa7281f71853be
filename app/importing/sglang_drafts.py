"""SGLang's speculation, which several flags say together."""

from __future__ import annotations

from collections.abc import Iterable

from app.importing.draft_words import names_eagle3, without_heir
from app.importing.flag_reader import Said
from app.importing.gathering import Gathering
from app.importing.model_words import DRAFT, place_model
from app.importing.typed_numbers import whole

_ALGORITHM = "--speculative-algorithm"
_MODEL = "--speculative-draft-model-path"
_STEPS = "--speculative-num-steps"
_TOKENS = "--speculative-num-draft-tokens"
_BRANCHES = "--speculative-eagle-topk"
_BLOCKS = ("--speculative-dflash-block-size", "--speculative-dspark-block-size")
FLAGS = (_ALGORITHM, _MODEL, _STEPS, _TOKENS, _BRANCHES, *_BLOCKS)

_NGRAM = "ngram-simple"
_KINDS = {
    "EAGLE3": "draft-eagle3",
    "NEXTN": "draft-mtp",
    "STANDALONE": "draft-simple",
    "NGRAM": _NGRAM,
    "DFLASH": "draft-dflash",
    "DSPARK": "draft-dspark",
}


def told_together(gathering: Gathering, said: Said) -> None:
    """One of the flags; ``take`` reads them all."""


def take(gathering: Gathering, said: Iterable[Said]) -> None:
    """Take what the flags of a whole line say of drafts."""
    values = {one.name: one.value for one in said if one.name in FLAGS and one.value}
    drafting = _Drafting(values)
    if values and not drafting.algorithm:
        gathering.note(f"SGLang drafts only with {_ALGORITHM}, which is not said.")
    if drafting.model:
        place_model(gathering, drafting.model, DRAFT)
    if drafting.algorithm:
        _take_kind(gathering, drafting)
    _take_length(gathering, drafting)


class _Drafting:
    """What a line says of its drafts."""

    def __init__(self, values: dict[str, str]) -> None:
        self.algorithm = values.get(_ALGORITHM, "").upper()
        self.model = values.get(_MODEL, "")
        self.steps = values.get(_STEPS, "")
        self.tokens = values.get(_TOKENS, "")
        self.block = next((values[flag] for flag in _BLOCKS if flag in values), "")
        branches = whole(values.get(_BRANCHES, ""))
        self.is_tree = branches is not None and branches > 1

    @property
    def kind(self) -> str | None:
        """The spec type of llama.cpp; None where there is none."""
        if self.algorithm != "EAGLE":
            return _KINDS.get(self.algorithm)
        if names_eagle3(self.model):
            return "draft-eagle3"
        return None if self.model else "draft-mtp"


def _take_kind(gathering: Gathering, drafting: _Drafting) -> None:
    kind = drafting.kind
    if kind is None:
        version = " (version 1)" if drafting.algorithm == "EAGLE" else ""
        without_heir(gathering, f"drafting by {drafting.algorithm}{version}")
        return
    gathering.setting("spec_types", (kind,))
    if drafting.algorithm != "EAGLE":
        return
    gathering.note(
        "The algorithm says EAGLE and the draft's name EAGLE3; it is taken for the latter."
        if drafting.model
        else "EAGLE without a draft model asks layers of the model's own that guess ahead; whether "
        "its GGUF has them shows when it is loaded."
    )


def _take_length(gathering: Gathering, drafting: _Drafting) -> None:
    if drafting.is_tree and drafting.tokens:
        gathering.whole("draft_n_max", drafting.tokens, _TOKENS)
        gathering.note(
            f"{_TOKENS} {drafting.tokens} counts the nodes of a tree; llama.cpp drafts one chain, "
            f"for which {drafting.steps or 'the number of steps'} is nearer."
        )
    elif drafting.kind == _NGRAM and drafting.tokens:
        gathering.whole("ngram_size_m", drafting.tokens, _TOKENS)
    elif drafting.block:
        gathering.whole("draft_n_max", drafting.block, _BLOCKS[0])
    elif drafting.steps:
        gathering.whole("draft_n_max", drafting.steps, _STEPS)
    elif drafting.tokens:
        gathering.whole("draft_n_max", drafting.tokens, _TOKENS)
