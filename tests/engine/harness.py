"""The engine's loop inside a test: same code as in the process, a list instead of the pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from engine_bridge.child.batcher import Batcher
from engine_bridge.child.inbox import Inbox
from engine_bridge.child.loop import EngineLoop
from engine_bridge.child.prompts import Renderer
from engine_bridge.child.reports import MeasurePeak
from engine_bridge.child.template import Rendered
from engine_bridge.protocol import (
    Applied,
    Apply,
    ChatMessage,
    Command,
    Event,
    Generate,
    Load,
    Refused,
    RequestFinished,
    RequestStarted,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig

_EventT = TypeVar("_EventT", bound=Event)
# Long, because a loaded machine may be twenty times slower; nothing waits for it in vain.
_PATIENCE_S = 100.0


class NoTemplates:
    """A renderer for tests whose requests are made of tokens or plain text."""

    def render(self, *_: Any, **__: Any) -> Rendered:
        raise AssertionError("this test does not expect a template to be rendered")


class InProcess:
    """A loop with its inbox, and every event it sent."""

    def __init__(
        self,
        renderer: Renderer | None = None,
        measure_bandwidth: MeasurePeak | None = None,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.events: list[Event] = []
        self.inbox = Inbox()
        self.loop = EngineLoop(
            self.inbox, self.events.append, renderer or NoTemplates(), measure_bandwidth, clock
        )
        self._number = 0

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.close()

    @property
    def batcher(self) -> Batcher:
        engine = self.loop._requests.engine
        assert engine is not None
        return engine.batcher

    def number(self) -> int:
        self._number += 1
        return self._number

    def send(self, command: Command) -> None:
        self.inbox.put(command)

    def until(self, is_done: Callable[[], bool]) -> None:
        """Turn the loop until something is so."""
        deadline = time.monotonic() + _PATIENCE_S
        while not is_done():
            assert time.monotonic() < deadline, f"still waiting; last events: {self.events[-5:]}"
            self.loop.turn()

    def all_of(self, kind: type[_EventT], request_id: int | None = None) -> list[_EventT]:
        return [
            event
            for event in self.events
            if isinstance(event, kind)
            and (request_id is None or getattr(event, "request_id", None) == request_id)
        ]

    def answer_to(self, request_id: int) -> Applied | Refused:
        """Wait for the answer to a load or a change."""

        def answers() -> list[Applied | Refused]:
            return [*self.all_of(Applied, request_id), *self.all_of(Refused, request_id)]

        self.until(lambda: bool(answers()))
        return answers()[0]

    def load(self, config: EngineConfig) -> Applied:
        request_id = self.number()
        self.send(Load(request_id, config))
        answer = self.answer_to(request_id)
        assert isinstance(answer, Applied), answer
        return answer

    def apply(self, config: EngineConfig) -> Applied | Refused:
        request_id = self.number()
        self.send(Apply(request_id, config))
        return self.answer_to(request_id)

    def ask(
        self,
        prompt: str | Sequence[int] | Sequence[ChatMessage],
        *,
        conversation: str = "",
        **rest: Any,
    ) -> int:
        """Send a request; its number. Text is continued, tokens are taken as they are."""
        request_id = self.number()
        messages: tuple[ChatMessage, ...] = ()
        if isinstance(prompt, str):
            messages, rest["as_completion"] = (ChatMessage("user", prompt),), True
        elif prompt and isinstance(prompt[0], ChatMessage):
            messages = tuple(message for message in prompt if isinstance(message, ChatMessage))
        else:
            rest["prompt_tokens"] = tuple(int(token) for token in prompt if isinstance(token, int))
        name = conversation or f"conversation {request_id}"
        self.send(Generate(request_id, name, messages, **rest))
        return request_id

    def finished(self, request_id: int) -> RequestFinished:
        self.until(lambda: bool(self.all_of(RequestFinished, request_id)))
        return self.all_of(RequestFinished, request_id)[0]

    def started(self, request_id: int) -> RequestStarted:
        self.until(lambda: bool(self.all_of(RequestStarted, request_id)))
        return self.all_of(RequestStarted, request_id)[0]

    def refused(self, request_id: int) -> Refused:
        self.until(lambda: bool(self.all_of(Refused, request_id)))
        return self.all_of(Refused, request_id)[0]

    def text(self, request_id: int) -> str:
        return "".join(event.text for event in self.all_of(TokensDelivered, request_id))

    def answer(self, prompt: str | Sequence[int], **rest: Any) -> tuple[str, RequestFinished]:
        """Ask and wait: the text, and how it ended."""
        request_id = self.ask(prompt, **rest)
        finished = self.finished(request_id)
        return self.text(request_id), finished


def random_tokens(count: int, seed: int = 0, low: int = 300, high: int = 500) -> list[int]:
    """Tokens without meaning; ordinary words of the tiny vocabulary."""
    drawn: Iterable[int] = np.random.default_rng(seed).integers(low, high, count).tolist()
    return list(drawn)


def tiny_config(path: object, **values: object) -> EngineConfig:
    """Greedy, one thread (barriers of two wait for a loaded machine), small context."""
    base: dict[str, object] = {
        "model_path": str(path),
        "threads": 1,
        "threads_batch": 1,
        "temperature": 0.0,
        "ctx_per_slot_tok": 512,
        "slots": 1,
    }
    return EngineConfig.from_values(base | values)
