"""A draft model: what is checked before it is loaded, its weights, and its context of the moment.

Knows files and contexts; must not know drafting or requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from engine_bridge.child.llama import Context, Model
from engine_bridge.child.measure import kv_reads_of
from engine_bridge.child.stranger import Stamp, stamp_of
from engine_bridge.draft_kind import GUESSES
from engine_bridge.gguf_file import GgufError, GgufModel, read_model
from engine_bridge.gguf_vocabulary import read_vocabulary, why_incompatible
from engine_bridge.guessing_file import why_not_its_guesses
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem, errors_of
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS, MODEL_KINDS, WHY_EXPORT_ONLY

# What rules call a setting of a model, for a draft model.
_DRAFT_KEYS = {
    "model_path": "draft_model_path",
    "cache_type_k": "draft_cache_type_k",
    "cache_type_v": "draft_cache_type_v",
    "n_gpu_layers": "draft_n_gpu_layers",
}


@dataclass
class DraftModel:
    """A loaded draft model.

    Attributes:
        facts: What its header says.
        model: Its weights.
        weights: What a step reads of them.
        stamp: What tells whether its file is still the same one.
        context: Its context, None while there is none.
    """

    facts: ModelFacts
    model: Model
    weights: WeightReads
    stamp: Stamp
    context: Context | None = None

    def build(self, config: EngineConfig) -> None:
        """Make a context for ``config`` (the draft model's own) in place of the old one.

        Raises:
            LlamaError: If llama.cpp refuses, with its words; there is no context then.
        """
        self.drop_context()
        self.context = Context.create(self.model, config)
        self.context.warm_up()

    @property
    def reads(self) -> tuple[WeightReads, KvReads]:
        """What a step reads of the weights and of the caches."""
        log = self.context.log if self.context is not None else []
        return self.weights, kv_reads_of(log, self.model.window_tok)

    def drop_context(self) -> None:
        """Free the context."""
        if self.context is not None:
            self.context.close()
            self.context = None

    def close(self) -> None:
        """Free everything."""
        self.drop_context()
        self.model.close()


class DraftCheck:
    """Whether a draft model may draft for a target; vocabularies are compared once a pair."""

    def __init__(self) -> None:
        """Know no pair yet."""
        self._reasons: dict[tuple[Stamp, Stamp], str] = {}

    def problem(
        self, config: EngineConfig, target: ModelFacts, draft: ModelFacts
    ) -> Problem | None:
        """Why ``draft`` must not draft for ``target``, or None.

        Args:
            config: What is to run; it names a draft model.
            target: The model to draft for.
            draft: The draft model.
        """
        assert config.draft is not None
        if draft.draft_kind not in config.spec_types:
            return _wrong_kind(config, draft, target)
        if draft.draft_kind == GUESSES and (reason := why_not_its_guesses(target, draft)):
            return _no_draft(config, reason)
        for problem in errors_of(config.draft.mtp or config.draft, draft):
            return as_draft_problem(problem, config)
        try:
            reason = self._why_incompatible(target.path, draft.path)
        except GgufError as error:
            return unreadable_draft(config, error)
        except OSError as error:
            sentence = f"The files of {target.name} and {draft.name} cannot be read: {error}."
            return _no_draft(config, sentence)
        return _no_draft(config, reason) if reason else None

    def _why_incompatible(self, target: str, draft: str) -> str:
        pair = stamp_of(target), stamp_of(draft)
        if pair not in self._reasons:
            reason = why_incompatible(read_vocabulary(target), read_vocabulary(draft))
            self._reasons[pair] = reason
        return self._reasons[pair]


def read_draft(
    config: EngineConfig, target: ModelFacts, read: Callable[[str], GgufModel] = read_model
) -> tuple[GgufModel | None, Problem | None]:
    """Read the header of the draft model that ``config`` asks for and check it.

    Args:
        config: What is to run.
        target: The model to draft for.
        read: Reads a header.

    Returns:
        The draft model, None if none is wanted or it cannot be had; and then why.
    """
    if config.draft is None:
        return None, None
    try:
        gguf = read(config.draft_model_path)
    except GgufError as error:
        return None, unreadable_draft(config, error)
    problem = DraftCheck().problem(config, target, gguf.facts)
    return (gguf, None) if problem is None else (None, problem)


def as_draft_problem(problem: Problem, config: EngineConfig) -> Problem:
    """A problem of the draft model's own configuration in the words of ``config``, the desk's.

    Where nothing else would help, going on without the draft model does.
    """
    keys = tuple(_DRAFT_KEYS.get(key, key) for key in problem.keys)
    fix = {_DRAFT_KEYS.get(key, key): value for key, value in problem.fix.items()}
    return msgspec.structs.replace(problem, keys=keys, fix=fix or _without_draft(config))


def unreadable_draft(config: EngineConfig, error: GgufError) -> Problem:
    """The draft model's file is not there, or no model; the target can run without it."""
    return _no_draft(config, f"The draft model cannot be used. {error}")


def _wrong_kind(config: EngineConfig, draft: ModelFacts, target: ModelFacts) -> Problem:
    """The file makes other drafts than those that are chosen; a line can carry all of them."""
    kind = draft.draft_kind
    kinds = (*(other for other in config.spec_types if other not in MODEL_KINDS), kind)
    fix: dict[str, Value] = {"spec_types": kinds}
    if kind in EXPORT_ONLY_KINDS:
        sentence = (
            f"{draft.name} drafts as {kind}, which does not run here: {WHY_EXPORT_ONLY}. With "
            f"{kind} chosen it stands in the command line all the same."
        )
    elif kind == GUESSES:
        if reason := why_not_its_guesses(target, draft):
            return _no_draft(config, reason)
        sentence = (
            f"{draft.name} holds layers that guess ahead, and no model that could draft by "
            f"itself: {kind} asks them."
        )
    elif target.nextn_layers:
        sentence = (
            f"{draft.name} holds more than layers that guess ahead, which draft-mtp asks. "
            f"{target.name} has such layers of its own: draft without the file."
        )
        fix = {"draft_model_path": ""}
    else:
        sentence = (
            f"{draft.name} holds more than layers that guess ahead, which draft-mtp asks: it "
            f"drafts as {kind}."
        )
    return Problem(("draft_model_path", "spec_types"), sentence, fix)


def _no_draft(config: EngineConfig, sentence: str) -> Problem:
    return Problem(("draft_model_path", "spec_types"), sentence, _without_draft(config))


def _without_draft(config: EngineConfig) -> dict[str, Value]:
    return {"spec_types": tuple(kind for kind in config.spec_types if kind not in MODEL_KINDS)}
