"""One answer of a server as it came, and its figures by the definitions of the embedded engine.

Data; knows no connection.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.experiments.chat_chunk import OwnTimings, Usage
from engine_bridge.metrics.definitions import itl_s, percentiles, tpot_s
from engine_bridge.protocol import RequestTiming


@dataclass(frozen=True)
class Limits:
    """How long a server may be silent.

    Attributes:
        first_s: From a request to its first token.
        gap_s: Between two chunks after that.
    """

    first_s: float = 300.0
    gap_s: float = 60.0


@dataclass(frozen=True)
class ServedModel:
    """A model that a server names.

    Attributes:
        name: What requests call it.
        owner: ``llamacpp``, ``vllm`` and the like; empty if not told.
    """

    name: str
    owner: str = ""


@dataclass
class Answer:
    """One answer as it came; filled while it comes.

    Attributes:
        sent_ns: When the request began to go out, opening a connection included; 0 before.
        step_ns: When each chunk with output arrived.
        thought_chunks: Of these chunks those with thoughts.
        finish: Why it ended, in the server's word; empty if it does not say.
        has_end_mark: Whether ``[DONE]`` came.
        usage: What the server counted; None if it does not tell.
        timings: The server's own; None if it does not tell.
        build: What the server calls its build.
    """

    sent_ns: int = 0
    step_ns: list[int] = field(default_factory=list)
    thought_chunks: int = 0
    finish: str = ""
    has_end_mark: bool = False
    usage: Usage | None = None
    timings: OwnTimings | None = None
    build: str = ""

    @property
    def new_tok(self) -> int:
        """Tokens: as the server counts, or one for each chunk."""
        counted = self.usage.new_tok if self.usage is not None else None
        return counted or len(self.step_ns)


def timing_of(answer: Answer, begun_ns: int) -> RequestTiming:
    """The figures of an answer as a client can know them.

    Queue and prefill are not told apart by any server: both are 0 here, and TTFT holds them.

    Args:
        answer: Whole or not.
        begun_ns: When the request was made, for one that was never sent.
    """
    steps = [at_ns / 1e9 for at_ns in answer.step_ns]
    sent_s = (answer.sent_ns or begun_ns) / 1e9
    gaps = percentiles(itl_s(steps), (50, 99))
    usage = answer.usage
    return RequestTiming(
        queue_s=0.0,
        prefill_s=0.0,
        ttft_s=steps[0] - sent_s if steps else None,
        tpot_s=tpot_s(steps[0], steps[-1], answer.new_tok) if len(steps) > 1 else None,
        itl_p50_s=gaps[0],
        itl_p99_s=gaps[1],
        prompt_tok=(usage.prompt_tok or 0) if usage is not None else 0,
        reused_tok=(usage.cached_tok or 0) if usage is not None else 0,
        new_tok=answer.new_tok,
    )
