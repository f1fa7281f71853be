"""Does quantising the KV cache hurt? A candidate beside f16 on the same text, one after another.

Each candidate gets a process of its own, in which both caches read the text at the same time; see
``engine_bridge.child.quality_once``. Knows what is asked and how the answers become an experiment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.grid import Plan
from app.experiments.keys import begun_at, new_key
from app.experiments.port import PortError, StoppedError
from app.experiments.quality_check import refuse_model, refuse_wrong_words
from app.experiments.quality_figures import base_figures, figures_in, in_order
from app.experiments.quality_words import gqa_sentence, verdict_sentences
from app.experiments.reporter import Reporter
from app.planning import PlanningError, plan_in_throwaway_process
from engine_bridge.model_facts import ModelFacts
from engine_bridge.quality_messages import (
    PairMade,
    QualityAnswer,
    QualityProgressed,
    QualityRequest,
    TextScored,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError, Value

BASE: Mapping[str, Value] = {"cache_type_k": "f16", "cache_type_v": "f16", "flash_attn": "auto"}
"""What every candidate is compared with; all else is the user's configuration."""
_CACHE_KEYS = ("cache_type_k", "cache_type_v")
# So many candidates a title names.
_MOST_NAMED = 3
# A chunk takes 20 ms on a GPU; so often nothing need be written down.
_KEEP_EVERY_S = 5.0
# Below this share the time so far says little of the time to come.
_LEAST_SHARE = 0.03


class Compares(Protocol):
    """Makes comparisons: a ``QualityProcess``, or a test's stand-in."""

    def answers(self, request: QualityRequest) -> Iterator[QualityAnswer]:
        """Make one; gives what is found as it is found."""


@dataclass(frozen=True)
class QualityAsked:
    """What is to be compared.

    Attributes:
        config: The model with the user's settings; memory is told for its context and slots.
        candidates: Settings of each candidate, laid over ``config``.
        text: What is read.
        text_name: What the text is called.
        ctx_tok: Tokens of a chunk.
        chunks: Most chunks that are read.
        facts: Facts of the recall test; 0 leaves it out.
        recall_ctx_tok: Tokens of the text that the facts are placed in.
        speed_steps: Steps of each context that are timed; 0 leaves them out.
        seed: Chooses the facts.
    """

    config: EngineConfig
    candidates: tuple[Mapping[str, Value], ...]
    text: str
    text_name: str = ""
    ctx_tok: int = 512
    chunks: int = 20
    facts: int = 0
    recall_ctx_tok: int = 2048
    speed_steps: int = 24
    seed: int = 1

    @property
    def base(self) -> EngineConfig:
        """What the candidates are compared with."""
        return self.config.with_values(dict(BASE))

    def request(self, candidate: Mapping[str, Value]) -> QualityRequest:
        """What the process is asked for one candidate."""
        return QualityRequest(
            base=self.base,
            candidate=self.base.with_values(dict(candidate)),
            text=self.text,
            ctx_tok=self.ctx_tok,
            chunks=self.chunks,
            facts=self.facts,
            recall_ctx_tok=self.recall_ctx_tok,
            speed_steps=self.speed_steps,
            seed=self.seed,
        )


def quality(
    asked: QualityAsked,
    process: Compares,
    reporter: Reporter,
    subject: Subject,
    *,
    model: ModelFacts | None = None,
    plan: Plan = plan_in_throwaway_process,
    clock: Callable[[], float] = time.monotonic,
) -> Experiment:
    """Compare every candidate with f16; blocks until all are done, or it is stopped.

    Args:
        asked: What is to be compared.
        process: Makes the comparisons; stopping it stops this.
        reporter: Told how far it is, and what there is so far.
        subject: What is measured, and where.
        model: What the model's header says; None leaves out what depends on it.
        plan: Says what a configuration would occupy.
        clock: Seconds, for the time left.

    Returns:
        The experiment: a cell for the base and one for each candidate. One that is refused is
        skipped with the reason; where all are, the experiment has failed.

    Raises:
        DomainError: If that cannot be done, or not with this model, in a sentence.
    """
    refuse_wrong_words(asked)
    if model is not None:
        refuse_model(asked, model)
    return _Comparison(asked, process, reporter, subject, model=model, plan=plan, clock=clock).run()


def name_of(candidate: Mapping[str, Value]) -> str:
    """What a candidate is called: ``q8_0/q8_0``, and what else it changes."""
    values = {**BASE, **candidate}
    types = "/".join(str(values[key]) for key in _CACHE_KEYS)
    others = [f"{key}={value}" for key, value in candidate.items() if key not in _CACHE_KEYS]
    return ", ".join([types, *others])


