"""What a long prompt does to others' answers: it arrives while short chats are under way. Pure.

Every gap between two steps of a short chat either falls into the time in which a long prompt was
read, or does not; both kinds come from the same run.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from app.experiments.lengths import Fixed
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.script import Script
from app.experiments.workload import Material, Workload
from engine_bridge.metrics.definitions import percentile
from engine_bridge.metrics.ring import Floats

PROMPTS = 3
"""Long prompts of a run: one alone would rest on a handful of gaps."""

NAME = "long prompt"
"""Begins the names of their scripts."""

# What is written after the prompt is not the matter.
_ANSWER_TOK = 8


@dataclass(frozen=True)
class LongPromptEffect:
    """Gaps of short chats with and without a long prompt beside them.

    Attributes:
        reading_p99_s: 99th percentile of the gaps while one was read; None if there was no gap.
        other_p99_s: The same of all other gaps.
        reading_gaps: How many gaps there were while one was read.
        other_gaps: How many others.
        ttft_s: Median TTFT of the long prompts; None if none was read.
        prompt_tok: Median of their tokens as the engine counted them; 0 if none was read.
        prompts: Long prompts that were read.
    """

    reading_p99_s: float | None
    other_p99_s: float | None
    reading_gaps: int
    other_gaps: int
    ttft_s: float | None
    prompt_tok: int
    prompts: int


def long_workload(short: Workload, prompt_tok: int) -> Workload:
    """Long prompts of the same material as the short chats, where it can be made longer.

    Args:
        short: What the chats are.
        prompt_tok: Tokens of a long prompt.
    """
    is_said = short.material is Material.CONVERSATION
    return Workload(
        name=NAME,
        material=Material.PROSE if is_said else short.material,
        prompt_tok=Fixed(prompt_tok),
        answer_tok=Fixed(_ANSWER_TOK),
        requests=PROMPTS,
        seed=short.seed,
        text_path=short.text_path,
    )


def arriving(scripts: tuple[Script, ...], duration_s: float) -> tuple[Script, ...]:
    """``scripts`` so that they arrive at equal distances within ``duration_s``."""
    each_s = duration_s / len(scripts)
    return tuple(
        msgspec.structs.replace(script, start_s=(number + 0.5) * each_s)
        for number, script in enumerate(scripts)
    )


def parted(record: RunRecord) -> tuple[RunRecord, tuple[RequestRecord, ...]]:
    """The run with its short chats alone, and the long prompts."""
    long = tuple(request for request in record.requests if request.script.startswith(NAME))
    short = tuple(request for request in record.requests if not request.script.startswith(NAME))
    return msgspec.structs.replace(record, requests=short), long


def effect_of(record: RunRecord) -> LongPromptEffect:
    """What ``record``, a run with long prompts, shows."""
    short, long = parted(record)
    spans = [span for request in long if (span := _reading_s(request)) is not None]
    reading: list[Floats] = [np.zeros(0)]
    other: list[Floats] = [np.zeros(0)]
    for request in short.requests:
        ends = np.asarray(request.step_s, dtype=np.float64)
        gaps = np.diff(ends)
        is_beside = np.zeros(gaps.size, dtype=bool)
        for begin_s, end_s in spans:
            is_beside |= (ends[1:] > begin_s) & (ends[:-1] < end_s)
        reading.append(gaps[is_beside])
        other.append(gaps[~is_beside])
    beside, without = np.concatenate(reading), np.concatenate(other)
    read = [r.timing for r in long if r.timing is not None and r.timing.ttft_s is not None]
    return LongPromptEffect(
        reading_p99_s=percentile(beside, 99),
        other_p99_s=percentile(without, 99),
        reading_gaps=beside.size,
        other_gaps=without.size,
        ttft_s=percentile([t.ttft_s for t in read if t.ttft_s is not None], 50),
        prompt_tok=round(percentile([timing.prompt_tok for timing in read], 50) or 0),
        prompts=len(read),
    )


def _reading_s(request: RequestRecord) -> tuple[float, float] | None:
    """When a prompt was read: from having a slot to the first token; None if it was not."""
    timing = request.timing
    if timing is None or timing.ttft_s is None:
        return None
    begin_s = request.sent_s + timing.queue_s
    return begin_s, request.sent_s + timing.ttft_s
