"""What the loop did, added up for ``StepsMeasured``.

Knows what a step reads from memory; must not know when events are sent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from engine_bridge.child.step_shape import Shape
from engine_bridge.gguf_file import GgufModel, weight_reads
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.metrics.roofline import Attention, looks_back
from engine_bridge.protocol import SlotFacts, StepsMeasured
from engine_bridge.step_work import StepWork

# llama_kv_cache: size =   48.00 MiB (  4096 cells,   3 layers,  4/4 seqs), K (f16): …
_CACHE_LINE = re.compile(r"size = +([\d.]+) MiB \( *(\d+) cells, +\d+ layers, +\d+/(\d+) seqs\)")
# llama_memory_recurrent: size =    0.13 MiB (     4 cells,   2 layers,  4 seqs  3 rs_seq), R …
_STATE_LINE = re.compile(
    r"size = +([\d.]+) MiB \( *\d+ cells, +\d+ layers, +(\d+) seqs(?: +(\d+) rs_seq)?"
)
_MIB = 1 << 20


def kv_reads_of(log: Iterable[str], window_tok: int) -> KvReads:
    """What a stream reads of the caches that a context has just logged.

    Args:
        log: The lines of its creation.
        window_tok: The model's sliding window, 0 without one.
    """
    full = window = state = 0.0
    is_window = False
    for line in log:
        if "KV cache, size" in line:
            is_window = "non-SWA" not in line and "SWA" in line
        elif found := _CACHE_LINE.search(line):
            per_token = float(found[1]) * _MIB / (int(found[2]) * int(found[3]))
            full, window = (full, window + per_token) if is_window else (full + per_token, window)
        elif found := _STATE_LINE.search(line):
            # Of each sequence a step reads one state, however many are kept to go back to.
            state += float(found[1]) * _MIB / (int(found[2]) * (1 + int(found[3] or 0)))
    return KvReads(full, window, window_tok if window else 0, state)


class _Sum:
    """What steps of one kind came to; plain numbers, as they grow a thousand times a second.

    ``looks`` and ``window_looks`` count tokens looked back at; see ``metrics.roofline``.
    """

    __slots__ = (
        "delivered_tok", "draft_bytes", "draft_operations", "kv_bytes", "looks", "ns", "passes",
        "rows", "steps", "tokens", "weight_bytes", "window_looks",
    )  # fmt: skip

    def __init__(self) -> None:
        self.steps = self.ns = self.passes = self.tokens = self.rows = self.delivered_tok = 0
        self.weight_bytes = self.kv_bytes = self.draft_bytes = self.draft_operations = 0.0
        self.looks = self.window_looks = 0.0

    def take(self, other: _Sum) -> None:
        """Add ``other``."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def work(self, streams: int, weights: WeightReads, attention: Attention) -> StepWork:
        """The same for the window."""
        operations = weights.operations(self.tokens, self.rows) + self.draft_operations
        operations += attention.operations(self.looks, self.window_looks)
        return StepWork(
            streams,
            self.steps,
            self.ns / 1e9,
            self.passes,
            self.tokens,
            self.delivered_tok,
            self.weight_bytes,
            self.kv_bytes,
            self.draft_bytes,
            operations,
        )


