"""From a request to the tokens of its prompt, on a thread of its own.

A template may take seconds and a pasted book too; neither may hold up a step. Knows templates and
tokenising; must not know slots.
"""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.llama import Model
from engine_bridge.child.message_starts import opening_of, starts_of
from engine_bridge.child.slot import keeps_state
from engine_bridge.child.template import Fragment, Rendered, TemplateError
from engine_bridge.protocol import ChatMessage, Generate
from engine_bridge.settings.rules import Problem
from engine_bridge.thoughts import ThoughtReader, opens_thought


class Renderer(Protocol):
    """What turns a conversation into text; see ``template.TemplateRenderer``."""

    def render(
        self,
        template_source: str,
        messages: Sequence[ChatMessage],
        *,
        bos: str,
        eos: str,
        add_generation_prompt: bool,
        special_texts: Sequence[str],
    ) -> Rendered:
        """Make a prompt of ``messages``."""
        ...


class PromptSource:
    """What a loaded model contributes to a prompt.

    Attributes:
        model: Its vocabulary.
        own_template: Source of the chat template in its file, or the empty string.
        template: Source of the one in force; differs where the user edited it.
        special_tokens: Its control tokens.
        special_texts: Their texts.
        guard: Tokens of a line feed at the beginning of a text, if the vocabulary puts a space in
            front of every text; else empty.
        bos: Text of its BOS token, or the empty string.
        eos: Text of its EOS token, or the empty string.
        eog: Tokens that end a generation.
        opening: A template, and the tokens that it writes before a message of the user.
    """

    def __init__(self, model: Model) -> None:
        """Look everything up once; takes some tenths of a second for a large vocabulary."""
        self.model = model
        self.own_template = self.template = model.chat_template
        self.special_tokens = frozenset(model.special_tokens())
        self.special_texts = tuple(filter(None, map(model.text_of, self.special_tokens)))
        self.guard = _space_guard(model)
        self.bos = model.text_of(model.bos) if model.bos >= 0 else ""
        self.eos = model.text_of(model.eos) if model.eos >= 0 else ""
        self.eog = model.eog
        self.opening: tuple[str, list[int]] = ("", [])

    @property
    def needs_starts(self) -> bool:
        """Whether it matters where messages begin: its memory cannot be cut everywhere."""
        return keeps_state(self.model) or self.model.window_tok > 0


@dataclass(frozen=True)
class PromptReady:
    """What the worker hands back.

    Attributes:
        command: The request.
        received_ns: When it arrived.
        source: What it was prepared with.
        tokens: (tokens,) int32; empty where there is a problem, or the model is gone.
        problem: Why there are none.
        note: Something the user should know about how the prompt was made.
        starts_in_thought: The prompt ends inside a thought.
        message_starts: Tokens in front of each message of the user, where that matters.
    """

    command: Generate
    received_ns: int
    source: PromptSource
    tokens: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    problem: Problem | None = None
    note: str = ""
    starts_in_thought: bool = False
    message_starts: tuple[int, ...] = ()


