"""What a chat template makes of a sample, and what the checks found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from engine_bridge.protocol import TemplateChecked, TemplateFinding, TemplatePiece
from resources.theme import mixed
from resources.tokens import DARK, PANEL_GAP_PX, STEP_PX, Palette
from widgets.template_editor import wrap_mode
from widgets.theme import mono_font, set_role

_NAMES = {
    "bos": "Begin-of-text token",
    "typed": "Special tokens typed by users",
    "system": "System prompt",
    "two_users": "Two user messages in a row",
    "thinking": "Thinking switch",
    "turns": "Turns",
    "generation": "Generation prompt",
    "ending": "End of an answer",
    "twice": "Begin-of-text token twice",
    "tools": "Tools",
}
_MARKS = {"good": ("✓", "well"), "note": ("!", "to know"), "bad": ("✕", "wrong")}
_ROLES = {"good": "good", "note": "muted", "bad": "warning"}
_NOTHING = "Nothing was rendered"
_LEGEND = "Coloured: special tokens. Underlined: typed text that looks like one and stays text."


class TemplateResult(QWidget):
    """A rendered sample with its special tokens to be told apart, its size, and the findings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show nothing yet."""
        super().__init__(parent)
        self._palette = DARK
        self._pieces: Sequence[TemplatePiece] = ()
        self._is_waiting = False
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setFont(mono_font(self.text.font()))
        set_role(self.text, "mono")
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName("The sample as the engine gets it")
        self.text.setAccessibleDescription(_LEGEND)
        self.text.setPlaceholderText("What the engine gets appears here.")
        self.size_label = _line_of_words("value")
        self.legend_label = _line_of_words("hint", _LEGEND)
        self.note_label = _line_of_words("hint")
        self._findings = QVBoxLayout()
        self._findings.setSpacing(STEP_PX)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(STEP_PX)
        layout.addWidget(self.size_label)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.legend_label)
        layout.addWidget(self.note_label)
        layout.addSpacing(PANEL_GAP_PX)
        layout.addLayout(self._findings)
        self._rows: list[QWidget] = []
        self.set_waiting()

    def set_waiting(self) -> None:
        """A trial is under way; what the last one showed stays to be read."""
        self._is_waiting = True
        self.size_label.setText("Trying the template…")

    def stop_waiting(self) -> None:
        """No answer will come."""
        if self._is_waiting:
            self.show_result(TemplateChecked(0, error=_NOTHING))

    def show_result(self, result: TemplateChecked) -> None:
        """Show what a trial brought, or nothing where it failed."""
        self._is_waiting = False
        self._pieces = result.pieces
        self._write_pieces()
        controls = sum(piece.kind == "control" for piece in result.pieces)
        if result.error:
            self.size_label.setText(_NOTHING)
        else:
            self.size_label.setText(_size_words(result, controls))
        counted = "; all of it is counted" if result.tokens_tok else ""
        cut = f"Only the beginning is shown{counted}. " if result.is_cut else ""
        self.note_label.setText(cut + result.note)
        self.note_label.setVisible(bool(cut or result.note))
        self.legend_label.setVisible(bool(result.pieces))
        self._show_findings(result.findings)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._palette = palette
        self._write_pieces()

    def finding_texts(self) -> list[str]:
        """What the checks say, as a screen reader reads it."""
        return [row.accessibleName() for row in self._rows]

    def _write_pieces(self) -> None:
        self.text.clear()
        self.text.setWordWrapMode(wrap_mode("".join(piece.text for piece in self._pieces)))
        cursor = QTextCursor(self.text.document())
        cursor.beginEditBlock()
        for piece in self._pieces:
            # A text view takes these for ends of paragraphs and shows nothing of a NUL.
            shown = piece.text.replace("\u2029", "\n").replace("\0", "\ufffd")
            cursor.insertText(shown, self._format_of(piece.kind))
        cursor.endEditBlock()
        self.text.moveCursor(QTextCursor.MoveOperation.Start)

    def _format_of(self, kind: str) -> QTextCharFormat:
        p, look = self._palette, QTextCharFormat()
        look.setForeground(QColor(p.text))
        if kind == "control":
            look.setForeground(QColor(p.accent))
            look.setBackground(QColor(mixed(p.panel, p.accent, 0.14)))
        elif kind == "typed":
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DashUnderline)
            look.setUnderlineColor(QColor(p.warning))
        return look

    def _show_findings(self, findings: Sequence[TemplateFinding]) -> None:
        for row in self._rows:
            self._findings.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [_finding_row(finding) for finding in findings]
        for row in self._rows:
            self._findings.addWidget(row)


def _size_words(result: TemplateChecked, controls: int) -> str:
    """How long the prompt is; in characters where no tokeniser counted it."""
    more = "at least " if result.is_cut else ""
    if result.tokens_tok:
        return f"{result.tokens_tok:,} tokens, {more}{controls:,} of them special"
    characters = sum(len(piece.text) for piece in result.pieces)
    noun = "token" if controls == 1 else "tokens"
    return f"{more}{characters:,} characters, {controls:,} special {noun} among them".capitalize()


def _finding_row(finding: TemplateFinding) -> QWidget:
    row = QWidget()
    sign, meaning = _MARKS[finding.verdict]
    name = _NAMES.get(finding.check, finding.check)
    row.setAccessibleName(f"{name}, {meaning}: {finding.sentence}")
    mark = QLabel(sign)
    set_role(mark, _ROLES[finding.verdict])
    mark.setFixedWidth(4 * STEP_PX)
    mark.setToolTip(meaning)
    words = _line_of_words("hint" if finding.verdict != "bad" else "hint-warning")
    words.setText(finding.sentence)
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(STEP_PX)
    layout.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
    layout.addWidget(words, 1)
    row.setToolTip(name)
    return row


def _line_of_words(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setMinimumWidth(1)
    set_role(label, role)
    return label
