"""How far decoding is from what memory and compute allow, and what more streams would bring.

Pure arithmetic over measured work; what is estimated says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine_bridge.metrics.bandwidth import decode_ceiling_steps_per_s, mbu
from engine_bridge.metrics.bandwidth_meter import Peak
from engine_bridge.metrics.roofline import fitted_step
from engine_bridge.step_work import StepWork

# Below two tokens a step and stream nothing was drafted, whatever rounding says.
_MORE_THAN_ONE = 1.001


@dataclass(frozen=True)
class CeilingView:
    """Everything the page "Ceiling" is made of.

    Attributes:
        has_model: Whether a model runs.
        peak: Of the memory that decode reads.
        present: Decoding with as many streams as it had last; None before any.
        decoding: Decoding with each number of streams that was seen, the fewest first.
        prefill: The last prompts; None before any.
        best_prefill: The best of them since the engine started; None before one.
        weights_bytes: Weights that a step of a dense model reads; 0 where that is not known.
        experts: Routed experts of a layer, 0 for a dense model.
        cache_bytes: Last-level caches of the processor together; 0 where the system does not tell.
        has_pools: Whether each slot has a KV cache of its own.
        is_live: Whether the figures are of this moment, not the last ones before it went quiet.
    """

    has_model: bool = False
    peak: Peak = field(default_factory=Peak)
    present: StepWork | None = None
    decoding: tuple[StepWork, ...] = ()
    prefill: StepWork | None = None
    best_prefill: StepWork | None = None
    weights_bytes: float = 0.0
    experts: int = 0
    cache_bytes: int = 0
    has_pools: bool = False
    is_live: bool = False

    @property
    def mbu(self) -> float | None:
        """Share of the peak that decoding achieves; None where either is not known."""
        return None if self.present is None else self.mbu_of(self.present)

    def mbu_of(self, work: StepWork) -> float | None:
        """The same of any decoding."""
        return mbu(work.bytes_per_s or None, self.peak.bytes_per_s)

    @property
    def ceiling_steps_per_s(self) -> float | None:
        """Steps a second that the peak allows at the present bytes of a step."""
        if self.present is None:
            return None
        return decode_ceiling_steps_per_s(self.peak.bytes_per_s, self.present.step_bytes)

    @property
    def fits_in_cache(self) -> bool:
        """Whether all that a step reads may stay in the processor's caches."""
        present = self.present
        if present is None or not self.cache_bytes or not self.peak.is_on_processor:
            return False
        return present.step_bytes <= self.cache_bytes

    @property
    def has_drafts(self) -> bool:
        """Whether a step computes more than a token for each stream."""
        work = self.present
        if work is None:
            return False
        return work.computed_tok > _MORE_THAN_ONE * work.streams * work.steps

    @property
    def compute_step_s(self) -> float | None:
        """Seconds that a step's operations take at the best prefill rate; None where unknown."""
        return None if self.present is None else self._compute_s(self.present)

    def _compute_s(self, work: StepWork) -> float | None:
        best = self.best_prefill
        if best is None or best.operations_per_s <= 0 or work.steps <= 0:
            return None
        return work.operations / work.steps / best.operations_per_s


@dataclass(frozen=True)
class Estimate:
    """What more streams would bring; an estimate from measured points.

    Attributes:
        measured: Numbers of streams it is made from.
        uses_prefill: Whether the best prefill had to stand for what a further stream computes.
        streams: The number of streams it is for.
        total_tok_s: Tokens per second of all of them together.
        gain: How many times the present total that is.
        limit_tok_s: Tokens per second that no number of streams goes beyond; None where unknown.
        binds_from: From how many streams on compute takes longer than reading; None where unknown.
    """

    measured: tuple[int, ...]
    uses_prefill: bool
    streams: int
    total_tok_s: float
    gain: float
    limit_tok_s: float | None = None
    binds_from: float | None = None


def estimate_of(view: CeilingView) -> Estimate | None:
    """What twice as many streams as were measured would bring; None where nothing tells it.

    From two numbers of streams on the seconds of a step are a line through them; of a single one a
    further stream costs its operations at the best prefill rate and its part of the cache at the
    peak. A mixture of experts reads more weights with more streams, so there a single one tells
    nothing.
    """
    present = view.present
    if present is None or present.total_tok_s <= 0 or not (present.steps and present.streams):
        return None
    tokens = present.delivered_tok / present.steps / present.streams
    measured = tuple(work.streams for work in view.decoding)
    line = fitted_step([(work.streams, work.step_s) for work in view.decoding])
    uses_prefill = line is None
    if line is None and len(measured) == 1 and not view.experts:
        line = _line_of_one(view, present)
    if line is None:
        return None
    first_s, each_s = line
    streams = 2 * max(measured)
    step_s = first_s + each_s * (streams - 1)
    total = streams * tokens / step_s
    limit = tokens / each_s
    compute_s = view.compute_step_s
    binds_from = None
    if compute_s:
        each_compute_s = compute_s / present.streams
        limit = min(limit, tokens / each_compute_s)
        total = min(total, limit)
        ceiling = view.ceiling_steps_per_s
        if ceiling is not None:
            binds_from = 1 / ceiling / each_compute_s
    gain = total / present.total_tok_s
    return Estimate(measured, uses_prefill, streams, total, gain, limit, binds_from)


def _line_of_one(view: CeilingView, present: StepWork) -> tuple[float, float] | None:
    """Seconds of a step by one number of streams and the best prefill."""
    compute_s = view.compute_step_s
    if compute_s is None:
        return None
    each_s = compute_s / present.streams
    if view.peak.bytes_per_s:
        each_s += present.kv_bytes / present.steps / present.streams / view.peak.bytes_per_s
    first_s = present.step_s - each_s * (present.streams - 1)
    return (first_s, each_s) if first_s > 0 and each_s > 0 else None
