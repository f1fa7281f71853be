"""How much of the memory's bandwidth decoding uses, by the meters of the window itself.

Fresh engine processes decode a real model; every event goes through ``Meters``, and what is read
off them is what the charts would show. Bytes are counted once more by ``gauges_bytes``. The memory
of a machine that others share gives more at one time than at another, so the peak is read again
beside every run, by the engine's own method, while the engine rests. Knows no Qt.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from engine_bridge import protocol
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.hardware.read_bandwidth import measure_peak_read
from engine_bridge.metrics.bandwidth import mbu
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.stretch import Stretch
from tests.bench.engine import EngineProcess, layout_config
from tests.bench.gauges_bytes import StepReads, count_step_reads
from tests.bench.machine import Bystanders, usable_cores
from tests.bench.work import ContenderError, Layout, random_work

ROUNDS = 5
STREAMS = (1, 4)
# In each process so many times, from the same depth: the median of them speaks for it.
TIMES = 3
# A batch of four takes longer a step; both are 2 to 6 s on two cores.
NEW_TOK = {1: 64, 4: 40}
_PEAK_RUNS = 3
_PROMPT_TOK = 16
_WARM_UP_TOK = 8
_CTX_TOK = 256
_PATIENCE_S = 120.0

_EventT = TypeVar("_EventT", bound=protocol.Event)


@dataclass(frozen=True)
class Peak:
    """What a process read of the memory's peak.

    Attributes:
        bytes_per_s: The best of its runs.
        how: In words.
        spread: (best − worst) / best of its runs.
        is_lower_bound: Whether other programs took the cores meanwhile.
    """

    bytes_per_s: float
    how: str
    spread: float
    is_lower_bound: bool


@dataclass(frozen=True)
class Decode:
    """One run in one process, over the steps in which all its streams generated.

    Attributes:
        threads: Threads that decoded.
        streams: Streams at once.
        peak: What the meters hold it against.
        bytes_per_s: Achieved: median of the bandwidth chart's points, a tenth of a second each.
        highest_bytes_per_s: The highest point.
        points: How many there were.
        step_bytes: Bytes of a step by the product.
        counted_step_bytes: Bytes of the same steps by ``gauges_bytes``.
        weight_bytes: Of those the weights.
        step_s: Mean time of a step inside ``llama_decode``.
        outside_s: Mean time between two steps, outside it.
        others: Share of the machine that other programs used meanwhile, 0 to 1.
        process: Which process it was, from 0.
        beside_bytes_per_s: The better of the peaks that were read just before and just after.
    """

    threads: int
    streams: int
    peak: Peak
    bytes_per_s: float
    highest_bytes_per_s: float
    points: int
    step_bytes: float
    counted_step_bytes: float
    weight_bytes: int
    step_s: float
    outside_s: float
    others: float
    process: int
    beside_bytes_per_s: float

    @property
    def mbu_beside(self) -> float:
        """Share of what the memory gave at that time."""
        return mbu(self.bytes_per_s, self.beside_bytes_per_s) or 0.0

    @property
    def mbu(self) -> float:
        """Share of the peak of its own process, as the window shows it."""
        return mbu(self.bytes_per_s, self.peak.bytes_per_s) or 0.0

    @property
    def highest_mbu(self) -> float:
        """The highest point of the chart, as a share of that peak."""
        return mbu(self.highest_bytes_per_s, self.peak.bytes_per_s) or 0.0


def measure(
    path: Path, rounds: int, say: Callable[[str], None], new_tok: dict[int, int] | None = None
) -> list[Decode]:
    """Decode in fresh processes, one thread and all cores by turns.

    Args:
        path: A dense model with plain attention.
        rounds: Processes for each number of threads, at least 1.
        say: Takes a line after each process.
        new_tok: Tokens of an answer by the number of streams; None for ``NEW_TOK``.

    Raises:
        ContenderError: If the engine dies, refuses or is too slow.
        ValueError: If the model is of another kind.
    """
    reads, vocab = count_step_reads(path), read_model_facts(path).vocab
    tokens = new_tok or NEW_TOK
    found: list[Decode] = []
    for number in range(rounds):
        for threads in sorted({1, usable_cores()}):
            with _desk(path, threads) as desk:
                desk.generate(max(STREAMS), _WARM_UP_TOK, vocab, seed=0)
                before = _peak_now(threads)
                for streams in _in_turns():
                    desk.generate(streams, tokens[streams], vocab, seed=1 + number)
                    run = desk.decode((threads, streams, number), reads)
                    after = _peak_now(threads)
                    found.append(replace(run, beside_bytes_per_s=max(before, after)))
                    before = after
            say(f"  round {number + 1}, threads {threads}: {_said(found[-TIMES * len(STREAMS) :])}")
    return found


def _in_turns() -> Iterator[int]:
    """Numbers of streams in the order of the runs: what comes first is not always the same."""
    for number in range(TIMES):
        yield from STREAMS if number % 2 == 0 else reversed(STREAMS)


def _peak_now(threads: int) -> float:
    """Bytes per second that this machine's memory gives now, while the engine rests."""
    read = measure_peak_read(threads, threading.Event(), _PEAK_RUNS)
    assert read is not None  # nobody stopped it
    return read.bytes_per_s


