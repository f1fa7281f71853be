"""From a conversation to a prompt, by the model's own chat template.

Knows what templates refuse and how to say it; running them is ``template_process``'s, and what
users typed stays text by ``special_text``. Must not know tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine_bridge.child.special_text import (
    Fragment,
    cleaned,
    control_texts,
    fragments_of,
    marked,
    without_marks,
)
from engine_bridge.child.template_process import (
    TemplateDiedError,
    TemplateProcess,
    TemplateTimeoutError,
)
from engine_bridge.protocol import ChatMessage
from engine_bridge.thoughts import MARK_TEXTS

__all__ = ["Fragment", "Rendered", "TemplateError", "TemplateRenderer"]

_DEADLINE_S = 2.0
# For those who wait for an answer; whoever edits the template has better ways.
WAY_OUT = "Continue as plain text completion, or get another file of this model."
_SYSTEM_NOTE = (
    "This model's template takes no system prompt; its text was put in front of the first message."
)
_TURNS_NOTE = (
    "This model's template wants user and assistant to take turns; messages of the same side that "
    "followed each other were joined."
)


class TemplateError(Exception):
    """The template gave no prompt; the message is a sentence for the user.

    Attributes:
        line: Line of the template that it comes from, 0 if unknown.
        words: The template's own words; empty where it said nothing.
        is_refusal: Whether the template refused this conversation, and might take another.
    """

    def __init__(
        self, sentence: str, *, line: int = 0, words: str = "", is_refusal: bool = False
    ) -> None:
        """Failed, as ``sentence`` says."""
        super().__init__(sentence)
        self.line = line
        self.words = words
        self.is_refusal = is_refusal


@dataclass(frozen=True)
class Rendered:
    """A prompt.

    Attributes:
        fragments: Its pieces in order, to be tokenised one by one. The text begins with the BOS
            token's text where the template writes it; the caller sees to it that there is one BOS.
        note: What had to be changed for the template to take the conversation; empty if nothing.
    """

    fragments: tuple[Fragment, ...]
    note: str = ""

    @property
    def text(self) -> str:
        """The whole prompt."""
        return "".join(fragment.text for fragment in self.fragments)


class TemplateRenderer:
    """Renders conversations in a helper process. Safe to use from any thread; close it."""

    def __init__(self, deadline_s: float = _DEADLINE_S) -> None:
        """Give every rendering ``deadline_s`` seconds; the process starts when first needed."""
        self._deadline_s = deadline_s
        self._process = TemplateProcess()

    def start(self) -> None:
        """Start the helper ahead of the first conversation.

        Raises:
            TemplateError: If it cannot be started.
        """
        try:
            self._process.start()
        except (TemplateDiedError, TemplateTimeoutError):
            raise TemplateError(_died_sentence()) from None

    def close(self) -> None:
        """End the helper process."""
        self._process.close()

    def render(
        self,
        template_source: str,
        messages: Sequence[ChatMessage],
        *,
        bos: str,
        eos: str,
        add_generation_prompt: bool,
        special_texts: Sequence[str],
        enable_thinking: bool = True,
    ) -> Rendered:
        """Make a prompt of ``messages``.

        Args:
            template_source: The model's Jinja template.
            messages: The conversation; NUL characters are removed.
            bos: Text of the BOS token.
            eos: Text of the EOS token.
            add_generation_prompt: Whether to open the assistant's turn.
            special_texts: Texts of the vocabulary's control tokens; where a message holds one it
                stays text. User-defined tokens need not be among them: llama.cpp reads their text
                as the token in any case.
            enable_thinking: The thinking switch, for templates that have one.

        Raises:
            TemplateError: If the template is refused, fails or takes too long; in a sentence.
        """
        specials = control_texts(special_texts)
        # The marks of a thought are the model's own in its answers: templates look for them.
        said = tuple(text for text in specials if text not in MARK_TEXTS)
        clean = [
            ChatMessage(
                m.role, marked(cleaned(m.content), said if m.role == "assistant" else specials)
            )
            for m in messages
        ]
        refusal: TemplateError | None = None
        for attempt, note in _attempts(clean):
            variables: dict[str, object] = {
                "messages": [{"role": m.role, "content": m.content} for m in attempt],
                "bos_token": bos,
                "eos_token": eos,
                "add_generation_prompt": add_generation_prompt,
                "enable_thinking": enable_thinking,
            }
            try:
                text = self._render_once(template_source, variables)
            except TemplateError as error:
                if not error.is_refusal:
                    raise
                refusal = refusal or error
                continue
            if not _drops_system(attempt, text):
                return Rendered(fragments_of(text), note)
        if refusal is not None:
            raise refusal
        raise TemplateError(
            "The model's chat template leaves the system prompt out, and there is no message to "
            "put it into. Write a message, or clear the system prompt."
        )

    def render_as_it_is(
        self,
        template_source: str,
        messages: Sequence[ChatMessage],
        *,
        bos: str,
        eos: str,
        special_texts: Sequence[str],
        enable_thinking: bool = True,
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, object]] = (),
    ) -> Rendered:
        """Try a template on ``messages``, with nothing changed to please it.

        Args:
            template_source: As for ``render``.
            messages: As for ``render``.
            bos: As for ``render``.
            eos: As for ``render``.
            special_texts: As for ``render``.
            enable_thinking: The thinking switch.
            add_generation_prompt: Whether to open the assistant's turn.
            tools: Functions to offer, each as llama-server hands it to a template; none for none.

        Raises:
            TemplateError: As from ``render``; also where the template refuses this conversation.
        """
        specials = control_texts(special_texts)
        variables: dict[str, object] = {
            "messages": [
                {"role": m.role, "content": marked(cleaned(m.content), specials)} for m in messages
            ],
            "bos_token": bos,
            "eos_token": eos,
            "add_generation_prompt": add_generation_prompt,
            "enable_thinking": enable_thinking,
        }
        if tools:
            variables["tools"] = list(tools)
        return Rendered(fragments_of(self._render_once(template_source, variables)))

    def _render_once(self, source: str, variables: dict[str, object]) -> str:
        try:
            answer = self._process.ask({"source": source, "variables": variables}, self._deadline_s)
        except TemplateTimeoutError:
            raise TemplateError(
                f"The model's chat template did not finish within {self._deadline_s:g} s and was "
                f"stopped. {WAY_OUT}"
            ) from None
        except TemplateDiedError:
            raise TemplateError(_died_sentence()) from None
        text = answer.get("text")
        if isinstance(text, str):
            return text
        raise _error_of(answer)


def _attempts(messages: list[ChatMessage]) -> Iterator[tuple[list[ChatMessage], str]]:
    """The conversation as it is, then in the shapes that strict templates take."""
    yield messages, ""
    without_system = _system_merged(messages)
    if without_system != messages:
        yield without_system, _SYSTEM_NOTE
    in_turns = _turns_joined(messages)
    if in_turns != messages:
        yield in_turns, _TURNS_NOTE
    both = _turns_joined(without_system)
    if both not in (messages, without_system, in_turns):
        yield both, f"{_SYSTEM_NOTE} {_TURNS_NOTE}"


def _system_merged(messages: list[ChatMessage]) -> list[ChatMessage]:
    """System texts in front of the first user message, joined as llama-server joins them."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    first_user = next((i for i, m in enumerate(rest) if m.role == "user"), None)
    if not system or first_user is None:
        return messages
    rest[first_user] = ChatMessage("user", "\n".join([*system, rest[first_user].content]))
    return rest


