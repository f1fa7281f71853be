"""What each number means, as text and as arithmetic.

Tools disagree about these words, so the program prints its own definition beside each number.
Seconds in, seconds out; display units are the charts' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

DEFINITIONS: dict[str, str] = {
    "ttft": (
        "Time to first token: from sending the request until its first token. Waiting for a slot "
        "(queue) and reading the prompt (prefill) are in it. What follows is not: pipe, both ways "
        "between the two processes, and paint, from the arrival of the first text to the screen."
    ),
    "tpot": (
        "Time per output token: (time of the last token − time of the first) / (n − 1). Prefill is "
        "not in it, nor is the pause of a change that needs a new context. There is none for an "
        "answer below two tokens. The chart and its value are made of the last 16 steps."
    ),
    "itl": (
        "Inter-token latency: each gap between two steps that delivered text to a stream. A step "
        "can deliver several tokens when drafts are accepted, so this is not TPOT. p99: one gap in "
        "a hundred is longer; counted anew with each answer and each change of settings, whose "
        "pause is no gap."
    ),
    "stream_speed": (
        "Speed per user: 1 / TPOT, in tokens per second; of several streams the median."
    ),
    "throughput": (
        "Total throughput: output tokens of all streams in a span of time / its length. The "
        "span is that of the last 16 steps of every stream that delivers, as for TPOT: with a "
        "single stream both speeds are the same."
    ),
    "goodput": (
        "Goodput: requests that ended in a span of time and kept both limits, TTFT and TPOT, / the "
        "length of the span. Both limits are yours to set, in the charts of TTFT and TPOT."
    ),
    "stretch_ttft": (
        "In the time shown: TTFT of the requests whose first token came in it. p50 is their "
        "median; one in twenty waited longer than p95."
    ),
    "stretch_speed": (
        "In the time shown: 1 / TPOT in tokens per second, where TPOT is the median over the "
        "answers, of each the part that lies in that time."
    ),
    "stretch_throughput": (
        "In the time shown: output tokens of all streams / its length from the first request on, "
        "pauses included. Busy: the tokens per second of the time in which at least one stream was "
        "between two steps."
    ),
    "stretch_itl": (
        "In the time shown: every gap between two steps of a stream, of all streams together. p50 "
        "is their median; one in twenty was longer than p95, one in a hundred longer than p99."
    ),
    "prefill_speed": (
        "Prompt tokens computed / time of prefill. Tokens whose cache was reused do not count."
    ),
    "acceptance": "Drafted tokens that the model confirmed / drafted tokens.",
    "tokens_per_pass": (
        "Tokens expected from one pass of the model: (1 − α^(k+1)) / (1 − α) for k drafted tokens "
        "of which each is accepted with probability α (Leviathan et al.)."
    ),
    "bytes_per_step": (
        "Bytes a decode step reads: the weights once a micro-batch (of a mixture of experts the "
        "part its tokens are expected to touch), the KV cache of every stream at its present "
        "depth, and what is read to draft for it."
    ),
    "bandwidth": (
        "Achieved bandwidth: bytes per decode step × decode steps per second, without steps that "
        "read prompts. Figures, here and on the page Ceiling, are means of the last two seconds of "
        "decoding with as many streams as now; the line has a point each tenth of a second."
    ),
    "mbu": (
        "Model bandwidth utilisation: achieved bandwidth / peak bandwidth of the memory. What is "
        "missing to 100 % went into compute, waiting and other programs."
    ),
    "ceiling": (
        "Decode ceiling: peak bandwidth / bytes per step. No setting lets decode take more steps a "
        "second than this; fewer bytes or several tokens a step do."
    ),
    "roofline": (
        "Roofline: operations a second against operations a byte. The slanted roof is the peak "
        "bandwidth of the memory, the flat one the best prefill seen with this model since the "
        "engine started, which is no theoretical number. Left of the corner memory binds."
    ),
    "operations": (
        "Operations of a token: 2 for each weight that it is multiplied with, and in every layer "
        "4 × heads × head dimension for each token it looks back at. Of a mixture of experts "
        "those it is sent to count; drafts that were rejected count too."
    ),
    "of_one_stream": (
        "Tokens per second of all streams together / those of a single stream with the same "
        "settings. Weights are read once for all streams, so this grows until compute binds."
    ),
    "memory": (
        "Memory of the device the model lies on. Mapped weights are pages of the model file that "
        "the system can take back; everything else is owned by the engine."
    ),
    "memory_totals": (
        "Three totals of main memory, the least first: the row RAM counts what no program can have "
        "now (in use). This chart counts on top the mapped weights, which the system could take "
        "back. The bar above the settings counts besides what is reserved and not touched yet."
    ),
    "unexplained": (
        "Unexplained: memory the engine was measured to own − what the plan accounts for − what "
        "prompt caches hold. The engine's program code, drivers and the interpreter are in it."
    ),
    "gpu_busy": (
        "Busy: share of the time in which anything at all ran on the GPU, as its driver counts it "
        "over the last second at most. A GPU that waits for its memory is busy too."
    ),
    "memory_busy": (
        "Memory busy: share of the time in which the GPU's memory was being read or written, "
        "however slowly. It is a time and no bandwidth: 60 % here does not mean 60 % of the GB/s."
    ),
    "dram": (
        "DRAM: bandwidth that the GPU's memory really moved, as a share of its peak, measured by "
        "the GPU's own counters (NVIDIA's GPM, from Hopper on); a mean since the last reading."
    ),
    "power": (
        "Power: what the whole board draws, and what it may draw. At its limit it lowers its "
        "clocks."
    ),
    "temperature": "Temperature of the GPU's chip; its memory can be hotter.",
    "clocks": (
        "Clocks of the GPU's processors and of its memory at the moment of reading. They fall when "
        "there is nothing to do."
    ),
    "held_back": (
        "Why the clocks are below the highest, as the driver tells it. Heat and a weak power "
        "supply need a person; the power limit and rest do not."
    ),
    "pcie": (
        "PCIe: data between the machine and the GPU. While a model that fits on the GPU decodes "
        "there is next to none; much of it means that weights or cache lie in main memory. "
        "Without GPM it is counted for 20 ms, one direction a second."
    ),
    "gpu_memory": (
        "Memory of the GPU: the engine's part as the driver counts it by process, the part of "
        "other programs and the driver, and what is free."
    ),
}
"""Definition by key, one to three sentences, shown where the number stands."""


def ttft_s(sent_s: float, first_token_s: float) -> float:
    """Time to first token; both times by one clock."""
    return first_token_s - sent_s


def pipe_s(waited_s: float, queue_s: float, prefill_s: float) -> float:
    """What the ways between the processes took.

    Durations are compared, not two clocks; a rest below 0 is none.

    Args:
        waited_s: From sending the request to the arrival of its first text, by the window's clock.
        queue_s: Waiting for a slot, by the engine's clock.
        prefill_s: From having a slot to the first token, by the engine's clock.
    """
    return max(0.0, waited_s - queue_s - prefill_s)


def tpot_s(first_token_s: float, last_token_s: float, tokens: int) -> float | None:
    """Mean time per token after the first; None below two tokens."""
    return (last_token_s - first_token_s) / (tokens - 1) if tokens >= 2 else None


def itl_s(step_s: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Gaps between consecutive steps that delivered tokens.

    Args:
        step_s: (steps,) times at which steps that delivered tokens ended, seconds, ascending.

    Returns:
        (steps − 1,) float64, seconds; empty below two steps.
    """
    return np.diff(np.asarray(step_s, dtype=np.float64))