class _Comparison:
    """One experiment under way."""

    def __init__(
        self,
        asked: QualityAsked,
        process: Compares,
        reporter: Reporter,
        subject: Subject,
        *,
        model: ModelFacts | None,
        plan: Plan,
        clock: Callable[[], float],
    ) -> None:
        self._asked, self._process, self._reporter = asked, process, reporter
        self._model, self._plan, self._clock = model, plan, clock
        self._cells = [
            Cell(name=name_of(candidate), config=dict(candidate)) for candidate in asked.candidates
        ]
        self._base = Cell(name=name_of({}), config={})
        self._begun_s = self._kept_s = clock()
        of, names = subject.model or "the model", [cell.name for cell in self._cells]
        if len(names) > _MOST_NAMED:
            names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
        title = f"{of}, KV cache {', '.join(names)} against f16"
        self._experiment = Experiment(
            key=new_key(),
            kind=Kind.QUALITY,
            begun_at=begun_at(),
            state=State.RUNNING,
            title=f"{title}, {asked.text_name}" if asked.text_name else title,
            subject=subject,
        )

    def run(self) -> Experiment:
        state, failure = State.DONE, ""
        try:
            base_bytes = self._cache_bytes(self._asked.base)
            for number, candidate in enumerate(self._asked.candidates):
                self._compare(number, candidate, base_bytes)
        except StoppedError:
            state = State.STOPPED
        if state is State.DONE and not any(cell.extra for cell in self._cells):
            state, failure = State.FAILED, next((c.skipped for c in self._cells if c.skipped), "")
        self._experiment = msgspec.structs.replace(
            self._experiment, state=state, failure=failure, conclusion=self._conclusion()
        )
        self._keep()
        return self._experiment

    def _compare(
        self, number: int, candidate: Mapping[str, Value], base_bytes: Mapping[str, float]
    ) -> None:
        try:
            request = self._asked.request(candidate)
            self._add(number, self._facts())
            if base_bytes:
                own = self._cache_bytes(request.candidate)
                before = {"kv_base_bytes": base_bytes["kv_bytes"]}
                self._add(number, own | before if own else {})
            for answer in self._process.answers(request):
                self._take(number, answer)
        except StoppedError:
            self._forget_unmeasured(number)
            raise
        except (PortError, DomainError) as error:
            self._cells[number] = msgspec.structs.replace(
                self._cells[number], skipped=str(error), extra={}
            )
        self._keep()

    def _forget_unmeasured(self, number: int) -> None:
        """A plan alone is no result."""
        if "mean_kld" not in self._cells[number].extra:
            self._cells[number] = msgspec.structs.replace(self._cells[number], extra={})

    def _take(self, number: int, answer: QualityAnswer) -> None:
        cell = self._cells[number]
        match answer:
            case QualityProgressed():
                self._progressed(number, answer)
            case PairMade():
                made: dict[str, Value] = {"flash_attn": answer.flash_attn}
                self._cells[number] = msgspec.structs.replace(cell, effective=made)
                self._base = msgspec.structs.replace(
                    self._base, effective={"flash_attn": answer.flash_attn_base}
                )
            case _:
                self._add(number, figures_in(answer))
                is_due = self._clock() - self._kept_s >= _KEEP_EVERY_S
                if is_due or not isinstance(answer, TextScored):
                    self._keep()

    def _add(self, number: int, figures: Mapping[str, float]) -> None:
        cell = self._cells[number]
        extra = in_order({**cell.extra, **figures})
        self._cells[number] = msgspec.structs.replace(cell, extra=extra)

    def _progressed(self, number: int, told: QualityProgressed) -> None:
        count = len(self._cells)
        share = (number + told.share) / count
        spent_s = self._clock() - self._begun_s
        left_s = spent_s * (1 - share) / share if share >= _LEAST_SHARE else None
        name = self._cells[number].name
        self._reporter.progressed(share, f"{name}: {told.sentence}", left_s)

    def _keep(self) -> None:
        self._kept_s = self._clock()
        measured = [cell for cell in self._cells if "mean_kld" in cell.extra]
        extra = base_figures(measured[0].extra) if measured else {}
        base = msgspec.structs.replace(self._base, extra=extra)
        self._experiment = msgspec.structs.replace(self._experiment, cells=(base, *self._cells))
        if measured:  # what was refused before a figure is no experiment to look up
            self._reporter.kept(self._experiment)

    def _conclusion(self) -> tuple[str, ...]:
        told = [sentence for cell in self._cells for sentence in verdict_sentences(cell)]
        if told and self._model is not None and (said := gqa_sentence(self._model.gqa_ratio)):
            told.append(said)
        return tuple(told)

    def _facts(self) -> dict[str, float]:
        if self._model is None or not self._model.gqa_ratio:
            return {}
        return {"gqa_ratio": self._model.gqa_ratio}

    def _cache_bytes(self, config: EngineConfig) -> dict[str, float]:
        """What the cache of ``config`` takes; nothing where the planner cannot say."""
        try:
            plan = self._plan(config).plan
        except PlanningError:
            return {}
        if plan.effective is None or not plan.bytes.kv:
            return {}
        return {
            "kv_bytes": float(plan.bytes.kv),
            "kv_ctx_tok": float(plan.effective.ctx_total_tok),
        }
