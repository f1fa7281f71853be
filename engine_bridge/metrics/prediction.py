"""TTFT and TPOT of settings that do not run yet, from what was measured. Pure.

Knows observations and what a step is made of; ``log_fit`` does the sums (ADR 23).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine_bridge.metrics.log_fit import LogFit
from engine_bridge.metrics.observations import Observation, RunSettings, Work
from engine_bridge.metrics.step_cost import (
    Cost,
    ModelSize,
    Streams,
    decode_cost,
    guess_of,
    prefill_cost,
)

# Four of five runs shall lie in the band: so many deviations of a bell curve.
_DEVIATIONS = 1.28
# What the formula may be off by for every doubling of tokens, depth or streams beyond a run.
_PER_DOUBLING = 0.04
_WIDEST = 3.0


@dataclass(frozen=True)
class Estimate:
    """What something will take.

    Attributes:
        seconds: The most probable time; per token for decode.
        band_s: Between these are four of five runs.
        nearest: Doublings to the nearest run of its kind, of tokens, depth and streams together.
    """

    seconds: float
    band_s: tuple[float, float]
    nearest: float

    @property
    def error(self) -> float:
        """Half the width of the band as a share, 0.15 for ±15 %."""
        low, high = self.band_s
        return math.sqrt(high / low) - 1


@dataclass(frozen=True)
class Unmeasured:
    """Why there is no estimate: what would have to run first, to be read behind “not measured”."""

    why: str


class Predictor:
    """What was measured of one model on one machine, ready to be asked."""

    def __init__(
        self, observations: Sequence[Observation], size: ModelSize, cores: int | None = None
    ) -> None:
        """Learn; takes some milliseconds for a few hundred observations.

        Args:
            observations: Of this model on this machine.
            size: The model.
            cores: Processors of this machine: with more threads than these, steps take what only a
                run can tell. None where unknown.
        """
        self._size = size
        self._cores = cores
        self._runs: dict[tuple[Work, str], list[Observation]] = {}
        for each in observations:
            self._runs.setdefault((each.work, each.settings.placement), []).append(each)
        self._fits = {key: self._fit(runs) for key, runs in self._runs.items()}

    def prefill(
        self, settings: RunSettings, tokens: float, depth_tok: float = 0.0
    ) -> Estimate | Unmeasured:
        """TTFT of a prompt that is read alone.

        Args:
            settings: What would run.
            tokens: Tokens to compute, 1 or more.
            depth_tok: Tokens of it that are in the slot already.
        """
        cost = prefill_cost(settings, self._size, tokens, depth_tok)
        return self._estimate("prefill", settings, cost, (tokens, depth_tok, 1))

    def decode(self, settings: RunSettings, streams: Streams) -> Estimate | Unmeasured:
        """TPOT of each of some streams, with settings that would run."""
        cost = decode_cost(settings, self._size, streams)
        place = (1.0, streams.depth_tok, float(streams.count))
        return self._estimate("decode", settings, cost, place)

    # --- Inside -------------------------------------------------------------------------

    def _fit(self, runs: Sequence[Observation]) -> LogFit:
        costs = [_cost_of(run, self._size) for run in runs]
        return LogFit(costs, [run.seconds for run in runs], lambda name: guess_of(name, self._size))

    def _estimate(
        self, work: Work, settings: RunSettings, cost: Cost, place: tuple[float, float, float]
    ) -> Estimate | Unmeasured:
        why = self._why_unmeasured(work, settings)
        if why:
            return Unmeasured(why)
        key = (work, settings.placement)
        fit = self._fits[key]
        log_s, doubt = fit.log_s(cost)
        nearest = min(math.dist(_scale(*place), _scale(*_place(run))) for run in self._runs[key])
        wide = _DEVIATIONS * math.hypot(fit.noise, doubt, _PER_DOUBLING * nearest)
        wide = min(wide, _WIDEST)
        return Estimate(math.exp(log_s), (math.exp(log_s - wide), math.exp(log_s + wide)), nearest)

    def _why_unmeasured(self, work: Work, settings: RunSettings) -> str:
        """What was never run, as far as it cannot be concluded from what was; else empty."""
        what = "prompt was read" if work == "prefill" else "answer was written"
        runs = self._runs.get((work, settings.placement))
        if runs is None:
            is_elsewhere = any(of == work for of, _ in self._runs)
            where = "with the weights placed so" if is_elsewhere else "by this model here"
            return f"no {what} {where}"
        threads = settings.threads if work == "decode" else settings.threads_batch
        tried = {
            run.settings.threads if work == "decode" else run.settings.threads_batch for run in runs
        }
        if self._cores is not None and threads > self._cores and threads not in tried:
            return f"no {what} with {threads:,} threads"
        if settings.drafts and settings.drafts not in {run.settings.drafts for run in runs}:
            return f"no {what} with these drafts"
        return ""


def _cost_of(run: Observation, size: ModelSize) -> Cost:
    if run.work == "prefill":
        return prefill_cost(run.settings, size, run.tokens, run.depth_tok)
    streams = Streams(run.streams, run.depth_tok, run.pool_tok or None, run.passes)
    return decode_cost(run.settings, size, streams)


def _place(run: Observation) -> tuple[float, float, float]:
    return (run.tokens if run.work == "prefill" else 1.0, run.depth_tok, run.streams)


def _scale(tokens: float, depth_tok: float, streams: float) -> tuple[float, float, float]:
    """Doublings; depths below 256 tokens are all alike."""
    return math.log2(max(1.0, tokens)), math.log2(depth_tok + 256), math.log2(streams)