def _said(runs: Sequence[Decode]) -> str:
    """What a process came to."""
    peaks = ", ".join(f"{run.beside_bytes_per_s / 1e9:.1f}" for run in runs)
    read = "; ".join(
        f"{streams} stream{'s' * (streams > 1)} "
        + ", ".join(f"{r.bytes_per_s / 1e9:.1f}" for r in runs if r.streams == streams)
        for streams in STREAMS
    )
    return f"peak at its start {runs[0].peak.bytes_per_s / 1e9:.1f}, beside {peaks}; {read} GB/s"


# --- One process ----------------------------------------------------------------------------


class _Desk:
    """An engine process with the meters of a window."""

    def __init__(self, process: EngineProcess) -> None:
        self._process = process
        self._meters = Meters()
        self._spans: list[protocol.StepsMeasured] = []
        self._others = Bystanders([process.pid])
        self._others_share = 0.0
        self._take(process.hello)

    def load(self, layout: Layout) -> None:
        """Load, and wait until the peak was read: it takes every core."""
        config = layout_config(layout)
        self._process.send(protocol.Load(self._process.next_id(), config))
        self._wait_for(protocol.Applied)
        self._wait_for(protocol.BandwidthMeasured)

    def generate(self, streams: int, new_tok: int, vocab: int, seed: int) -> None:
        """Let every stream generate at once."""
        self._spans.clear()
        self._others.share()
        work = random_work(streams, _PROMPT_TOK, new_tok, vocab, seed)
        for prompt in work.prompts:
            assert not isinstance(prompt, str)
            self._process.send(
                protocol.Generate(
                    request_id=self._process.next_id(), conversation_id="", messages=(),
                    prompt_tokens=prompt, ignore_eog=True, max_new_tok=new_tok,
                )
            )  # fmt: skip
        for _ in work.prompts:
            self._wait_for(protocol.RequestFinished)
        self._others_share = self._others.share()

    def decode(self, which: tuple[int, int, int], reads: StepReads) -> Decode:
        """What the meters say of the last ``generate``.

        Args:
            which: Threads, streams, and the number of the process.
            reads: What a step reads.
        """
        threads, streams, process = which
        spans = whole_spans(self._spans, streams)
        begin_s, end_s = spans[0].begin_ns / 1e9, spans[-1].end_ns / 1e9
        view = self._meters.view(spans[-1].end_ns, Stretch(end_s, end_s - begin_s)).bandwidth
        in_stretch = (view.times_s > begin_s - end_s) & (view.times_s <= 0.0)
        points = view.bytes_per_s[in_stretch & ~np.isnan(view.bytes_per_s)]
        if view.peak_bytes_per_s is None or points.size < 2:
            raise ContenderError(f"The meters say nothing of the bandwidth: {view.peak_how}")
        steps = sum(span.decode_steps for span in spans)
        decode_s = sum(span.decode_s for span in spans)
        span_s = sum((span.end_ns - span.begin_ns) / 1e9 for span in spans)
        return Decode(
            threads=threads,
            streams=streams,
            peak=Peak(view.peak_bytes_per_s, view.peak_how, view.peak_spread, view.is_lower_bound),
            bytes_per_s=float(np.median(points)),
            highest_bytes_per_s=float(points.max()),
            points=int(points.size),
            step_bytes=sum(span.decode_bytes for span in spans) / steps,
            counted_step_bytes=counted_bytes(self._spans, spans, streams, reads) / steps,
            weight_bytes=reads.weight_bytes,
            step_s=decode_s / steps,
            outside_s=(span_s - decode_s) / steps,
            others=self._others_share,
            process=process,
            beside_bytes_per_s=0.0,
        )

    def _wait_for(self, kind: type[_EventT]) -> _EventT:
        event = self._process.wait_for(kind, _PATIENCE_S, self._take)
        self._take(event)
        return event

    def _take(self, event: protocol.Event) -> None:
        self._meters.fold(event, time.perf_counter_ns())
        if isinstance(event, protocol.StepsMeasured):
            self._spans.append(event)


@contextmanager
def _desk(path: Path, threads: int) -> Iterator[_Desk]:
    process = EngineProcess()
    try:
        desk = _Desk(process)
        desk.load(Layout(path, max(STREAMS), _CTX_TOK, threads))
        yield desk
    finally:
        process.close()


def whole_spans(
    spans: Sequence[protocol.StepsMeasured], streams: int
) -> list[protocol.StepsMeasured]:
    """The spans in which ``streams`` streams generated and nothing else happened.

    Raises:
        ContenderError: If there are fewer than two.
    """
    pure = [s for s in spans if s.streams == streams and s.steps == s.decode_steps > 0]
    whole = pure[1:-1]  # in the first and the last others may have begun or ended
    if len(whole) < 2:
        raise ContenderError(
            f"{streams} streams ran together for {len(whole)} of {len(spans)} spans: too short."
        )
    return whole


def counted_bytes(
    every: Sequence[protocol.StepsMeasured],
    whole: Sequence[protocol.StepsMeasured],
    streams: int,
    reads: StepReads,
) -> float:
    """Bytes that the steps of ``whole`` read, by our own count and by what was delivered before.

    Args:
        every: All spans since the streams were asked for.
        whole: Those that count, in a row.
        streams: Streams in each of their steps.
        reads: What a step of the model reads.
    """
    first = every.index(whole[0])
    in_slots = streams * _PROMPT_TOK + sum(span.decoded_tok for span in every[:first])
    total = 0.0
    for span in whole:
        # Each step adds a token a stream: on average half of the span's own are there already.
        depths = in_slots + streams * (span.decode_steps - 1) / 2
        total += span.decode_steps * reads.of_step(streams, depths)
        in_slots += span.decoded_tok
    return total
