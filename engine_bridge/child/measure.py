"""What the loop did, added up for ``StepsMeasured``.

Knows what a step reads from memory; must not know when events are sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from engine_bridge.gguf_file import GgufModel, decode_weight_bytes
from engine_bridge.metrics.bandwidth import KvReads, WeightReads
from engine_bridge.protocol import SlotFacts, StepsMeasured

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


class StepMeter:
    """Sums over the steps since the last report.

    Attributes:
        weights: What steps read of the weights.
        kv: What streams read of their caches.
        draft: The same of a draft model, None without one.
    """

    def __init__(self, weights: WeightReads, kv: KvReads, now_ns: int) -> None:
        """Start a span at ``now_ns``."""
        self.weights = weights
        self.kv = kv
        self.draft: tuple[WeightReads, KvReads] | None = None
        self._weights_by_rows: dict[int, float] = {}
        self._reset(now_ns)

    def _reset(self, now_ns: int) -> None:
        self._begin_ns = now_ns
        self._steps = self._decode_steps = 0
        self._busy_ns = self._decode_ns = self._prefill_ns = self._longest_ns = 0
        self._decode_bytes = 0.0
        self._decoded_tok = self._prefilled_tok = 0
        self._streams = 0

    @property
    def has_steps(self) -> bool:
        """Whether anything happened in the span."""
        return self._steps > 0

    def decoded(self, step_ns: int, depths: Sequence[int], rows: int, delivered_tok: int) -> None:
        """Count a step without prompt tokens.

        Args:
            step_ns: Its length.
            depths: Tokens in the slot of each stream.
            rows: Tokens in the batch, drafts included.
            delivered_tok: Tokens it brought.
        """
        self._count(step_ns, len(depths), delivered_tok)
        self._decode_steps += 1
        self._decode_ns += step_ns
        weights = self._weights_by_rows.get(rows)
        if weights is None:
            weights = self._weights_by_rows[rows] = self.weights.per_step_bytes(rows)
        if self.kv.window_tok:
            self._decode_bytes += weights + sum(map(self.kv.at_depth_bytes, depths))
        else:  # the same sum at a fraction of the time, a thousand times a second
            flat = self.kv.full_bytes_per_tok * sum(depths) + self.kv.state_bytes * len(depths)
            self._decode_bytes += weights + flat

    def drafted(self, step_ns: int, depths: Sequence[int], prompt_tok: int) -> None:
        """Count a step of the draft model as part of the step it drafts for.

        Args:
            step_ns: Its length.
            depths: Tokens in its cache for each text.
            prompt_tok: Prompt tokens among those computed.
        """
        self._busy_ns += step_ns
        if prompt_tok:
            self._prefill_ns += step_ns
            return
        self._decode_ns += step_ns
        if self.draft is not None:
            weights, kv = self.draft
            read = weights.per_step_bytes(len(depths)) + sum(map(kv.at_depth_bytes, depths))
            self._decode_bytes += read

    def prefilled(self, step_ns: int, prompt_tok: int, streams: int, delivered_tok: int) -> None:
        """Count a step with prompt tokens."""
        self._count(step_ns, streams, delivered_tok)
        self._prefilled_tok += prompt_tok
        self._prefill_ns += step_ns

    def _count(self, step_ns: int, streams: int, delivered_tok: int) -> None:
        self._steps += 1
        self._busy_ns += step_ns
        self._longest_ns = max(self._longest_ns, step_ns)
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
        )
        self._reset(now_ns)
        return event


def weight_reads_of(gguf: GgufModel) -> WeightReads:
    """What a decode step reads of a model's weights, its routed experts apart."""
    facts = gguf.facts
    one_token = decode_weight_bytes(gguf.tensors, facts)
    if facts.experts_used >= facts.experts:
        return WeightReads(one_token)
    # The same sum with every expert counted whole tells the experts from the rest.
    whole_facts = msgspec.structs.replace(facts, experts_used=facts.experts)
    whole = decode_weight_bytes(gguf.tensors, whole_facts)
    experts = (whole - one_token) / (1 - facts.experts_used / facts.experts)
    return WeightReads(whole - experts, experts, facts.experts, facts.experts_used)