def _turns_joined(messages: list[ChatMessage]) -> list[ChatMessage]:
    joined: list[ChatMessage] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = ChatMessage(message.role, f"{joined[-1].content}\n\n{message.content}")
        else:
            joined.append(message)
    return joined


def _drops_system(messages: list[ChatMessage], text: str) -> bool:
    """Whether a system message's words are missing from the prompt."""
    plain = without_marks(text)
    return any(
        m.role == "system" and without_marks(m.content).strip() not in plain for m in messages
    )


def _error_of(answer: dict[str, object]) -> TemplateError:
    kind = answer.get("error")
    words = " ".join(str(answer.get("message", "")).split())
    number = answer.get("line")
    line = number if isinstance(number, int) else 0
    if kind == "raised":
        return TemplateError(
            f"The model's chat template refuses this conversation: “{words}” Change the messages "
            "accordingly (for example, begin with a user message), or continue as plain text.",
            line=line,
            words=words,
            is_refusal=True,
        )
    if kind == "syntax":
        sentence = f"The model's chat template has a mistake in line {line}: {words} {WAY_OUT}"
    elif kind == "forbidden":
        sentence = (
            f"The model's chat template tried something that templates may not do ({words}) and "
            f"was stopped. Do not trust this file. {WAY_OUT}"
        )
    elif kind in ("long", "memory"):
        sentence = (
            "The model's chat template wrote more text than any context holds and was stopped. "
            f"{WAY_OUT}"
        )
    else:
        where = f" in line {line}" if line else ""
        sentence = f"The model's chat template failed{where}: {words}. {WAY_OUT}"
    return TemplateError(sentence, line=line, words=words)


def _died_sentence() -> str:
    return f"The process that runs the model's chat template ended unexpectedly. {WAY_OUT}"
