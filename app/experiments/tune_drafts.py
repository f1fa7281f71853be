"""Drafts that a tuner may try: kinds that need no model, layers of the model's own, draft files.

Nothing here says which of them pays; that is measured. Knows files' headers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.experiments.experiment import Cell
from engine_bridge.draft_kind import PLAIN, guessing_problem
from engine_bridge.gguf_file import GgufError, read_model_facts
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.spec_kinds import (
    EXPORT_ONLY_KINDS,
    KINDS_OF_KEY,
    NGRAM_KINDS,
    kinds_that_use,
)

_MTP = "draft-mtp"
# Lengths by their key: what a draft holds, what must repeat for one, how sure a model must be.
_LENGTHS: dict[str, tuple[Value, ...]] = {
    "ngram_size_m": (8, 16, 32, 48, 64),
    "ngram_size_n": (3, 6, 12, 16),
    "ngram_mod_n_match": (16, 24, 32),
    "ngram_mod_n_min": (8, 24, 48),
    "ngram_mod_n_max": (32, 64, 96),
    "draft_n_max": (1, 2, 3, 4, 6, 8, 12, 16),
    "draft_p_min": (0.0, 0.4, 0.75),
}


def draft_options(
    best: EngineConfig, model: ModelFacts | None, files: Sequence[str], kept: Sequence[str]
) -> list[dict[str, Value]]:
    """Every kind of drafts by itself, none at all first.

    Args:
        best: The best so far.
        model: The model's facts; None if they are not known.
        files: Draft models that may be tried.
        kept: Keys that must not be touched.
    """
    kinds: list[tuple[str, ...]] = [(), *((kind,) for kind in NGRAM_KINDS)]
    options: list[dict[str, Value]] = [{"spec_types": kind} for kind in kinds]
    if model is not None and not guessing_problem(model.architecture, model.nextn_layers):
        options.append({"spec_types": (_MTP,)})
    is_kept = "draft_model_path" in kept
    if is_kept:
        files = [best.draft_model_path] if best.draft_model_path else []
    for path in files:
        option: dict[str, Value] = {"spec_types": (kind_of_file(path),)}
        options.append(option if is_kept else option | {"draft_model_path": path})
    return [option for option in options if not never_runs(option)]


def kind_of_file(path: str) -> str:
    """The kind of drafts that a file makes; what is wrong with it the planner says."""
    try:
        return read_model_facts(path).draft_kind
    except GgufError:
        return PLAIN


def never_runs(option: Mapping[str, Value]) -> bool:
    """Whether its drafts stand in command lines only."""
    kinds = option.get("spec_types", ())
    return isinstance(kinds, tuple) and bool(set(kinds) & set(EXPORT_ONLY_KINDS))


def both_kinds(by_words: EngineConfig, by_model: EngineConfig) -> EngineConfig:
    """Drafts by a model where the words of the conversation have none."""
    kinds = (*by_words.spec_types, *by_model.spec_types)
    return by_model.with_values({"spec_types": kinds})


def uses(config: EngineConfig, key: str) -> bool:
    """Whether ``key`` does anything with the drafts of ``config``; of other keys always."""
    if key in KINDS_OF_KEY:
        return bool(kinds_that_use(key, config.spec_types))
    if key.startswith("draft_") and key != "draft_model_path":
        return config.drafts_by_model
    return True


def length_steps() -> list[tuple[str, Callable[[EngineConfig, Cell], list[dict[str, Value]]]]]:
    """Key and options of each length; no options where the drafts do not use it."""
    return [(key, _lengths(key, values)) for key, values in _LENGTHS.items()]


def _lengths(
    key: str, values: Sequence[Value]
) -> Callable[[EngineConfig, Cell], list[dict[str, Value]]]:
    def options(best: EngineConfig, _: Cell) -> list[dict[str, Value]]:
        if not uses(best, key):
            return []
        ordered = sorted({*values, getattr(best, key)})
        return [{key: value} for value in ordered if not _never_drafts(best, key, value)]

    return options


def _never_drafts(best: EngineConfig, key: str, value: Value) -> bool:
    """ngram-simple drafts nothing where the draft is shorter than the match."""
    if "ngram-simple" not in best.spec_types:
        return False
    size_m = value if key == "ngram_size_m" else best.ngram_size_m
    size_n = value if key == "ngram_size_n" else best.ngram_size_n
    return size_m < size_n  # type: ignore[operator]
