"""A foldable section: what the chat template of a file makes of a sample conversation."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from engine_bridge.template_sheet import TemplateSheet
from resources.tokens import STEP_PX, Palette
from widgets.model_fit_view import wrapped_label
from widgets.section import Section
from widgets.template_result import TemplateResult
from widgets.theme import set_role

_TITLE = "Chat template on a sample"
_WAITING = "Trying the chat template in a process of its own…"
_BASE = (
    "The file has no chat template: a base model, which goes on with a text and was not trained to "
    "answer. TuneDeck gives it your words as they are; llama-server writes them in ChatML "
    "(<|im_start|>user …), tokens that such a model may not know."
)
_LONE = (
    "The file has only the template {name}, for conversations with tools. llama-server takes it "
    "for all of them; TuneDeck takes none, and gives the model your words as they are."
)
_SAMPLE = (
    "A system prompt, a question, its answer and a second question, as the model would get them."
)
# The text view takes as many lines as it has to show, within these.
_LEAST_LINES, _MOST_LINES = 5, 18


class TemplateSampleView(Section):
    """Folded until somebody wants to see it; nothing is tried before.

    Signals:
        unfolded: As of every section.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make it folded, with nothing to show."""
        super().__init__(_TITLE, parent)
        self.words = wrapped_label("hint")
        self.words.setContentsMargins(0, 0, 0, STEP_PX)
        self.result = TemplateResult(self)
        self.add(self.words)
        self.add(self.result)
        self.clear()

    def clear(self) -> None:
        """Show nothing of any file."""
        self._say("", "hint")

    def show_waiting(self) -> None:
        """The template is being tried."""
        self._say(_WAITING, "muted")

    def show_sheet(self, sheet: TemplateSheet) -> None:
        """Show what came of it."""
        checked = sheet.checked
        if sheet.problem:
            self._say(sheet.problem, "warning")
        elif checked is None:
            self._say(" ".join(filter(None, (_BASE, _others(sheet)))), "hint")
        elif checked.error:
            self._say(" ".join(filter(None, (checked.error, _others(sheet)))), "warning")
        else:
            begin = _LONE.format(name=sheet.name) if sheet.name else ""
            length = f"The template has {sheet.characters:,} characters."
            self._say(" ".join(filter(None, (begin, _SAMPLE, length, _others(sheet)))), "hint")
        if checked is not None and (checked.pieces or checked.findings):
            self.result.show_result(checked)
            self.result.text.setVisible(bool(checked.pieces))
            self.result.show()
            self._fit_text()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        super().set_palette(palette)
        self.result.set_palette(palette)

    def _say(self, words: str, role: str) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))
        set_role(self.words, role)
        self.result.hide()

    def _fit_text(self) -> None:
        view = self.result.text
        lines = min(max(view.document().blockCount(), _LEAST_LINES), _MOST_LINES)
        margins = 2 * (view.frameWidth() + int(view.document().documentMargin()))
        view.setFixedHeight(lines * view.fontMetrics().lineSpacing() + margins + 2 * STEP_PX)


def _others(sheet: TemplateSheet) -> str:
    if not sheet.others:
        return ""
    noun = "template" if len(sheet.others) == 1 else "templates"
    return f"It also has the {noun} {', '.join(sheet.others)}."