class StepMeter:
    """Sums over the steps since the last report.

    Attributes:
        weights: What steps read of the weights.
        kv: What streams read of their caches.
        attention: What looking back costs.
        draft: What a draft model reads, None without one.
    """

    def __init__(self, weights: WeightReads, kv: KvReads, now_ns: int) -> None:
        """Start a span at ``now_ns``."""
        self.weights = weights
        self.kv = kv
        self.attention = Attention()
        self.draft: tuple[WeightReads, KvReads] | None = None
        self._weights_by_shape: dict[tuple[int, int, int], float] = {}
        # Steps with prompts that a GPU still works at: when the first began, and what they were.
        self._open_ns: int | None = None
        self._open = _Sum()
        # What was drafted for the step that comes next.
        self._drafts = _Sum()
        self._reset(now_ns)

    def _reset(self, now_ns: int) -> None:
        self._begin_ns = now_ns
        self._steps = self._decode_steps = 0
        self._busy_ns = self._decode_ns = self._prefill_ns = self._longest_ns = 0
        self._decode_bytes = 0.0
        self._decoded_tok = self._prefilled_tok = 0
        self._streams = 0
        self._sums: defaultdict[int, _Sum] = defaultdict(_Sum)

    @property
    def has_steps(self) -> bool:
        """Whether anything happened in the span."""
        return self._steps > 0

    def decoded(self, step_ns: int, shape: Shape, delivered_tok: int) -> None:
        """Count a step without prompt tokens.

        Args:
            step_ns: Its length.
            shape: What it computed.
            delivered_tok: Tokens it brought.
        """
        self._decoded(step_ns, shape, delivered_tok)
        self._longest_ns = max(self._longest_ns, step_ns)

    def decoded_each(self, steps_ns: Sequence[int], shape: Shape, delivered_tok: int) -> None:
        """Count steps in a row in which each stream took one token.

        Args:
            steps_ns: Their lengths.
            shape: What the first one computed; each is a token deeper than the one before.
            delivered_tok: Tokens each of them brought.
        """
        if self.kv.window_tok:  # ends somewhere among them
            for number, step_ns in enumerate(steps_ns):
                self.decoded(step_ns, shape.later(number), delivered_tok)
        elif steps_ns:
            self._decoded(sum(steps_ns), shape, delivered_tok, len(steps_ns))
            self._longest_ns = max(self._longest_ns, *steps_ns)

    def _decoded(self, took_ns: int, shape: Shape, delivered_tok: int, steps: int = 1) -> None:
        streams = len(shape.depths)
        self._count(took_ns, streams, steps * delivered_tok, steps)
        self._decode_steps += steps
        self._decode_ns += took_ns
        sums = self._sums[streams]
        self._decode_bytes += self._add(sums, shape, delivered_tok, steps)
        sums.ns += took_ns
        if self._drafts.ns:
            sums.take(self._drafts)
            self._drafts = _Sum()

    def drafted(self, step_ns: int, shape: Shape, prompt_tok: int) -> None:
        """Count a step of the draft model as part of the step it drafts for.

        Args:
            step_ns: Its length.
            shape: What it computed, the tokens of all texts together.
            prompt_tok: Prompt tokens among those computed.
        """
        self._busy_ns += step_ns
        if prompt_tok:
            self._prefill_ns += step_ns
            return
        self._decode_ns += step_ns
        self._drafts.ns += step_ns
        if self.draft is not None:
            weights, kv = self.draft
            read = weights.per_step_bytes(shape.tokens, has_output=shape.rows > 0)
            read += sum(map(kv.at_depth_bytes, shape.depths))
            self._decode_bytes += read
            self._drafts.draft_bytes += read
            self._drafts.draft_operations += weights.operations(shape.tokens, shape.rows)

    def prefilled(
        self,
        span_ns: tuple[int, int],
        shape: Shape,
        prompt_tok: int,
        delivered_tok: int,
        is_waited: bool = True,
    ) -> None:
        """Count a step with prompt tokens.

        Args:
            span_ns: When it began and ended.
            shape: What it computed.
            prompt_tok: Prompt tokens among that.
            delivered_tok: Tokens it brought.
            is_waited: Whether it was over then; a GPU may work on while the next one is prepared.
        """
        begin_ns, end_ns = span_ns
        self._count(end_ns - begin_ns, len(shape.depths), delivered_tok)
        self._longest_ns = max(self._longest_ns, end_ns - begin_ns)
        self._prefilled_tok += prompt_tok
        self._prefill_ns += end_ns - begin_ns
        if self._drafts.ns:
            self._drafts = _Sum()  # for whoever writes beside the prompts: no step of its own
        if self._open_ns is None:
            self._open_ns = begin_ns
        self._add(self._open, shape, delivered_tok)
        if is_waited:
            self._open.ns = end_ns - self._open_ns
            self._sums[0].take(self._open)
            self._open_ns, self._open = None, _Sum()

    def _add(self, sums: _Sum, shape: Shape, delivered_tok: int, steps: int = 1) -> float:
        """Add a step to ``sums``, or several of one token each without a window; bytes read."""
        depths, takes, rows, passes = shape
        tokens = sum(takes)
        with_output = min(passes, rows)
        key = (tokens, with_output, passes)
        weights = self._weights_by_shape.get(key)
        if weights is None:
            weights = self._weights_by_shape[key] = self._weights_of(tokens, with_output, passes)
        kv, window_tok = self.kv, self.kv.window_tok
        if tokens == len(takes) and not window_tok:
            # The same sums at a fraction of the time, a thousand times a second.
            deep = steps * sum(depths) + tokens * (steps * (steps - 1) // 2)
            cache = kv.full_bytes_per_tok * deep + kv.state_bytes * len(depths) * steps
            sums.looks += deep + tokens * steps
        else:
            # A long prompt reads its cache once in each micro-batch.
            again = max(1.0, passes / len(takes)) if tokens > len(takes) else 1.0
            cache = 0.0
            for depth, take in zip(depths, takes, strict=True):
                cache += again * kv.at_depth_bytes(depth + take // 2)
                sums.looks += looks_back(depth, take)
                sums.window_looks += looks_back(depth, take, window_tok) if window_tok else 0.0
        sums.steps += steps
        sums.passes += passes * steps
        sums.tokens += tokens * steps
        sums.rows += rows * steps
        sums.delivered_tok += delivered_tok * steps
        sums.weight_bytes += weights * steps
        sums.kv_bytes += cache
        return weights * steps + cache

    def _weights_of(self, tokens: int, with_output: int, passes: int) -> float:
        """Weights read by a step of which so many micro-batches want logits."""
        each = tokens / passes
        read = with_output * self.weights.per_step_bytes(each)
        return read + (passes - with_output) * self.weights.per_step_bytes(each, has_output=False)

    def _count(self, took_ns: int, streams: int, delivered_tok: int, steps: int = 1) -> None:
        self._steps += steps
        self._busy_ns += took_ns
        self._decoded_tok += delivered_tok
        self._streams = streams

    def report(self, now_ns: int, slots: tuple[SlotFacts, ...]) -> StepsMeasured:
        """The event for the span that ends now, and start the next one."""
        event = StepsMeasured(
            begin_ns=self._begin_ns,
            end_ns=now_ns,
            busy_s=self._busy_ns / 1e9,
            steps=self._steps,
            decode_steps=self._decode_steps,
            decode_s=self._decode_ns / 1e9,
            decode_bytes=round(self._decode_bytes),
            decoded_tok=self._decoded_tok,
            prefilled_tok=self._prefilled_tok,
            prefill_s=self._prefill_ns / 1e9,
            longest_step_s=self._longest_ns / 1e9,
            streams=self._streams,
            slots=slots,
            work=tuple(
                sums.work(streams, self.weights, self.attention)
                for streams, sums in sorted(self._sums.items())
            ),
        )
        self._reset(now_ns)
        return event


def weight_reads_of(gguf: GgufModel) -> WeightReads:
    """What a decode step reads of a model's weights, its routed experts apart."""
    return weight_reads(gguf.tensors, gguf.facts)
