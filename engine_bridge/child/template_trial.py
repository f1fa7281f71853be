"""A chat template tried on a sample, and asked what its users run into.

Knows templates and tokens; must not know threads or the pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine_bridge.child.special_text import apart, control_texts
from engine_bridge.child.template import (
    WAY_OUT,
    Fragment,
    Rendered,
    TemplateError,
    TemplateRenderer,
)
from engine_bridge.child.trial_source import TrialSource
from engine_bridge.protocol import (
    ChatMessage,
    CheckTemplate,
    TemplateChecked,
    TemplateFinding,
    TemplatePiece,
)

# What a person reads through, and a text view shows at once.
_MOST_CHARACTERS = 40_000
_MOST_PIECES = 2_000
_THINKING = "enable_thinking"
_SYSTEM, _QUESTION = "Answer in verse.", "What is a slot?"


def tried(
    command: CheckTemplate,
    source: TrialSource,
    renderer: TemplateRenderer,
    is_overtaken: Callable[[], bool],
) -> TemplateChecked | None:
    """Render the sample of ``command`` and look into the template.

    Args:
        command: What to try.
        source: The model's vocabulary.
        renderer: Renders templates under its deadline.
        is_overtaken: Whether nobody waits for the answer any more.

    Returns:
        The answer; None where it came to nothing because ``is_overtaken`` said so.
    """
    trial = _Trial(command.template, source, renderer)
    has_thinking = _THINKING in command.template
    findings: list[TemplateFinding] = []
    try:
        rendered = renderer.render(
            command.template,
            command.messages,
            bos=source.bos,
            eos=source.eos,
            add_generation_prompt=command.add_generation_prompt,
            special_texts=source.special_texts,
            enable_thinking=command.enable_thinking,
        )
        tokens = source.tokens(rendered.fragments)
    except TemplateError as error:
        if error.is_refusal:  # of this sample; it may take others
            findings = trial.findings(is_overtaken)
        return None if is_overtaken() else TemplateChecked(
            command.check_id, error=sentence_of(error), line=error.line, findings=tuple(findings),
            has_thinking=has_thinking,
        )  # fmt: skip
    findings = [trial.bos_finding(tokens), *trial.findings(is_overtaken)]
    if is_overtaken():
        return None
    pieces, is_cut = _shortened(trial.pieces(rendered, tokens))
    return TemplateChecked(
        command.check_id,
        pieces=pieces,
        tokens_tok=len(tokens) if source.counts_tokens else 0,
        is_cut=is_cut,
        note=rendered.note,
        findings=tuple(findings),
        has_thinking=has_thinking,
    )


class _Trial:
    """One template with one vocabulary."""

    def __init__(self, template: str, source: TrialSource, renderer: TemplateRenderer) -> None:
        self._template = template
        self._source = source
        self._renderer = renderer
        self._specials = control_texts(source.special_texts)

    def pieces(self, rendered: Rendered, tokens: list[int]) -> Iterator[TemplatePiece]:
        """What is sent, with its control tokens apart; the BOS that the engine adds included."""
        source = self._source
        adds_bos = tokens[:1] == [source.bos_token] and not rendered.text.startswith(source.bos)
        if source.bos and adds_bos:
            yield TemplatePiece(source.bos, "control")
        for fragment in rendered.fragments:
            yield from self._pieces_of(fragment)

    def _pieces_of(self, fragment: Fragment) -> Iterator[TemplatePiece]:
        if not fragment.parse_special:
            yield TemplatePiece(fragment.text, "typed")
            return
        for text, is_special in apart(fragment.text, self._specials):
            yield TemplatePiece(text, "control" if is_special else "text")

    def bos_finding(self, tokens: list[int]) -> TemplateFinding:
        """How often the prompt begins (S21)."""
        source = self._source
        count = tokens.count(source.bos_token) if source.bos else 0
        if count > 1:
            return TemplateFinding(
                "bos", "bad",
                f"The begin-of-text token {source.bos} stands in the prompt {count} times. Answers "
                "get worse by it without an error: take it out of the template, or out of the "
                "place where it is written again.",
            )  # fmt: skip
        if count == 1:
            return TemplateFinding(
                "bos", "good", f"The begin-of-text token {source.bos} stands there exactly once."
            )
        if source.adds_bos:
            return TemplateFinding("bos", "bad", "The prompt has no begin-of-text token.")
        return TemplateFinding("bos", "good", "This model wants no begin-of-text token.")

    def findings(self, is_overtaken: Callable[[], bool]) -> list[TemplateFinding]:
        """Every further check; what stops the template ends them."""
        found: list[TemplateFinding] = []
        checks = (self._typed, self._system, self._two_users, self._thinking)
        for name, check in zip(("typed", "system", "two_users", "thinking"), checks, strict=True):
            if is_overtaken():
                return found
            try:
                found.append(check())
            except TemplateError as error:
                words = f"Not every conversation goes through this template. {sentence_of(error)}"
                found.append(TemplateFinding(name, "bad", words))
                if not error.is_refusal:
                    return found
        return found

    def _as_it_is(self, *messages: ChatMessage, enable_thinking: bool = True) -> Rendered:
        return self._renderer.render_as_it_is(
            self._template,
            messages,
            bos=self._source.bos,
            eos=self._source.eos,
            special_texts=self._source.special_texts,
            enable_thinking=enable_thinking,
        )

    def _controls(self, text: str) -> int:
        """Control tokens in the prompt of a user who says ``text``."""
        tokens = self._source.tokens(self._as_it_is(ChatMessage("user", text)).fragments)
        return sum(token in self._source.special_tokens for token in tokens)

    def _typed(self) -> TemplateFinding:
        """Whether a user can write control tokens (S23)."""
        special = self._source.eos or next(iter(self._specials), "")
        if not special:
            return TemplateFinding("typed", "good", "The vocabulary has no control tokens to type.")
        if self._controls(f"a {special} b") == self._controls("a b"):
            return TemplateFinding(
                "typed", "good",
                f"Special tokens that a user types stay text: “{special}” in a message ends "
                "nothing and begins nothing.",
            )  # fmt: skip
        return TemplateFinding(
            "typed", "bad",
            f"A user who types “{special}” writes a control token: the template changes the text "
            "of messages so that it cannot be kept apart.",
        )  # fmt: skip

    def _system(self) -> TemplateFinding:
        """Whether a system prompt is taken (S19)."""
        messages = (ChatMessage("system", _SYSTEM), ChatMessage("user", _QUESTION))
        try:
            text = self._as_it_is(*messages).text
        except TemplateError as error:
            if not error.is_refusal:
                raise
            return TemplateFinding(
                "system", "note",
                f"A system prompt is refused: “{error.words}” TuneDeck puts its text in front of "
                "the first message instead.",
            )  # fmt: skip
        if _SYSTEM in text:
            return TemplateFinding("system", "good", "A system prompt is accepted.")
        return TemplateFinding(
            "system", "note",
            "A system prompt is left out without a word. TuneDeck puts its text in front of the "
            "first message instead.",
        )  # fmt: skip

    def _two_users(self) -> TemplateFinding:
        """Whether a question may follow one that got no answer (S19)."""
        messages = (ChatMessage("user", _QUESTION), ChatMessage("user", _SYSTEM))
        try:
            self._as_it_is(*messages)
        except TemplateError as error:
            if not error.is_refusal:
                raise
            return TemplateFinding(
                "two_users", "note",
                f"Two user messages in a row are refused: “{error.words}” TuneDeck joins them to "
                "one.",
            )  # fmt: skip
        return TemplateFinding("two_users", "good", "Two user messages in a row are accepted.")

    def _thinking(self) -> TemplateFinding:
        if _THINKING not in self._template:
            return TemplateFinding("thinking", "good", "There is no thinking switch.")
        question = ChatMessage("user", _QUESTION)
        on, off = (self._as_it_is(question, enable_thinking=is_on).text for is_on in (True, False))
        if on == off:
            return TemplateFinding(
                "thinking", "note",
                "The template names a thinking switch (enable_thinking), but it changes nothing "
                "here.",
            )  # fmt: skip
        return TemplateFinding(
            "thinking", "good", "There is a thinking switch (enable_thinking), and it works."
        )


def sentence_of(error: TemplateError) -> str:
    """For the writer of the template, who is told what is wrong and needs no way round it."""
    said = str(error).removesuffix(WAY_OUT).strip()
    return said.replace("The model's chat template", "The template", 1)


def _shortened(pieces: Iterable[TemplatePiece]) -> tuple[tuple[TemplatePiece, ...], bool]:
    """The beginning of ``pieces``, and whether there is more."""
    kept: list[TemplatePiece] = []
    room = _MOST_CHARACTERS
    for piece in pieces:
        if len(piece.text) > room or len(kept) == _MOST_PIECES:
            if room and len(kept) < _MOST_PIECES:
                kept.append(TemplatePiece(piece.text[:room], piece.kind))
            return tuple(kept), True
        kept.append(piece)
        room -= len(piece.text)
    return tuple(kept), False
