"""Random commands at random moments, and what must be true after each of them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine_bridge.child.batcher import Batcher
from engine_bridge.child.inbox import Inbox
from engine_bridge.child.loop import EngineLoop
from engine_bridge.child.sampling import is_greedy
from engine_bridge.child.template import Fragment, Rendered
from engine_bridge.protocol import (
    Applied,
    Apply,
    Cancel,
    CancelLoad,
    ChatMessage,
    Command,
    ContextShifted,
    Event,
    Forget,
    Generate,
    Load,
    Logged,
    Refused,
    RequestFinished,
    RequestStarted,
    RestoreSlot,
    SaveSlot,
    SetTemplate,
    SlotRestored,
    SlotSaved,
    TokensDelivered,
    Unloaded,
)
from tests.engine.harness import tiny_config
from tests.engine.stress_oracle import Followed, Reference, check_books
from tests.engine.stress_settings import MOVED_OR_ROUNDED, OTHER_SCORES, SAME_SCORES

_CONVERSATIONS = 7
_PATIENCE_S = 100.0
_OF_REQUESTS = (RequestStarted, TokensDelivered, ContextShifted, RequestFinished, Refused)


class PlainTemplate:
    """Renders ChatML as if by a template, at once."""

    def render(
        self, template_source: str, messages: Sequence[ChatMessage], **rest: Any
    ) -> Rendered:
        parts = []
        for message in messages:
            parts.append(Fragment(f"<|im_start|>{message.role}\n", parse_special=True))
            parts.append(Fragment(message.content, parse_special=False))
            parts.append(Fragment("<|im_end|>\n", parse_special=True))
        if rest["add_generation_prompt"]:
            parts.append(Fragment("<|im_start|>assistant\n", parse_special=True))
        return Rendered(tuple(parts))


@dataclass(frozen=True)
class Cast:
    """What a run may load: models by their file, a draft model and an adapter for all of them."""

    references: dict[Path, Reference]
    draft_path: Path
    lora_path: Path | None = None


class InterruptedInbox(Inbox):
    """An inbox into which something may be put while steps are taken together."""

    def __init__(self) -> None:
        super().__init__()
        self.between_steps: Callable[[], bool] = lambda: False

    def __bool__(self) -> bool:
        return super().__bool__() or self.between_steps()


class Stress:
    """A loop that is sent random commands.

    Args:
        cast: What may be loaded.
        seed: Start of the random numbers.
        folder: For files of slots.
        checks_scores: Whether answers must be the likeliest; then nothing is done after which they
            need not be (cells that were moved, rounded caches).
    """

    def __init__(self, cast: Cast, seed: int, folder: Path, *, checks_scores: bool) -> None:
        self.random = random.Random(seed)
        self.inbox = InterruptedInbox()
        self.loop = EngineLoop(self.inbox, self._hear, PlainTemplate())
        self.loop._reports.wait_s = lambda: 0.005  # type: ignore[method-assign]
        self.followed: dict[int, Followed] = {}
        self.said: list[str] = []
        self.answered = self.proven = 0
        self._cast = cast
        self._folder = folder
        self._table = SAME_SCORES | ({} if checks_scores else MOVED_OR_ROUNDED)
        lora = "" if cast.lora_path is None else str(cast.lora_path)
        self._others = dict(OTHER_SCORES)
        if lora:
            self._others["lora"] = ((), (f"{lora}:0.5",), (f"{lora}:1",), (f"{lora}:0",))
        self._checks_scores = checks_scores
        self._texts: dict[str, list[int]] = {}
        self._pending: set[int] = set()
        self._files: list[str] = []
        self._number = 0
        path = self.random.choice(list(cast.references))
        self._config = tiny_config(path, slots=3, ctx_per_slot_tok=512)

    def number(self) -> int:
        self._number += 1
        return self._number

    def until(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not is_done():
            assert time.monotonic() < deadline, f"still waiting: {self.said[-5:]}"
            self.turn()

    # --- What is heard -----------------------------------------------------------------------

    @property
    def batcher(self) -> Batcher | None:
        engine = self.loop._requests.engine
        return None if engine is None else engine.batcher

    def _hear(self, event: Event) -> None:
        request_id = getattr(event, "request_id", None)
        is_other = isinstance(event, Applied | SlotSaved | SlotRestored)
        if is_other or (isinstance(event, Refused) and event.command != "generate"):
            self._pending.discard(event.request_id)  # type: ignore[union-attr]
            self.said.append(f"  {event!r}"[:400])
        if isinstance(event, Applied):
            self._config = event.config
        if isinstance(event, Logged | Unloaded):
            self.said.append(f"  {event!r}"[:400])
        if isinstance(event, _OF_REQUESTS) and request_id in self.followed:
            followed = self.followed[request_id]
            if isinstance(event, RequestStarted):
                self._note_start(followed)
            followed.hear(event)
        elif isinstance(event, _OF_REQUESTS) and not is_other and request_id not in self._pending:
            assert isinstance(event, Refused), f"of no request, or behind its last event: {event}"

    def _note_start(self, followed: Followed) -> None:
        assert followed.stream is None, "started twice"
        batcher = self.batcher
        assert batcher is not None
        followed.stream = batcher.find(followed.command.request_id)
        config = batcher.config
        followed.path = Path(config.model_path)
        has_lora = any(not text.endswith(":0") for text in config.lora)
        followed.is_plain &= is_greedy(config) and not config.logit_bias and not has_lora
        followed.is_plain &= not config.ignore_eos

    # --- What is sent ------------------------------------------------------------------------

    def send(self, command: Command) -> None:
        self.said.append(repr(command)[:200])
        self.inbox.put(command)

    def _between_steps(self) -> bool:
        """Asked after each of several steps, and before those that may be the first of several."""
        draw = self.random.random()
        if draw < 0.01:
            self.act()
        return draw < 0.03

    def _disturb(self, batcher: Batcher) -> None:
        """End steps early now and then, as a cancel from another thread does."""
        guard = batcher._guard
        if hasattr(guard, "is_disturbed"):
            return
        enter, recover = guard.enter, batcher._recover

        def disturbed(entered: Any, expected_s: float) -> int:
            begin_ns = enter(entered, expected_s)
            if self.random.random() < 0.01:
                guard.is_interrupted = True
                entered.request_abort(True)
            return begin_ns

        def recovered(code: int, shares: Any) -> None:
            self.said.append(f"  code {code}")
            assert code == 2 or (code == 1 and batcher.context.model.window_tok), code
            recover(code, shares)

        guard.is_disturbed, guard.enter = True, disturbed  # type: ignore[assignment,attr-defined]
        batcher._recover = recovered  # type: ignore[method-assign]

    def start(self) -> None:
        number = self.number()
        self._pending.add(number)
        self.send(Load(number, self._config))
        self.until(lambda: not self._pending)
        assert self.batcher is not None
        self.inbox.between_steps = self._between_steps

    def act(self) -> None:
        """One random command."""
        acts: dict[Callable[[], None], int] = {
            self._generate: 40,
            self._cancel: 12,
            self._apply: 10,
            self._forget: 4,
            self._save: 3,
            self._restore: 3,
            self._template: 1,
            self._load: 1,
            self._cancel_load: 1,
        }
        self.random.choices(list(acts), list(acts.values()))[0]()

    def _generate(self) -> None:
        draw = self.random
        number = self.number()
        name = draw.choice(["", *(f"c{n}" for n in range(_CONVERSATIONS))])
        rest: dict[str, Any] = {
            "max_new_tok": draw.choice([None, 0, 1, 2, 5, 20, 60, 150, -1]),
            "ignore_eog": draw.random() < 0.4,
            "stop": tuple(draw.sample(["ba", "do", " zi", "xyz"], draw.choice([0, 0, 0, 1, 2]))),
        }
        messages: tuple[ChatMessage, ...] = ()
        if draw.random() < 0.2:
            roles = ["user", "assistant"] * 2
            words = ["one two three " * draw.randint(1, 9), "baba", "four five " * 5, "dodo"]
            turns = draw.choice([1, 3])
            messages = tuple(map(ChatMessage, roles[:turns], words[:turns]))  # type: ignore[arg-type]
        else:
            rest["prompt_tokens"] = tuple(self._prompt(name))
        command = Generate(number, name, messages, **rest)
        self.followed[number] = Followed(command)
        self.send(command)

    def _prompt(self, name: str) -> list[int]:
        draw = self.random
        new = [draw.randint(300, 500) for _ in range(draw.choice([1, 5, 30, 90, 200, 280]))]
        begun = self._texts.get(name, [])
        kind = draw.random()
        if kind < 0.25:  # what everybody begins with
            begun = [300 + n % 50 for n in range(60)]
        elif kind < 0.4:
            begun = begun[: draw.randint(0, len(begun))]
        elif kind < 0.5:
            begun, new = begun[:], begun[len(begun) // 2 :] or new
        elif kind < 0.7:
            begun = []
        prompt = (begun + new)[:600]
        self._texts[name] = prompt
        return prompt

    def _cancel(self) -> None:
        running = [n for n, one in self.followed.items() if not one.is_over]
        if running:
            self.send(Cancel(self.random.choice(running)))

    def _forget(self) -> None:
        self.send(Forget(f"c{self.random.randrange(_CONVERSATIONS)}"))

    def _apply(self) -> None:
        draw = self.random
        same = draw.random() < 0.85
        table = self._table if same else self._others
        keys = draw.sample(list(table), draw.choice([1, 1, 2]))
        values: dict[str, object] = {key: draw.choice(table[key]) for key in keys}
        if "spec_types" in values:
            wants_model = "draft-simple" in values["spec_types"]  # type: ignore[operator]
            values["draft_model_path"] = str(self._cast.draft_path) if wants_model else ""
        self._change(values)
        if not same:
            for one in self.followed.values():
                one.is_plain = one.is_plain and one.is_over

    def _change(self, values: dict[str, object]) -> None:
        config = self._config.with_values(values)
        if config.kv_unified:
            pool = self.random.choice([1, config.slots, max(1, config.slots // 2)])
            config = config.with_values({"ctx_total_tok": config.ctx_per_slot_tok * pool})
        number = self.number()
        self._pending.add(number)
        self.said.append(f"  {number}: {config.changed_from(self._config)} {values}")
        self.send(Apply(number, config))

    def _load(self) -> None:
        path = self.random.choice(list(self._cast.references))
        number = self.number()
        self._pending.add(number)
        self.send(Load(number, self._config.with_values({"model_path": str(path)})))

    def _cancel_load(self) -> None:
        self.send(CancelLoad())

    def _save(self) -> None:
        number = self.number()
        path = str(self._folder / f"{self.random.randrange(3)}.slot")
        self._pending.add(number)
        self._files.append(path)
        self.send(SaveSlot(number, f"c{self.random.randrange(_CONVERSATIONS)}", path))

    def _restore(self) -> None:
        if self._files:
            number = self.number()
            self._pending.add(number)
            name = f"c{self.random.randrange(_CONVERSATIONS)}"
            self.send(RestoreSlot(number, name, self.random.choice(self._files)))

    def _template(self) -> None:
        self.send(SetTemplate(self.random.choice(["", "edited"])))

    # --- What must be true -------------------------------------------------------------------

    def turns(self) -> None:
        """A random number of turns."""
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3, 10, 40])):
            if not self.inbox and not self.loop.is_busy():
                return
            self.turn()

    def turn(self) -> None:
        if self.batcher is not None:
            self._disturb(self.batcher)
        self.loop.turn()

    def check(self) -> None:
        """Books against the cache, and every request that is over."""
        batcher = self.batcher
        if batcher is not None:
            batcher.settle()
            check_books(batcher)
        for number, one in list(self.followed.items()):
            if one.is_over:
                del self.followed[number]
                self._check_one(one)

    def _check_one(self, one: Followed) -> None:
        references = self._cast.references
        reference = next(iter(references.values())) if one.path is None else references[one.path]
        one.check(reference, is_greedy=self._checks_scores)
        self.answered += one.finished is not None
        self.proven += one.is_plain and bool(one.tokens) and self._checks_scores

    def quiet(self) -> None:
        """Let everything come to its end, forget all, and see that nothing is left."""
        self.inbox.between_steps = lambda: False
        for one in [one for one in self.followed.values() if one.command.max_new_tok in (-1, None)]:
            self.send(Cancel(one.command.request_id))
        self.until(lambda: not self._pending and all(one.is_over for one in self.followed.values()))
        self.check()
        for number in range(_CONVERSATIONS):
            self.send(Forget(f"c{number}"))
        self.until(lambda: not self.inbox)
        batcher = self.batcher
        if batcher is not None:
            check_books(batcher)
            for slot in batcher.slots:
                assert slot.is_free
                assert not slot.cached or not slot.conversation_id
            assert not [k for k in batcher.reuse.cache.kept if k.conversation_id]

    def close(self) -> None:
        self.loop.close()
