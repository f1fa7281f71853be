"""Requests from their arrival to their slot: prepared, waiting, running.

Knows who is next; computing is ``batcher``'s.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec

from engine_bridge.child.engine import Engine
from engine_bridge.child.prompts import PromptReady, PromptWorker, Renderer
from engine_bridge.child.stream import Prepared
from engine_bridge.child.waiting import WaitingLine
from engine_bridge.protocol import Event, Generate, Logged, Refused, TemplateSet
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.rules import Problem

# A first step waits so long at most for prompts that are being prepared.
_GATHER_NS = 5_000_000


class Requests:
    """Every request that has no final event yet.

    Attributes:
        engine: What runs them, None before the first load.

    Args:
        renderer: Renders chat templates.
        put: Brings a prepared prompt to the loop; called on the worker's thread.
        emit: Takes events.
        clock: Time in nanoseconds.
    """

    def __init__(
        self,
        renderer: Renderer,
        put: Callable[[Any], None],
        emit: Callable[[Event], None],
        clock: Callable[[], int],
    ) -> None:
        """Start the thread that prepares prompts."""
        self.engine: Engine | None = None
        self._emit = emit
        self._clock = clock
        self._worker = PromptWorker(renderer, put)
        self._line = WaitingLine(emit)
        self._preparing: dict[int, Generate] = {}
        self._gather_until_ns = 0
        self._held: list[tuple[Generate, int]] = []
        self._edited: tuple[str, str] | None = None  # a model's own template and what replaces it

    @property
    def vocabulary_lock(self) -> threading.Lock:
        """Held while a model's vocabulary is used off the loop's thread, and to close a model."""
        return self._worker.lock

    @property
    def is_busy(self) -> bool:
        """Whether there is a step to compute."""
        return self.engine is not None and bool(self.engine.batcher.streams)

    @property
    def is_idle(self) -> bool:
        """Whether there is no request at all, not even one that is prepared or waits."""
        return not (self.is_busy or self._preparing or self._line or self._held)

    def settle(self) -> None:
        """Bring the books of the streams up to date."""
        if self.engine is not None:
            self.engine.batcher.settle()

    def turn(self, is_wanted: Callable[[], bool]) -> None:
        """Give free slots to those who wait, then compute a step.

        Args:
            is_wanted: Whether something has arrived; until then it may be several steps.
        """
        if self.engine is None:
            return
        batcher = self.engine.batcher
        was_idle = not batcher.streams
        while self._line and batcher.start(self._line.first):
            self._line.leave(self._line.first.command.request_id)
        if self._line:
            self._line.tell()
        if was_idle:
            self._gather_until_ns = self._clock() + _GATHER_NS
        if batcher.streams and not self.gathering_s():
            batcher.step(is_wanted)

    def gathering_s(self) -> float:
        """Seconds to wait for prompts that are about to be ready, so that the first step has them.

        On a GPU a step costs nearly the same for one short prompt as for several; everywhere those
        that came a moment later would wait for a whole step before anything of them is read.
        """
        if not self._preparing:
            return 0.0
        return max(0.0, (self._gather_until_ns - self._clock()) / 1e9)

    def close(self) -> None:
        """End the thread and free the engine."""
        self._worker.close()
        if self.engine is not None:
            self.engine.close()
            self.engine = None

    # --- Commands --------------------------------------------------------------------------

    def generate(self, command: Generate, received_ns: int, *, is_loading: bool) -> None:
        """Take a request up.

        Args:
            command: The request.
            received_ns: When it arrived.
            is_loading: Whether a model is on its way that could take it.
        """
        if self._is_known(command.request_id):
            self._refuse(command, f"Request {command.request_id} is already under way.")
        elif command.max_new_tok is not None and command.max_new_tok < -1:
            self._refuse(
                command,
                f"An answer of at most {command.max_new_tok:,} tokens is impossible. Ask for 0 or "
                "more, or −1 for no limit but the context.",
            )
        elif not (command.messages or command.prompt_tokens):
            self._refuse(command, "There is nothing to answer: the conversation is empty.")
        else:
            self._take(command, received_ns, is_loading)

    def prompt_ready(self, ready: PromptReady, *, is_loading: bool) -> None:
        """A prompt is tokenised: let it wait for a slot.

        Args:
            ready: The prompt.
            is_loading: Whether a model is on its way that could take it.
        """
        command = ready.command
        # Cancelled meanwhile, and answered then; the number may belong to another request by now.
        if self._preparing.get(command.request_id) is not command:
            return
        del self._preparing[command.request_id]
        if self.engine is None or ready.source is not self.engine.source:
            self._take(command, ready.received_ns, is_loading)  # the model changed meanwhile
            return
        problem = ready.problem or self._size_problem(len(ready.tokens), self.engine)
        if problem is not None:
            self._emit(Refused("generate", command.request_id, problem))
            return
        if ready.note:
            self._emit(Logged("info", ready.note))
        limit = command.max_new_tok
        if limit is None:
            limit = self.engine.config.max_new_tok
        self._line.add(
            Prepared(
                command,
                ready.tokens,
                ready.received_ns,
                limit,
                starts_in_thought=ready.starts_in_thought,
                message_starts=ready.message_starts,
            )
        )

    def cancel(self, request_id: int) -> None:
        """End a request wherever it is."""
        stream = None if self.engine is None else self.engine.batcher.find(request_id)
        if stream is not None and self.engine is not None:
            self.engine.batcher.end(stream, "cancelled", "")
            return
        held = [entry for entry in self._held if entry[0].request_id == request_id]
        for entry in held:
            self._held.remove(entry)
        waits = self._line.leave(request_id) is not None
        prepares = self._preparing.pop(request_id, None) is not None
        if held or waits or prepares:
            problem = Problem((), "The request was cancelled before it had a slot.")
            self._emit(Refused("generate", request_id, problem, is_cancelled=True))

    def forget(self, conversation_id: str) -> None:
        """Let anyone have the slot of a closed conversation."""
        if self.engine is not None:
            self.engine.batcher.forget(conversation_id)

    def set_template(self, template: str) -> None:
        """Make prompts with ``template`` while this model or another with the same own one runs.

        Args:
            template: Its source; the empty string goes back to the model's own.
        """
        if self.engine is None:
            problem = Problem((), "No model is loaded, so there is no template to replace.")
            self._emit(Refused("set_template", 0, problem))
            return
        source = self.engine.source
        is_edited = bool(template) and template != source.own_template
        self._edited = (source.own_template, template) if is_edited else None
        source.template = template if is_edited else source.own_template
        self._emit(TemplateSet(is_edited))

    def interrupt(self, request_id: int | None) -> None:
        """End a long step early; from any thread."""
        engine = self.engine
        if engine is not None:
            engine.batcher.interrupt(request_id)

    # --- Changes of the engine ---------------------------------------------------------------

    def set_engine(self, engine: Engine | None, why: str) -> None:
        """Replace what runs the requests and free the old one.

        Args:
            engine: The new one; None while there is none.
            why: Sentence for the requests that are cut short by it.
        """
        old, self.engine = self.engine, engine
        if old is not None:
            for stream in list(old.batcher.streams):
                old.batcher.end(stream, "failed", why)
            with self._worker.lock:
                old.close()
        for prepared in list(self._line):  # its tokens may mean nothing to the new model
            self._line.leave(prepared.command.request_id)
            self._held.append((prepared.command, prepared.received_ns))
        if engine is not None:
            self._keep_template(engine)
            self.take_up_held()

    def take_up_held(self) -> None:
        """Go on with requests that waited for a model; refuse them if none came."""
        held, self._held = self._held, []
        for command, received_ns in held:
            if self.engine is not None:
                self._prepare(command, received_ns)
            else:
                self._refuse(command, "The model it waited for could not be loaded.")

    def check_waiting(self) -> None:
        """Refuse those in line whose prompt no longer fits into a slot."""
        if self.engine is None:
            return
        for prepared in list(self._line):
            problem = self._size_problem(len(prepared.prompt), self.engine)
            if problem is not None:
                request_id = prepared.command.request_id
                self._line.leave(request_id)
                self._emit(Refused("generate", request_id, problem))

    # --- Details ---------------------------------------------------------------------------

    def _keep_template(self, engine: Engine) -> None:
        """A model that was only loaded anew keeps the user's edited template."""
        if self._edited is not None and self._edited[0] == engine.source.own_template:
            engine.source.template = self._edited[1]
        else:
            self._edited = None

    def _is_known(self, request_id: int) -> bool:
        running = self.engine is not None and self.engine.batcher.find(request_id) is not None
        waits = any(prepared.command.request_id == request_id for prepared in self._line)
        held = any(command.request_id == request_id for command, _ in self._held)
        return running or waits or held or request_id in self._preparing

    def _take(self, command: Generate, received_ns: int, is_loading: bool) -> None:
        if self.engine is not None:
            self._prepare(command, received_ns)
        elif is_loading:
            self._held.append((command, received_ns))
        else:
            self._refuse(command, "No model is loaded. Choose one and load it first.")

    def _prepare(self, command: Generate, received_ns: int) -> None:
        assert self.engine is not None
        if not all(command.stop):
            command = msgspec.structs.replace(command, stop=tuple(filter(None, command.stop)))
        self._preparing[command.request_id] = command
        self._worker.prepare(command, received_ns, self.engine.source)

    def _refuse(self, command: Generate, sentence: str) -> None:
        self._emit(Refused("generate", command.request_id, Problem((), sentence)))

    def _size_problem(self, prompt_tok: int, engine: Engine) -> Problem | None:
        cap = engine.batcher.slots[0].cap_tok
        if prompt_tok == 0:
            return Problem((), "There is nothing to answer: the prompt has no tokens.")
        if prompt_tok < cap:
            return None
        return _too_long(prompt_tok, cap, engine.config, engine.facts.ctx_train_tok)


def _too_long(prompt_tok: int, cap_tok: int, config: EngineConfig, trained_tok: int) -> Problem:
    sentence = f"The prompt has {prompt_tok:,} tokens and a slot holds {cap_tok:,}"
    # Room for an answer, as far as the model goes.
    wanted = pad_context_tok(prompt_tok + max(512, prompt_tok // 4))
    if trained_tok:
        wanted = min(wanted, max(trained_tok, cap_tok))
    if wanted <= prompt_tok:
        why = ", which is as far as this model was trained."
        if cap_tok < trained_tok:
            why = f"; a larger one would not help, as this model was trained for {trained_tok:,}."
        return Problem(
            ("ctx_per_slot_tok",),
            f"{sentence}{why} Shorten the prompt, or take a model with a longer context.",
        )
    fix: dict[str, Value] = {"ctx_per_slot_tok": wanted}
    if config.kv_unified and config.pool_tok < wanted:
        fix["ctx_total_tok"] = pad_context_tok(wanted)
    return Problem(
        ("ctx_per_slot_tok",),
        f"{sentence}, its answer included. Shorten the prompt, or give each slot {wanted:,}.",
        fix,
    )
