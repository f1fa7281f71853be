"""How a made-up engine behaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine_bridge.protocol import Generate


@dataclass(frozen=True)
class FakeEngine:
    """How the made-up engine behaves on one configuration.

    Attributes:
        prefill_tok_s: Prompt tokens per second.
        step_s: Seconds of a step that writes one token of so many streams.
        chunk_tok: Prompt tokens in one step at most.
        slots: Slots; None takes the configuration's.
        chars_per_tok: Characters of a token, of prompts and answers.
        noise: Spread of the times of steps (sigma of the logarithm); 0 for none.
        slowdown: Factor on all times by the clock in seconds, for drift.
        weight_bytes: Read by every step.
        kv_bytes_per_tok: Read by a step for every token that a stream holds.
        owned_bytes: Private memory of the process.
        drafted: Tokens drafted in each step of a stream; 0 without drafts.
        accepted: Of them accepted: a step then brings one more than that.
        ends_after_tok: Where answers end that may end by themselves; None nowhere.
        applying_s: Seconds that ``apply`` takes.
        refusal: Why the configuration is refused; empty if it is not.
        kills: Whether the engine dies of the configuration.
        refuses: Says of a request why it is refused; empty if it is not.
        dies_after: Requests after which it dies in the middle of the next step; None never.
        silent_after: Requests after which it says nothing any more; None never.
    """

    prefill_tok_s: float = 1000.0
    step_s: Callable[[int], float] = lambda streams: 0.018 + 0.002 * streams
    chunk_tok: int = 512
    slots: int | None = None
    chars_per_tok: int = 4
    noise: float = 0.0
    slowdown: Callable[[float], float] = lambda clock_s: 1.0
    weight_bytes: float = 1e9
    kv_bytes_per_tok: float = 1e5
    owned_bytes: int = 2 << 30
    drafted: int = 0
    accepted: int = 0
    ends_after_tok: int | None = None
    applying_s: float = 0.3
    refusal: str = ""
    kills: bool = False
    refuses: Callable[[Generate], str] = lambda command: ""
    dies_after: int | None = None
    silent_after: int | None = None
