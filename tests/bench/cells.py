"""Measures cells: one model at one number of streams, in pairs of runs that alternate."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine_bridge.settings.config import pad_context_tok
from tests.bench import stats
from tests.bench.machine import QUIET_SHARE, Bystanders, idle_cores, usable_cores
from tests.bench.work import Contender, Layout, RunFigures, Work, random_work

_WARM_UP_TOK = 8


@dataclass(frozen=True)
class CellPlan:
    """What a cell runs.

    Attributes:
        model: Name in the report.
        path: The GGUF file.
        vocab: Tokens in its vocabulary.
        streams: Streams at once, each with a slot of its own.
        prompt_tok: Tokens of every prompt.
        new_tok: Tokens every stream generates.
        temperature: 0 takes the likeliest token.
        threads: Threads of both programs; None takes every core.
    """

    model: str
    path: Path
    vocab: int
    streams: int
    prompt_tok: int
    new_tok: int
    temperature: float = 0.0
    threads: int | None = None

    @property
    def layout(self) -> Layout:
        """How both programs are set up for it."""
        return Layout(
            model=self.path,
            slots=self.streams,
            ctx_per_slot_tok=pad_context_tok(self.prompt_tok + self.new_tok + 1),
            threads=self.threads or usable_cores(),
            temperature=self.temperature,
        )

    def work(self, seed: int) -> Work:
        """One run's work; every seed has prompts of its own, so that nothing can be reused."""
        return random_work(self.streams, self.prompt_tok, self.new_tok, self.vocab, seed)


@dataclass(frozen=True)
class Metric:
    """A figure of a run that the report compares."""

    name: str
    unit: str
    is_more_better: bool
    of: Callable[[RunFigures], float]
    own: Callable[[RunFigures], float]


METRICS = (
    Metric("aggregate_tok_s", "tok/s", True, lambda r: r.aggregate_tok_s, lambda _: float("nan")),
    Metric("ttft", "s", False, lambda r: r.ttft_s, lambda r: r.own_ttft_s),
    Metric("tpot", "s", False, lambda r: r.tpot_s, lambda r: r.own_tpot_s),
)


@dataclass(frozen=True)
class CellFigures:
    """One metric of one cell.

    Attributes:
        model: Name of the model.
        streams: Streams at once.
        metric: Which figure.
        engine: Geometric mean of the engine's runs.
        peer: Geometric mean of the peer's runs.
        engine_own: The engine's figure by its own clock, NaN where it gives none.
        peer_own: The same of the peer (llama-server's TTFT leaves the queue out).
        gains: Log ratio of each pair, positive where the engine is better.
    """

    model: str
    streams: int
    metric: Metric
    engine: float
    peer: float
    engine_own: float
    peer_own: float
    gains: NDArray[np.float64]

    @property
    def ratio(self) -> stats.Ratio:
        """Above 1 where the engine is better, with its interval."""
        return stats.ratio(self.gains)


@dataclass(frozen=True)
class CellResult:
    """All that was measured in a cell.

    Attributes:
        plan: What ran.
        engine_name: The engine, with its version.
        figures: One entry per metric.
        bystanders: Mean share of the machine that other programs used meanwhile, 0 to 1.
        idle_cores: Cores the idle programs burned before the first run.
        same_texts: Share of streams for which both programs wrote the same text, 0 to 1.
    """

    plan: CellPlan
    engine_name: str
    figures: tuple[CellFigures, ...]
    bystanders: float
    idle_cores: float
    same_texts: float


def measure(
    plan: CellPlan,
    start_engine: Callable[[Layout], Contender],
    start_peer: Callable[[Layout], Contender],
    pairs: int,
    patience_s: float = 0.0,
    *,
    processes: int = 1,
) -> CellResult:
    """Start both programs, let them work in turn, end them; some times, for processes differ.

    Each pair runs the same work on both, the order changing from pair to pair; the first run of
    each process, which would include what is set up on first use, is thrown away.

    Args:
        plan: What to run.
        start_engine: Starts the engine.
        start_peer: Starts the peer.
        pairs: Pairs to measure.
        patience_s: Time to spend, in total, on waiting for other programs to be quiet before a
            pair and on repeating pairs in which they were not; 0 takes the machine as it is.
        processes: How often both are started anew, the pairs divided among them.

    Raises:
        ContenderError: If one of them does not do the work.
    """
    runs = _Runs(plan, pairs, patience_s)
    processes = min(processes, pairs)
    for number in range(processes):
        engine = start_engine(plan.layout)
        try:
            peer = start_peer(plan.layout)
            try:
                runs.run(engine, peer, until=(number + 1) * pairs // processes)
            finally:
                peer.close()
        finally:
            engine.close()
    return runs.result(engine.name)


class _Runs:
    """The pairs of a cell, measured so far."""

    def __init__(self, plan: CellPlan, pairs: int, patience_s: float) -> None:
        self._plan = plan
        self._patience_s = patience_s
        self._engine: list[RunFigures] = []
        self._peer: list[RunFigures] = []
        self._shares: list[float] = []
        self._idle_cores: list[float] = []
        # A repeated pair gets prompts of its own too: the engine would still hold the old ones.
        self._seeds = itertools.count(1)

    def run(self, engine: Contender, peer: Contender, until: int) -> None:
        """Measure until there are so many pairs."""
        warm_up = dataclasses.replace(self._plan.work(seed=0), new_tok=_WARM_UP_TOK)
        for contender in (engine, peer):
            contender.run(warm_up)
        self._idle_cores.append(idle_cores(engine.pid) + idle_cores(peer.pid))
        bystanders = Bystanders([engine.pid, peer.pid])
        while len(self._shares) < until:
            self._patience_s -= bystanders.wait_until_quiet(self._patience_s)
            begun = time.monotonic()
            work = self._plan.work(next(self._seeds))
            both = (engine, peer) if len(self._shares) % 2 == 0 else (peer, engine)
            run = {contender.pid: RunFigures.of(contender.run(work), work) for contender in both}
            share = bystanders.share()
            if share > QUIET_SHARE and self._patience_s > 0:
                self._patience_s -= time.monotonic() - begun
                continue
            self._engine.append(run[engine.pid])
            self._peer.append(run[peer.pid])
            self._shares.append(share)

    def result(self, engine_name: str) -> CellResult:
        """All of them."""
        return CellResult(
            self._plan,
            engine_name,
            tuple(_figures(self._plan, metric, self._engine, self._peer) for metric in METRICS),
            float(np.mean(self._shares)),
            max(self._idle_cores),
            _same_texts(self._engine, self._peer),
        )


def _figures(
    plan: CellPlan, metric: Metric, engine: Sequence[RunFigures], peer: Sequence[RunFigures]
) -> CellFigures:
    mine, theirs = [metric.of(run) for run in engine], [metric.of(run) for run in peer]
    return CellFigures(
        model=plan.model,
        streams=plan.streams,
        metric=metric,
        engine=stats.geometric_centre(mine),
        peer=stats.geometric_centre(theirs),
        engine_own=float(np.mean([metric.own(run) for run in engine])),
        peer_own=float(np.mean([metric.own(run) for run in peer])),
        gains=stats.log_gains(mine, theirs, is_more_better=metric.is_more_better),
    )


def _same_texts(engine: Sequence[RunFigures], peer: Sequence[RunFigures]) -> float:
    same = [
        mine == theirs
        for one, other in zip(engine, peer, strict=True)
        for mine, theirs in zip(one.texts, other.texts, strict=True)
    ]
    return sum(same) / len(same)
