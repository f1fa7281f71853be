"""Prompts that are read many times slower since a change, though a GPU should read them.

llama.cpp computes on the processor what the GPU has no kernel for, and says nothing. Pure: knows
what was applied and how fast prompts were read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from engine_bridge.metrics.change_words import changed_lines
from engine_bridge.protocol import Applied

LEAST_TOK = 64
"""Shorter prompts are mostly waiting: their speed says nothing."""

_FACTOR = 3.0
# Who takes layers from the GPU knows what it costs.
_ASKED_FOR = {"n_gpu_layers", "devices"}
# No prompt that counts is read faster, whatever an engine says.
_LEAST_S = 1e-6
# A GPU that computes the prompt is busy nearly all of the time.
_AT_WORK = 0.5


@dataclass(frozen=True)
class Collapse:
    """What became slow.

    Attributes:
        before_tok_s: Median prefill speed before the change.
        after_tok_s: Since then.
        changes: What changed, ``Cache type V: f16 → q5_1``; empty for an engine that only started
            anew.
        restores: Values of those settings before, by key.
        layers_before: Layers on the GPU then.
        layers_after: Layers on the GPU now.
        busy: Most of the time in which a GPU was busy during a prefill since, 0 to 1; None where
            nobody tells.
    """

    before_tok_s: float
    after_tok_s: float
    changes: tuple[str, ...]
    restores: dict[str, object]
    layers_before: int
    layers_after: int
    busy: float | None


@dataclass
class _Stretch:
    """Between two changes.

    Attributes:
        applied: What ran.
        speeds_tok_s: Prefill speed of each prompt that counts, in order.
        busy: Of each, how busy a GPU was, where that was seen.
    """

    applied: Applied
    speeds_tok_s: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    @property
    def speed_tok_s(self) -> float | None:
        """Median without the first, which also loads pages and kernels; None before the second."""
        return median(self.speeds_tok_s[1:]) if len(self.speeds_tok_s) > 1 else None


class PrefillWatch:
    """Compares the prompts since the last change with those before it."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._before: _Stretch | None = None
        self._now: _Stretch | None = None

    def note_applied(self, applied: Applied) -> None:
        """The engine runs something else now, or the same again after a start."""
        ended = self._now
        # What nobody measured is nothing to compare with: the one before it still is.
        if ended is not None and ended.speed_tok_s is not None:
            self._before = ended
        self._now = _Stretch(applied)

    def note_prefill(
        self, computed_tok: int, seconds: float, busy: float | None = None
    ) -> Collapse | None:
        """A prompt was read while nothing else was computed.

        Args:
            computed_tok: Its tokens that were not reused.
            seconds: From having a slot to the first token.
            busy: The most that a GPU was busy meanwhile, 0 to 1; None where that was not seen.

        Returns:
            What became slow, each time anew; None where all is well, or too little is known.
        """
        if self._now is None or computed_tok < LEAST_TOK or seconds < _LEAST_S:
            return None
        self._now.speeds_tok_s.append(computed_tok / seconds)
        if busy is not None:
            self._now.busy.append(busy)
        return self._collapse(self._now)

    def _collapse(self, now: _Stretch) -> Collapse | None:
        before, after_tok_s = self._before, now.speed_tok_s
        if before is None or before.speed_tok_s is None or after_tok_s is None:
            return None
        was, is_now = before.applied, now.applied
        is_same_model = was.config.model_path == is_now.config.model_path
        if not is_same_model or not (lies_on_board(was) or lies_on_board(is_now)):
            return None
        layers = (was.effective.n_gpu_layers, is_now.effective.n_gpu_layers)
        busy = max(now.busy, default=None)
        if layers[1] < layers[0] and _ASKED_FOR & set(is_now.config.changed_from(was.config)):
            return None
        # A GPU that works is slow for another reason: heat, its memory, small batches.
        is_at_work = busy is not None and busy >= _AT_WORK and layers[1] >= layers[0]
        if is_at_work or after_tok_s * _FACTOR > before.speed_tok_s:
            return None
        return Collapse(
            before_tok_s=before.speed_tok_s,
            after_tok_s=after_tok_s,
            changes=tuple(changed_lines(was.config, is_now.config)),
            restores={
                key: getattr(was.config, key) for key in is_now.config.changed_from(was.config)
            },
            layers_before=layers[0],
            layers_after=layers[1],
            busy=busy,
        )


def lies_on_board(applied: Applied) -> bool:
    """Whether anything of the model lies elsewhere than in main memory."""
    return any(
        device.needed > 0 for device in applied.memory.devices if not device.name.startswith("CPU")
    )
