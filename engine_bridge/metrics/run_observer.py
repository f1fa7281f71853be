"""Finds in the engine's events what can be learnt from: work that nothing else disturbed. Pure.

A prompt counts where its request was the only one from its start to its first token; writing where
the same streams wrote, and nothing else happened, for some steps. Knows no clock: a time of the
calendar is given with each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from engine_bridge.metrics.observations import Observation, RunSettings, run_settings
from engine_bridge.metrics.sound_figures import sound
from engine_bridge.protocol import (
    Applied,
    ContextShifted,
    Event,
    Hello,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    SlotFacts,
    StepsMeasured,
    TokensDelivered,
    Unloaded,
)
from engine_bridge.settings.row import Applies

# Fewer steps are no measurement; more than the last say nothing of one depth.
_LEAST_STEPS, _MOST_STEPS = 12, 192
# Who waited longer than this for a slot waited for something else than its own prompt.
_QUEUE_S, _QUEUE_SHARE = 0.02, 0.1
_FINISHED_WELL = ("end", "stop_text", "token_limit", "context_full", "pool_full", "cancelled")


@dataclass
class _Reading:
    """A request on its way to its first token.

    Attributes:
        is_alone: Until its first token nobody else was served, and nothing was changed.
        has_token: Its first token is there.
    """

    is_alone: bool
    has_token: bool = False


@dataclass
class _Stretch:
    """Steps of the same streams that followed each other."""

    streams: int = 0
    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    passes: float = 0.0
    depths: list[tuple[float, float, int]] = field(default_factory=list)  # mean, pool, steps

    def observation(self, settings: RunSettings, at_s: float) -> Observation | None:
        """What it says; None where it is too short."""
        if self.steps < _LEAST_STEPS or self.tokens <= 0 or self.seconds <= 0:
            return None
        depth = sum(mean * steps for mean, _, steps in self.depths) / self.steps
        pool = sum(used * steps for _, used, steps in self.depths) / self.steps
        return Observation(
            "decode", settings, self.seconds * self.streams / self.tokens, self.tokens, depth,
            self.streams, pool, max(1.0, self.passes / self.steps), at_s=at_s,
        )  # fmt: skip


class RunObserver:
    """Takes events, gives observations.

    Attributes:
        prompt_tok: Tokens of the newest prompt; 0 before the first.
        reused_tok: Of them those that were cached, and not computed again.
        streams: Streams that wrote last; 0 before the first.
        depth_tok: Mean tokens in their slots.
        pool_tok: Tokens in all slots.
        passes: Micro-batches of a step of these streams.
    """

    def __init__(self) -> None:
        """Know of no engine yet."""
        self.prompt_tok = self.reused_tok = self.streams = 0
        self.depth_tok = self.pool_tok = 0.0
        self.passes = 1.0
        self._settings: RunSettings | None = None
        self._under_way: dict[int, _Reading] = {}
        self._stretch = _Stretch()
        self._is_going_on = False
        self._takes: dict[type, Callable[..., Iterator[Observation]]] = {
            Hello: self._take_end,
            Unloaded: self._take_end,
            Applied: self._take_applied,
            RequestStarted: self._take_started,
            TokensDelivered: self._take_tokens,
            ContextShifted: self._take_shifted,
            RequestFinished: self._take_finished,
            StepsMeasured: self._take_steps,
        }

    def fold(self, event: Event, now_s: float) -> tuple[Observation, ...]:
        """Take an event of the engine.

        Args:
            event: What it said, in the order in which it did.
            now_s: When, seconds since 1970.

        Returns:
            What could be learnt with it, mostly nothing.
        """
        known = sound(event)
        take = self._takes.get(type(event))
        return () if take is None or known is None else tuple(take(known, now_s))

    # --- Events -------------------------------------------------------------------------

    def _take_end(self, _: Event, __: float) -> Iterator[Observation]:
        self._settings = None
        self._under_way.clear()
        self._break()
        self.prompt_tok = self.reused_tok = self.streams = 0
        yield from ()

    def _take_applied(self, event: Applied, now_s: float) -> Iterator[Observation]:
        settings = run_settings(event.config, event.effective)
        if settings != self._settings or event.cost != Applies.LIVE.value:
            yield from self._ended(now_s)
            self._disturb()
        self._settings = settings

    def _take_started(self, event: RequestStarted, _: float) -> Iterator[Observation]:
        self._disturb()
        self._under_way[event.request_id] = _Reading(not self._under_way)
        self.prompt_tok, self.reused_tok = event.prompt_tok, event.reused_tok
        yield from ()

    def _take_tokens(self, event: TokensDelivered, _: float) -> Iterator[Observation]:
        reading = self._under_way.get(event.request_id)
        if reading is not None and event.step_ns:
            reading.has_token = True
        yield from ()

    def _take_shifted(self, _: ContextShifted, now_s: float) -> Iterator[Observation]:
        yield from self._ended(now_s)

    def _take_finished(self, event: RequestFinished, now_s: float) -> Iterator[Observation]:
        yield from self._ended(now_s)
        reading = self._under_way.pop(event.request_id, None)
        if reading is None or not reading.is_alone or event.reason not in _FINISHED_WELL:
            return
        seconds = _first_token_s(event.timing)
        computed = event.timing.prompt_tok - event.timing.reused_tok
        if self._settings is not None and seconds and computed > 0:
            yield Observation(
                "prefill", self._settings, seconds, computed, event.timing.reused_tok, at_s=now_s
            )

    def _take_steps(self, event: StepsMeasured, now_s: float) -> Iterator[Observation]:
        writing = [slot for slot in event.slots if slot.request_id is not None]
        is_plain = 0 < event.steps == event.decode_steps and 0 < len(writing) == event.streams
        if not is_plain:
            yield from self._ended(now_s)
            return
        is_same = self._is_going_on and self.streams == len(writing)
        if not is_same:
            # Its beginning may lie in a pause, or in another step: only the next one counts.
            yield from self._ended(now_s)
        self._note_place(writing, event)
        self._is_going_on = True
        if is_same:
            self._stretch.streams = self.streams
            self._stretch.seconds += (event.end_ns - event.begin_ns) / 1e9
            self._stretch.steps += event.steps
            self._stretch.tokens += event.decoded_tok
            self._stretch.passes += self.passes * event.steps
            self._stretch.depths.append((self.depth_tok, self.pool_tok, event.steps))
            if self._stretch.steps >= _MOST_STEPS:
                yield from self._told(now_s)

    # --- Inside -------------------------------------------------------------------------

    def _disturb(self) -> None:
        """Something happens that prompts which are being read now have to wait for."""
        for reading in self._under_way.values():
            reading.is_alone = reading.is_alone and reading.has_token

    def _note_place(self, writing: Sequence[SlotFacts], event: StepsMeasured) -> None:
        self.streams = len(writing)
        self.depth_tok = sum(slot.used_tok for slot in writing) / len(writing)
        self.pool_tok = float(sum(slot.used_tok for slot in event.slots))
        cut = [work for work in event.work if not work.is_prefill]
        steps = sum(work.steps for work in cut)
        self.passes = max(1.0, sum(work.passes for work in cut) / steps) if steps else 1.0

    def _told(self, now_s: float) -> Iterator[Observation]:
        """What the stretch so far says; the next one follows it without a gap."""
        stretch, self._stretch = self._stretch, _Stretch()
        if self._settings is not None:
            observation = stretch.observation(self._settings, now_s)
            if observation is not None:
                yield observation

    def _ended(self, now_s: float) -> Iterator[Observation]:
        """What the stretch says that is over now."""
        yield from self._told(now_s)
        self._break()

    def _break(self) -> None:
        self._stretch = _Stretch()
        self._is_going_on = False


def _first_token_s(timing: RequestTiming) -> float | None:
    """TTFT without what the request waited for others; None without a token."""
    if timing.ttft_s is None or timing.prefill_s <= 0:
        return None
    is_own = timing.queue_s <= _QUEUE_S + _QUEUE_SHARE * timing.prefill_s
    return timing.ttft_s if is_own else timing.prefill_s
