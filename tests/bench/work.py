"""The work both programs do in a benchmark, and what a client sees of it.

Knows no program; a ``Contender`` is anything that can be started, given work and stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np


class ContenderError(Exception):
    """A program did not do the work; the message says which, why and where to read more."""


@dataclass(frozen=True)
class Layout:
    """How both programs are set up; the pool is split, each slot has its own part.

    Attributes:
        model: The GGUF file.
        slots: Sequences, and streams that run at once.
        ctx_per_slot_tok: Cells of one slot; a multiple of 256.
        threads: Threads for decode and for prefill.
        batch_tok: Logical batch.
        ubatch_tok: Physical batch.
        temperature: 0 takes the likeliest token; above, both use llama.cpp's default chain.
        keeps_prompts: Whether both keep earlier prompts and checkpoints as llama-server does by
            default; without, nothing computed for one run helps the next.
    """

    model: Path
    slots: int
    ctx_per_slot_tok: int
    threads: int
    batch_tok: int = 2048
    ubatch_tok: int = 512
    temperature: float = 0.0
    keeps_prompts: bool = False


@dataclass(frozen=True)
class Work:
    """One run: every prompt is a stream, each yields ``new_tok`` tokens.

    Attributes:
        prompts: Tokens of each prompt, or text; all are sent at once.
        new_tok: Tokens of every answer.
        late: A prompt more that comes while the others run; its answer has the last place.
        late_after_s: Seconds between the others and it.
        goes_on: Whether what earlier runs left in the slots may be used.
    """

    prompts: tuple[tuple[int, ...] | str, ...]
    new_tok: int
    late: tuple[int, ...] = ()
    late_after_s: float = 0.0
    goes_on: bool = False

    @property
    def all_prompts(self) -> tuple[tuple[int, ...] | str, ...]:
        """The late one at the end."""
        return (*self.prompts, self.late) if self.late else self.prompts


@dataclass(frozen=True)
class StreamTimes:
    """What the client saw of one stream; times are its own ``perf_counter_ns``.

    Attributes:
        sent_ns: The request was about to be written.
        first_ns: The first token had arrived.
        last_ns: The last token had arrived.
        tokens: Tokens the program says it generated.
        text: The text.
        own_ttft_s: TTFT by the program's own clock; NaN where it gives none.
        own_tpot_s: TPOT by the program's own clock; NaN where it gives none.
        arrivals_ns: When text arrived, every time it did.
    """

    sent_ns: int
    first_ns: int
    last_ns: int
    tokens: int
    text: str
    own_ttft_s: float
    own_tpot_s: float
    arrivals_ns: tuple[int, ...] = ()


@dataclass(frozen=True)
class RunFigures:
    """One run in figures (``METRICS``: sent to first token, mean time of the others, total rate).

    Attributes:
        aggregate_tok_s: Tokens of all streams / (first request sent to last token arrived).
        ttft_s: Mean over the streams.
        tpot_s: Mean over the streams.
        own_ttft_s: Mean TTFT by the program's own clock.
        own_tpot_s: Mean TPOT by the program's own clock.
        texts: The streams' texts.
    """

    aggregate_tok_s: float
    ttft_s: float
    tpot_s: float
    own_ttft_s: float
    own_tpot_s: float
    texts: tuple[str, ...]

    @classmethod
    def of(cls, streams: list[StreamTimes], work: Work) -> RunFigures:
        """Figures of a run.

        Raises:
            ContenderError: If a stream did not yield exactly the tokens asked for.
        """
        counts = [stream.tokens for stream in streams]
        if counts != [work.new_tok] * len(work.prompts):
            raise ContenderError(
                f"Each of {len(work.prompts)} streams was to give {work.new_tok} tokens, "
                f"but they gave {counts}: the runs cannot be compared."
            )
        window_ns = max(s.last_ns for s in streams) - min(s.sent_ns for s in streams)
        return cls(
            aggregate_tok_s=sum(counts) * 1e9 / window_ns,
            ttft_s=_mean([(s.first_ns - s.sent_ns) * 1e-9 for s in streams]),
            tpot_s=_mean([(s.last_ns - s.first_ns) * 1e-9 / (s.tokens - 1) for s in streams]),
            own_ttft_s=_mean([s.own_ttft_s for s in streams]),
            own_tpot_s=_mean([s.own_tpot_s for s in streams]),
            texts=tuple(s.text for s in streams),
        )


class Contender(Protocol):
    """A program under test, loaded and idle between runs."""

    @property
    def name(self) -> str:
        """What it is, with its version."""

    @property
    def pid(self) -> int:
        """Its process."""

    def run(self, work: Work) -> list[StreamTimes]:
        """Do the work once.

        Raises:
            ContenderError: If it died, refused or took longer than its deadline.
        """

    def close(self) -> None:
        """End the process."""


def random_work(streams: int, prompt_tok: int, new_tok: int, vocab: int, seed: int) -> Work:
    """Work on prompts of random ordinary tokens, no two with a common beginning worth reusing.

    Control tokens stand at either end of a vocabulary, so ids come from its middle half.
    """
    generator = np.random.default_rng(seed)
    ids = generator.integers(vocab // 4, 3 * vocab // 4, size=(streams, prompt_tok))
    return Work(prompts=tuple(tuple(int(i) for i in row) for row in ids), new_tok=new_tok)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
