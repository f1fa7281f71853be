"""What steps of one kind read from memory and computed, added up.

Pure numbers, as the engine process sends them; what they mean is ``metrics.roofline``'s.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class StepWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sums over steps of one kind.

    Attributes:
        streams: Streams that every one of the steps generated for; 0 for steps with prompt tokens.
        steps: How many steps there were.
        seconds: Time they took, with the steps of what drafts for them.
        passes: Micro-batches they were cut into: each reads the weights once more.
        computed_tok: Tokens computed, prompts and drafts included.
        delivered_tok: Tokens they brought.
        weight_bytes: Weights read.
        kv_bytes: KV cache and states read.
        draft_bytes: Read by what drafts.
        operations: Multiplications and additions; see ``metrics.roofline``.
    """

    streams: int
    steps: int = 0
    seconds: float = 0.0
    passes: int = 0
    computed_tok: int = 0
    delivered_tok: int = 0
    weight_bytes: float = 0.0
    kv_bytes: float = 0.0
    draft_bytes: float = 0.0
    operations: float = 0.0

    @property
    def is_prefill(self) -> bool:
        """Whether the steps had prompt tokens."""
        return self.streams == 0

    @property
    def bytes(self) -> float:
        """All that was read."""
        return self.weight_bytes + self.kv_bytes + self.draft_bytes

    @property
    def step_bytes(self) -> float:
        """Bytes of a step, with its drafts; 0 without steps."""
        return self.bytes / self.steps if self.steps else 0.0

    @property
    def bytes_per_s(self) -> float:
        """Achieved bandwidth; 0 where no time was taken."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def operations_per_s(self) -> float:
        """Operations per second; 0 where no time was taken."""
        return self.operations / self.seconds if self.seconds > 0 else 0.0

    @property
    def operations_per_byte(self) -> float:
        """Arithmetic intensity; 0 where nothing was read."""
        return self.operations / self.bytes if self.bytes > 0 else 0.0

    @property
    def steps_per_s(self) -> float:
        """Steps per second of computing; 0 where no time was taken."""
        return self.steps / self.seconds if self.seconds > 0 else 0.0

    @property
    def step_s(self) -> float:
        """Seconds of a step; 0 without steps."""
        return self.seconds / self.steps if self.steps else 0.0

    @property
    def total_tok_s(self) -> float:
        """Tokens per second of all streams, while these steps run; 0 where no time was taken."""
        return self.delivered_tok / self.seconds if self.seconds > 0 else 0.0

    @property
    def stream_tok_s(self) -> float:
        """Tokens per second of each stream; 0 for prompts."""
        return self.total_tok_s / self.streams if self.streams else 0.0

    @property
    def computed_tok_s(self) -> float:
        """Tokens computed per second; of prompts the prefill speed."""
        return self.computed_tok / self.seconds if self.seconds > 0 else 0.0

    def __add__(self, other: StepWork) -> StepWork:
        """Both together; of the same kind."""
        return StepWork(
            self.streams,
            self.steps + other.steps,
            self.seconds + other.seconds,
            self.passes + other.passes,
            self.computed_tok + other.computed_tok,
            self.delivered_tok + other.delivered_tok,
            self.weight_bytes + other.weight_bytes,
            self.kv_bytes + other.kv_bytes,
            self.draft_bytes + other.draft_bytes,
            self.operations + other.operations,
        )


def merged(works: Iterable[StepWork]) -> tuple[StepWork, ...]:
    """Those of one kind added up, by streams."""
    found: dict[int, StepWork] = {}
    for work in works:
        known = found.get(work.streams)
        found[work.streams] = work if known is None else known + work
    return tuple(found[streams] for streams in sorted(found))