def percentile(values: Sequence[float] | npt.NDArray[np.float64], percent: float) -> float | None:
    """A percentile, linear between neighbours; None where no value is finite.

    Args:
        values: Any numbers; those not finite are left out.
        percent: 0 to 100.
    """
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    return float(np.percentile(finite, percent)) if finite.size else None


def percentiles(
    values: Sequence[float] | npt.NDArray[np.float64], percents: Sequence[float]
) -> list[float | None]:
    """Several percentiles of the same values, see ``percentile``; ordered only once."""
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    if not finite.size:
        return [None] * len(percents)
    return [float(found) for found in np.percentile(finite, percents)]


def stream_speed_tok_s(tpot: float | None) -> float | None:
    """Tokens per second of one stream; None where TPOT is undefined or 0."""
    return 1.0 / tpot if tpot is not None and tpot > 0 else None


def throughput_tok_s(tokens: int, window_s: float) -> float | None:
    """Output tokens of all streams per second of the window; None for an empty window."""
    return tokens / window_s if window_s > 0 else None


def goodput_req_s(
    requests: Iterable[tuple[float | None, float | None]],
    window_s: float,
    ttft_limit_s: float,
    tpot_limit_s: float,
) -> float | None:
    """Requests that kept both limits, per second of the window.

    Args:
        requests: (TTFT, TPOT) in seconds of every request that ended in the window. One without a
            first token failed; one without a TPOT (a single token) is judged by TTFT alone.
        window_s: Length of the window.
        ttft_limit_s: Longest good TTFT.
        tpot_limit_s: Longest good TPOT.

    Returns:
        Requests per second; None for an empty window.
    """
    if window_s <= 0:
        return None
    return good_requests(requests, ttft_limit_s, tpot_limit_s) / window_s


def good_requests(
    requests: Iterable[tuple[float | None, float | None]],
    ttft_limit_s: float,
    tpot_limit_s: float,
) -> int:
    """How many requests kept both limits, see ``goodput_req_s``."""
    return sum(
        1
        for ttft, tpot in requests
        if ttft is not None and ttft <= ttft_limit_s and (tpot is None or tpot <= tpot_limit_s)
    )


def prefill_speed_tok_s(prompt_tok: int, reused_tok: int, prefill_s: float) -> float | None:
    """Prompt tokens computed per second; None where nothing was computed."""
    computed = prompt_tok - reused_tok
    return computed / prefill_s if computed > 0 and prefill_s > 0 else None


def acceptance(drafted_tok: int, accepted_tok: int) -> float | None:
    """Share of drafted tokens that were accepted, 0 to 1; None where none was drafted."""
    return accepted_tok / drafted_tok if drafted_tok > 0 else None


def acceptance_by_position(
    drafted_at: Sequence[int], accepted_at: Sequence[int]
) -> tuple[float | None, ...]:
    """``acceptance`` of each position in the draft; a position accepted nowhere may be missing."""
    padded = [*accepted_at, *[0] * (len(drafted_at) - len(accepted_at))]
    return tuple(
        acceptance(drafted, accepted) for drafted, accepted in zip(drafted_at, padded, strict=False)
    )


def expected_tokens_per_pass(alpha: float, drafted_tok: int) -> float:
    """Tokens one pass of the target yields on average: ``(1 − α^(k+1)) / (1 − α)``.

    Args:
        alpha: Probability that a drafted token is accepted, 0 to 1.
        drafted_tok: k, tokens drafted per pass, 0 or more.

    Raises:
        ValueError: If a number is out of its range.
    """
    if not 0 <= alpha <= 1 or drafted_tok < 0:
        raise ValueError(f"No such draft: {drafted_tok} tokens at acceptance {alpha}.")
    # The sum and not the quotient: exact at α = 1 and near it.
    return float(sum(alpha**position for position in range(drafted_tok + 1)))
