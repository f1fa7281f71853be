"""What a chat template does with turns, endings, tools and the begin-of-text token.

For a file that is only looked at: everything is seen by rendering, nothing by guessing at the
source. Must not know threads or files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine_bridge.child.header_source import HeaderSource
from engine_bridge.child.special_text import apart, control_texts
from engine_bridge.child.template import Rendered, TemplateError, TemplateRenderer
from engine_bridge.protocol import ChatMessage, TemplateFinding

_QUESTION, _ANSWER, _NEXT = "Seven apples", "Forty-two oranges", "Sixteen lemons"
_SAMPLE = (
    ChatMessage("user", _QUESTION),
    ChatMessage("assistant", _ANSWER),
    ChatMessage("user", _NEXT),
)
_TOOL_NAME = "count_the_lemons"
_TOOL: dict[str, object] = {
    "type": "function",
    "function": {
        "name": _TOOL_NAME,
        "description": "Counts lemons.",
        "parameters": {
            "type": "object",
            "properties": {"crate": {"type": "string", "description": "Which crate."}},
            "required": ["crate"],
        },
    },
}
_WRITTEN = "Tools are written into the prompt{}."
_LONGEST_SHOWN = 90


def traits(
    template: str, source: HeaderSource, renderer: TemplateRenderer, for_tools: str = ""
) -> list[TemplateFinding]:
    """Every check; one that the template refuses or fails says so, and one that hangs is the last.

    Args:
        template: Jinja source that has rendered a sample.
        source: Special tokens of its file.
        renderer: Renders under a deadline.
        for_tools: The file's own template for conversations with tools; empty without one.
    """
    looked = _Looked(template, source, renderer, for_tools)
    checks: tuple[tuple[str, Callable[[], TemplateFinding | None]], ...] = (
        ("turns", looked.turns),
        ("generation", looked.generation),
        ("ending", looked.ending),
        ("twice", looked.twice),
        ("tools", looked.tools),
    )
    found: list[TemplateFinding] = []
    for name, check in checks:
        try:
            finding = check()
        except TemplateError as error:
            if not error.words:
                return found  # it hung or died: the next would as well
            finding = TemplateFinding(name, "note", _FAILED[name].format(error.words))
        if finding is not None:
            found.append(finding)
    return found


_REFUSED_TURNS = "A question, an answer and a question do not go through this template: “{}”"
_FAILED = {
    "turns": _REFUSED_TURNS,
    "generation": _REFUSED_TURNS,
    "ending": _REFUSED_TURNS,
    "twice": _REFUSED_TURNS,
    "tools": "Tools do not go through this template: “{}”",
}


class _Looked:
    def __init__(
        self, template: str, source: HeaderSource, renderer: TemplateRenderer, for_tools: str
    ) -> None:
        self._template = template
        self._for_tools = for_tools
        self._source = source
        self._renderer = renderer

    def _text(
        self,
        messages: Sequence[ChatMessage],
        *,
        opens_answer: bool = False,
        tools: Sequence[dict[str, object]] = (),
    ) -> str:
        rendered: Rendered = self._renderer.render_as_it_is(
            self._for_tools if tools and self._for_tools else self._template,
            messages,
            bos=self._source.bos,
            eos=self._source.eos,
            special_texts=self._source.special_texts,
            add_generation_prompt=opens_answer,
            tools=tools,
        )
        return rendered.text

    def _between(self) -> tuple[str, str] | None:
        """What stands between a question and its answer, and the answer and the next question."""
        text = self._text(_SAMPLE)
        _, has_question, rest = text.partition(_QUESTION)
        before, has_answer, rest = rest.partition(_ANSWER)
        behind, has_next, _ = rest.partition(_NEXT)
        return (before, behind) if has_question and has_answer and has_next else None

    def turns(self) -> TemplateFinding:
        """Who speaks, and how it is told."""
        between = self._between()
        if between is None:
            return TemplateFinding(
                "turns", "bad",
                "Not all of a question, its answer and the next question stands in the prompt: "
                "the template leaves messages out or changes their words.",
            )  # fmt: skip
        before, behind = map(_shown, between)
        return TemplateFinding(
            "turns", "good",
            f"Between a question and its answer stands {before}, between an answer and the next "
            f"question {behind}.",
        )  # fmt: skip

    def generation(self) -> TemplateFinding:
        """What opens the answer that the model is to write."""
        question = _SAMPLE[:1]
        closed, opened = (self._text(question, opens_answer=is_on) for is_on in (False, True))
        if closed == opened:
            return TemplateFinding(
                "generation", "note",
                "There is no generation prompt: add_generation_prompt changes nothing, so the "
                "model opens its answer by itself.",
            )  # fmt: skip
        if not opened.startswith(closed):
            return TemplateFinding(
                "generation", "good", "There is a generation prompt (add_generation_prompt)."
            )
        return TemplateFinding(
            "generation", "good", f"The generation prompt is {_shown(opened[len(closed) :])}."
        )

    def ending(self) -> TemplateFinding | None:
        """Whether what ends an answer ends the generation too."""
        between, source = self._between(), self._source
        if between is None or not source.ends:
            return None
        specials = control_texts({*source.special_texts, *source.ends})
        pieces = (piece for piece in apart(between[1], specials) if piece[0].strip())
        end, is_token = next(pieces, ("", False))
        eos = f"EOS (“{source.eos}”)" if source.eos else "EOS"
        if words := source.ends.get(end):
            sentence = f"An answer ends with “{end}”, the {words} of the file."
            return TemplateFinding("ending", "good", sentence)
        if end in source.ends:
            return TemplateFinding(
                "ending", "note",
                f"An answer ends with “{end}”, which the file does not name as its {eos}. "
                "llama.cpp ends there all the same, by the token's text; another engine may need "
                "it as a stop word.",
            )  # fmt: skip
        what = f"with “{end}”" if is_token else f"with {_shown(end)}, which is no special token,"
        return TemplateFinding(
            "ending", "bad",
            f"An answer ends {what} in this template. The {eos} of the file is another: a model "
            "that writes as the template does may go on past its answer. Add a stop word where "
            "that happens.",
        )  # fmt: skip

    def twice(self) -> TemplateFinding | None:
        """Whether the begin-of-text token is written by the template and the tokeniser (S21)."""
        source = self._source
        if not source.bos or not source.adds_bos:
            return None
        if not self._text(_SAMPLE[:1]).startswith(source.bos):
            return None
        return TemplateFinding(
            "twice", "note",
            f"The template writes “{source.bos}”, and the file says that the tokeniser adds it too "
            "(add_bos_token). TuneDeck and llama-server write it once; a program that tokenises "
            "the rendered text as it is has it twice, and answers get worse.",
        )  # fmt: skip

    def tools(self) -> TemplateFinding:
        """Whether functions that a client offers get into the prompt."""
        is_apart = self._for_tools not in ("", self._template)
        which = ", by tool_use, the template that llama-server takes where a client offers some"
        if _TOOL_NAME in self._text(_SAMPLE[:1], opens_answer=True, tools=(_TOOL,)):
            return TemplateFinding("tools", "good", _WRITTEN.format(which * is_apart))
        return TemplateFinding(
            "tools", "note",
            "Tools are left out: the template has no place for them, so the model does not hear of "
            "those that a client offers.",
        )  # fmt: skip


def _shown(text: str) -> str:
    """``text`` in quotes on one line, line breaks to be seen; of a long one both its ends."""
    line = text.replace("\r\n", "↵").replace("\n", "↵")
    line = "".join(letter if letter.isprintable() else "�" for letter in line)
    if len(line) > _LONGEST_SHOWN:
        half = _LONGEST_SHOWN // 2
        line = f"{line[:half]} … {line[-half:]}"
    return f"“{line}”" if line.strip() else ("nothing" if not line else "white space")
