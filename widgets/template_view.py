"""The chat template of the loaded model: read, changed for this session, tried on a sample."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.protocol import TemplateChecked
from resources.tokens import DARK, PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.elided_label import ElidedLabel
from widgets.segmented import Segmented
from widgets.template_editor import TemplateEditor
from widgets.template_result import TemplateResult
from widgets.theme import set_role

# A template is tried once its writer pauses.
_TRIAL_DELAY_MS = 350
# Below this width source and result stand one above the other.
_SIDE_BY_SIDE_PX = 220 * STEP_PX
_LEAST_WIDTH_PX = 118 * STEP_PX
_OWN = "Prompts are made with the template of the model's file."
_EDITED = (
    "Prompts are made with the edited template until another model is loaded. A command line needs "
    "it as a file: save it and give it as --chat-template-file."
)
_UNUSED = "What stands here is tried on the sample, but not used for prompts yet."

_UNUSED_BADGE, _EDITED_BADGE, _OWN_BADGE = "not used yet", "edited", "the model's own"


@dataclass(frozen=True)
class TemplateTrial:
    """What is to be tried.

    Attributes:
        template: Jinja source.
        is_conversation: Take the conversation in front rather than the sample.
        has_system: Keep the sample's system prompt.
        add_generation_prompt: Open the assistant's turn.
        enable_thinking: The thinking switch.
    """

    template: str
    is_conversation: bool
    has_system: bool
    add_generation_prompt: bool
    enable_thinking: bool


class TemplateView(QWidget):
    """Source left, what becomes of a sample right.

    Signals:
        trial_requested: A ``TemplateTrial``; answer with ``show_result``.
        template_applied: Source that prompts are to be made with from now on.
        template_reset: The model's own template is wanted back.
        save_requested: Source that is to be written to a file.
    """

    trial_requested = Signal(object)
    template_applied = Signal(str)
    template_reset = Signal()
    save_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a view without a model."""
        super().__init__(parent)
        self._own = ""
        self._in_force = ""
        self._is_broken = False
        self._timer = QTimer(self, singleShot=True, interval=_TRIAL_DELAY_MS)
        self._model_label = ElidedLabel("", self)
        set_role(self._model_label, "muted")
        self.badge = QLabel(self)
        self.badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._state_label = _words("hint")
        self.editor = TemplateEditor(self)
        self.editor.setAccessibleName("Source of the chat template")
        self.editor.setAccessibleDescription(
            "Jinja. Tab indents; Ctrl+Tab and Shift+Tab leave the field."
        )
        self.error_label = _words("warning")
        self.error_label.setAccessibleName("What is wrong with the template")
        self.line_button = QPushButton("Go to the line", self)
        set_role(self.line_button, "link")
        self.apply_button = QPushButton("Use for this session", self)
        set_role(self.apply_button, "primary")
        self.reset_button = QPushButton("Back to the model's own", self)
        self.save_button = QPushButton("Save to a file…", self)
        self.source_choice = Segmented(("Sample", "This conversation"), self)
        self.source_choice.name_buttons("Tried on", "Which messages the template is tried on.")
        self.system_box = QCheckBox("System prompt", self)
        self.generation_box = QCheckBox("Generation prompt", self)
        self.thinking_box = QCheckBox("Thinking", self)
        self.result = TemplateResult(self)
        self._message = _words("muted")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget(self)
        self._lay_out()
        self._connect()
        self.set_palette(DARK)
        self.set_no_model()

    # --- What is shown ----------------------------------------------------------------------

    def set_template(self, own: str, model_name: str, in_force: str = "") -> None:
        """Show the template of a loaded model; what was written for another model is gone.

        Args:
            own: Source in its file; empty for a base model.
            model_name: For the heading.
            in_force: What prompts are made with instead; empty for the model's own.
        """
        is_same, self._own, self._in_force = own == self._own, own, in_force or own
        self._model_label.set_text(model_name)
        if not own:
            self._show_message(
                f"{model_name} has no chat template: it is a base model and continues text."
            )
            return
        self._stack.setCurrentIndex(0)
        self._write(self.text() if is_same else self._in_force)

    def set_in_force(self, template: str) -> None:
        """Say which source prompts are made with; what stands in the field stays."""
        self._in_force = template or self._own
        self._show_state()

    def set_no_model(self) -> None:
        """There is no model; what was written stays for its return."""
        self._show_message("Load a model to see its chat template.")

    def show_result(self, result: TemplateChecked) -> None:
        """Show what a trial brought."""
        self.result.show_result(result)
        self.error_label.setText(result.error)
        self.error_label.setVisible(bool(result.error))
        self.line_button.setText(f"Go to line {result.line}")
        self.line_button.setVisible(bool(result.line))
        self.editor.mark_line(result.line)
        self.thinking_box.setVisible(result.has_thinking)
        # One that refuses this sample may take others, and was looked into further.
        self._is_broken = bool(result.error) and not result.findings
        self._show_state()

    def show_problem(self, sentence: str) -> None:
        """Say that something did not work that is no fault of the template."""
        self.result.stop_waiting()
        self.error_label.setText(sentence)
        self.error_label.show()
        self.line_button.hide()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.editor.set_palette(palette)
        self.result.set_palette(palette)

    @property
    def is_on_conversation(self) -> bool:
        """Whether the conversation in front is tried on, rather than the sample."""
        return bool(self.source_choice.index())

    def text(self) -> str:
        """The source as it stands in the field."""
        return self.editor.toPlainText()

    def message(self) -> str:
        """What stands in place of the template; empty while there is one."""
        return self._message.text() if self._stack.currentIndex() else ""

    def ask_trial(self) -> None:
        """Have what stands here tried now."""
        self._timer.stop()
        if self._stack.currentIndex():
            return
        self.result.set_waiting()
        self.error_label.hide()
        self.line_button.hide()
        self.trial_requested.emit(
            TemplateTrial(
                self.text(),
                is_conversation=self.is_on_conversation,
                has_system=self.system_box.isChecked(),
                add_generation_prompt=self.generation_box.isChecked(),
                enable_thinking=self.thinking_box.isChecked(),
            )
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room for it."""
        super().resizeEvent(event)
        is_wide = self.width() >= _SIDE_BY_SIDE_PX
        self._split.setOrientation(
            Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        )

    # --- Inside -----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        title = QLabel("Chat template", self)
        set_role(title, "heading")
        head = QHBoxLayout()
        head.setSpacing(PANEL_GAP_PX)
        head.addWidget(title)
        head.addWidget(self._model_label, 1)
        head.addWidget(self.badge)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(PANEL_GAP_PX)
        self._split.addWidget(self._source_side())
        self._split.addWidget(self._sample_side())
        self._split.setSizes([1, 1])
        # Both sides together must not keep the view from becoming so narrow that they are stacked.
        self._split.setMinimumWidth(_LEAST_WIDTH_PX)
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addLayout(head)
        column.addWidget(self._state_label)
        column.addSpacing(STEP_PX)
        column.addWidget(self._split, 1)
        self._stack.addWidget(page)
        self._stack.addWidget(self._message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(PANEL_PADDING_PX,) * 4)
        layout.addWidget(self._stack)

    def _source_side(self) -> QWidget:
        side = QWidget(self)
        buttons = QHBoxLayout()
        buttons.setSpacing(PANEL_GAP_PX)
        buttons.addWidget(self.apply_button)
        buttons.addWidget(self.reset_button)
        buttons.addWidget(self.save_button)
        buttons.addStretch(1)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addWidget(self.editor, 1)
        column.addWidget(self.error_label)
        column.addWidget(self.line_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(STEP_PX)
        column.addLayout(buttons)
        return side

    def _sample_side(self) -> QWidget:
        side = QWidget(self)
        switches = QHBoxLayout()
        switches.setSpacing(PANEL_PADDING_PX)
        for box, tip in (
            (self.system_box, "Whether the sample begins with a system prompt."),
            (self.generation_box, "Whether the assistant's turn is opened at the end."),
            (self.thinking_box, "enable_thinking, which this template asks for."),
        ):
            box.setChecked(True)
            box.setToolTip(tip)
            box.setAccessibleDescription(tip)
            switches.addWidget(box)
        switches.addStretch(1)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(STEP_PX)
        column.addWidget(self.source_choice)
        column.addLayout(switches)
        column.addWidget(self.result, 1)
        return side

    def _connect(self) -> None:
        self.editor.textChanged.connect(self._on_edited)
        self.editor.paste_refused.connect(self.show_problem)
        self._timer.timeout.connect(self.ask_trial)
        self.apply_button.clicked.connect(lambda: self.template_applied.emit(self.text()))
        self.reset_button.clicked.connect(self._on_reset)
        self.save_button.clicked.connect(lambda: self.save_requested.emit(self.text()))
        self.line_button.clicked.connect(lambda: self.editor.go_to_line(self.editor.marked_line()))
        self.source_choice.index_chosen.connect(self._on_source_chosen)
        for box in (self.system_box, self.generation_box, self.thinking_box):
            box.toggled.connect(lambda _: self.ask_trial())

    def _show_message(self, words: str) -> None:
        self._timer.stop()
        self._message.setText(words)
        self._message.setAccessibleName(words)
        self._stack.setCurrentIndex(1)

    def _write(self, text: str) -> None:
        """Put ``text`` into the field as one step that undo takes back."""
        if text != self.text():
            cursor = self.editor.textCursor()
            cursor.select(cursor.SelectionType.Document)
            self.editor.wrap_for(text)
            cursor.insertText(text)
            self.editor.moveCursor(cursor.MoveOperation.Start)
        self._show_state()
        self.ask_trial()

    def _show_state(self) -> None:
        text = self.text()
        is_edited, is_unused = self._in_force != self._own, text != self._in_force
        set_role(self.badge, "badge-warning" if is_unused or is_edited else "badge")
        if is_unused:
            self.badge.setText(_UNUSED_BADGE)
            self._state_label.setText(f"{_UNUSED} {_EDITED if is_edited else _OWN}")
        else:
            self.badge.setText(_EDITED_BADGE if is_edited else _OWN_BADGE)
            self._state_label.setText(_EDITED if is_edited else _OWN)
        self._size_badge()
        self.apply_button.setEnabled(is_unused and bool(text.strip()) and not self._is_broken)
        self.reset_button.setEnabled(is_edited or text != self._own)

    def _size_badge(self) -> None:
        """Room for the longest of its words, so that nothing moves with them."""
        metrics = self.badge.fontMetrics()
        widest_px = max(map(metrics.horizontalAdvance, (_UNUSED_BADGE, _EDITED_BADGE, _OWN_BADGE)))
        self.badge.setFixedSize(widest_px + 5 * STEP_PX, metrics.height() + STEP_PX)

    def _on_edited(self) -> None:
        self.editor.mark_line(0)
        self._is_broken = False
        self._show_state()
        self._timer.start()

    def _on_reset(self) -> None:
        was_edited = self._in_force != self._own
        self._write(self._own)
        if was_edited:
            self.template_reset.emit()

    def _on_source_chosen(self, _: int) -> None:
        # A conversation has the system prompt that it has.
        self.system_box.setEnabled(not self.is_on_conversation)
        self.ask_trial()


def _words(role: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setMinimumWidth(1)
    set_role(label, role)
    return label