class PromptWorker:
    """Prepares one request after the other, in their order.

    Attributes:
        lock: Held while a model's vocabulary is used; take it to close a model.

    Args:
        renderer: Renders templates.
        put: Takes each ``PromptReady``; called on the worker's thread.
    """

    def __init__(self, renderer: Renderer, put: Callable[[PromptReady], None]) -> None:
        """Start the thread."""
        self.lock = threading.Lock()
        self._renderer = renderer
        self._put = put
        self._jobs: queue.SimpleQueue[tuple[Generate, int, PromptSource] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._run, name="prompts", daemon=True)
        self._thread.start()

    def prepare(self, command: Generate, received_ns: int, source: PromptSource) -> None:
        """Queue a request."""
        self._jobs.put((command, received_ns, source))

    def close(self) -> None:
        """End the thread after the jobs before it."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                ready = self._ready(*job)
            except Exception as error:
                traceback.print_exc()
                ready = PromptReady(*job, problem=_own_fault(error))
            self._put(ready)

    def _ready(self, command: Generate, received_ns: int, source: PromptSource) -> PromptReady:
        def ready(**parts: Any) -> PromptReady:  # noqa: ANN401
            return PromptReady(command, received_ns, source, **parts)

        if command.prompt_tokens:
            vocab = source.model.vocab
            if not (min(command.prompt_tokens) >= 0 and max(command.prompt_tokens) < vocab):
                return ready(problem=_foreign_tokens(vocab))
            return ready(tokens=np.asarray(command.prompt_tokens, np.int32))
        template = source.template  # another one may be set on the loop's thread meanwhile
        try:
            rendered = self._rendered(command, source, template)
        except TemplateError as error:
            return ready(problem=Problem(("model_path",), str(error)))
        with self.lock:
            if source.model.handle is None:
                return ready()
            tokens = tokenised(rendered.fragments, source)
        prompt = np.asarray(tokens, np.int32)
        return ready(
            tokens=prompt,
            note=rendered.note or _double_bos_note(command, source),
            starts_in_thought=bool(template) and _ends_in_thought(command, rendered),
            message_starts=self._starts(prompt, command, source, template),
        )

    def _starts(
        self, prompt: NDArray[np.int32], command: Generate, source: PromptSource, template: str
    ) -> tuple[int, ...]:
        if command.as_completion or not template or not source.needs_starts:
            return ()
        if source.opening[0] != template:  # once for each template
            opening = self._opening(template, source)
            with self.lock:
                if source.model.handle is None:
                    return ()
                tokens = source.model.tokenize(opening, add_special=False, parse_special=True)
            source.opening = (template, tokens if opening else [])
        return starts_of(prompt, source.opening[1])

    def _opening(self, template: str, source: PromptSource) -> str:
        def render(messages: Sequence[ChatMessage]) -> str:
            return self._renderer.render(
                template,
                messages,
                bos=source.bos,
                eos=source.eos,
                add_generation_prompt=False,
                special_texts=(),
            ).text

        try:
            return opening_of(render)
        except TemplateError:  # it takes no such conversation: then its messages are not told apart
            return ""

    def _rendered(self, command: Generate, source: PromptSource, template: str) -> Rendered:
        messages = command.messages
        if command.as_completion:
            return _plain(messages[-1:])
        if not template:
            return _plain(messages)
        unfinished = command.continue_answer and messages[-1:] and messages[-1].role == "assistant"
        rendered = self._renderer.render(
            template,
            messages[:-1] if unfinished else messages,
            bos=source.bos,
            eos=source.eos,
            add_generation_prompt=True,
            special_texts=source.special_texts,
        )
        if not unfinished:
            return rendered
        # The answer goes on where it stopped: its turn is opened but not closed.
        answer = Fragment(messages[-1].content, parse_special=False)
        return Rendered((*rendered.fragments, answer), rendered.note)


def _plain(messages: Sequence[ChatMessage]) -> Rendered:
    """Without a template: the texts one after the other, to be continued."""
    text = "\n\n".join(message.content for message in messages)
    return Rendered((Fragment(text, parse_special=False),))


def _ends_in_thought(command: Generate, rendered: Rendered) -> bool:
    """Whether what the model says next is thought: by its template, or by what it said before."""
    if command.as_completion:
        return False
    fragments = rendered.fragments
    is_continued = command.continue_answer and command.messages[-1:][0].role == "assistant"
    before, said = (fragments[:-1], fragments[-1:]) if is_continued else (fragments, ())
    reader = ThoughtReader(starts_inside=opens_thought("".join(f.text for f in before[-8:])))
    for fragment in said:
        reader.feed(fragment.text)
    return reader.is_inside


def tokenised(fragments: Sequence[Fragment], source: PromptSource) -> list[int]:
    """Tokens of a prompt with exactly one BOS in front, where the model wants one.

    Hold ``PromptWorker.lock`` unless nobody can close the model.
    """
    model, tokens = source.model, list[int]()
    for fragment in fragments:
        # Inside a text no space may be slipped in, so the piece is read behind a line feed.
        guard = source.guard if tokens and tokens[-1] not in source.special_tokens else []
        read = model.tokenize(
            ("\n" if guard else "") + fragment.text,
            add_special=False,
            parse_special=fragment.parse_special,
        )
        tokens += read[len(guard) :]
    # Exactly one BOS: templates write it, plain text does not.
    if model.adds_bos and tokens[:1] != [model.bos]:
        tokens.insert(0, model.bos)
    return tokens


def _space_guard(model: Model) -> list[int]:
    """See ``PromptSource.guard``: SentencePiece vocabularies put a space in front of a text."""

    def read(text: str) -> list[int]:
        return model.tokenize(text, add_special=False, parse_special=False)

    adds_space = b"".join(map(model.piece, read("a"))) == b" a"
    guard = read("\n")
    # It must not melt into what follows.
    return guard if adds_space and read("\na")[: len(guard)] == guard else []


def _double_bos_note(command: Generate, source: PromptSource) -> str:
    text = command.messages[-1].content if command.messages else ""
    is_plain = command.as_completion or not source.template
    if is_plain and source.bos and text.startswith(source.bos):
        return (
            f"The text begins with {source.bos}. The engine puts that token in front by itself, so "
            "the typed one is read as plain text; remove it."
        )
    return ""


def _foreign_tokens(vocab: int) -> Problem:
    return Problem(
        (),
        f"The prompt holds token numbers outside the vocabulary of {vocab:,}. Use tokens of the "
        "model that runs.",
    )


def _own_fault(error: Exception) -> Problem:
    return Problem(
        (),
        f"The prompt could not be made by a fault of TuneDeck ({type(error).__name__}: {error}). "
        "The engine's output has the details; please report them.",
    )
