"""Between the chat template of the engine and the view in which it is read, changed and tried."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QVBoxLayout, QWidget

from app.background import Task
from app.desk import Desk
from app.last_folder import EXPORTS
from app.sample_conversation import sample_messages
from app.storage.atomic_file import write_whole
from engine_bridge.protocol import (
    Applied,
    ChatMessage,
    CheckTemplate,
    Event,
    Refused,
    SetTemplate,
    TemplateChecked,
    TemplateSet,
)
from resources.tokens import STEP_PX, Palette
from widgets.template_view import TemplateTrial, TemplateView
from widgets.theme import set_role

_SIZE_PX = (245 * STEP_PX, 165 * STEP_PX)
_DEAD = "The engine is not running, so nothing can be tried. Restart it; your template is kept."
_NO_MESSAGES = "Nothing was said in this conversation yet. Take the sample, or ask something."
_EDITED_NOTE = (
    "The chat template was edited for this session; this line takes the model's own. Save it from "
    "the template view and add --chat-template-file with that file."
)


class TemplateWiring(QObject):
    """Shows, tries and sets the chat template; an edited one outlives reloads of the model.

    Signals:
        notes_changed: Sentences (tuple of str) that an exported command line needs, or none.
    """

    notes_changed = Signal(object)

    def __init__(
        self,
        desk: Desk,
        conversation_id: Callable[[], str],
        window: QWidget,
    ) -> None:
        """Follow ``desk``.

        Args:
            desk: Its engine and conversations.
            conversation_id: Says which conversation is in front; empty for none.
            window: Owner of the dialog, and of this.
        """
        super().__init__(window)
        self._desk = desk
        self._conversation_id = conversation_id
        self._numbers = itertools.count(1)
        self._check_id = 0
        self._own = ""
        self._edited = ""
        self._saved = ""
        self.dialog = QDialog(window)
        self.dialog.setWindowTitle("Chat template")
        set_role(self.dialog, "background")
        self.view = TemplateView(self.dialog)
        layout = QVBoxLayout(self.dialog)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.dialog.resize(*_SIZE_PX)
        self.dialog.installEventFilter(self)
        self.view.trial_requested.connect(self._on_trial_requested)
        self.view.template_applied.connect(self._on_template_applied)
        self.view.template_reset.connect(lambda: self._on_template_applied(""))
        self.view.save_requested.connect(self._on_save_requested)
        desk.client.event_received.connect(self._on_event_received)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.session.applied_changed.connect(self._on_applied_changed)

    def open(self) -> None:
        """Show the template beside the window, which goes on working."""
        self.dialog.show()
        self.dialog.activateWindow()
        self.view.ask_trial()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whoever comes back from the conversation finds what was said there meanwhile."""
        if event.type() is QEvent.Type.WindowActivate and self.view.is_on_conversation:
            self.view.ask_trial()
        return super().eventFilter(watched, event)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.view.set_palette(palette)

    @property
    def is_edited(self) -> bool:
        """Whether prompts are made with another template than the model's own."""
        return bool(self._edited)

    # --- The view ---------------------------------------------------------------------------

    def _on_trial_requested(self, trial: TemplateTrial) -> None:
        if not self.dialog.isVisible():
            return  # tried when somebody looks
        self._check_id = next(self._numbers)
        messages = sample_messages(has_system=trial.has_system)
        if trial.is_conversation:
            messages = self._conversation()
        if not messages:
            self.view.show_problem(_NO_MESSAGES)
            return
        check = CheckTemplate(
            self._check_id,
            trial.template,
            messages,
            add_generation_prompt=trial.add_generation_prompt,
            enable_thinking=trial.enable_thinking,
        )
        if not self._desk.client.send(check):
            self.view.show_problem(_DEAD)

    def _conversation(self) -> tuple[ChatMessage, ...]:
        name = self._conversation_id()
        known = {each.id: each for each in self._desk.chats.conversations()}
        return known[name].to_messages() if name in known else ()

    def _on_template_applied(self, template: str) -> None:
        self._saved = ""
        self._edited = "" if template == self._own else template
        self._send_edited()

    def _send_edited(self) -> None:
        if not self._desk.client.send(SetTemplate(self._edited)):
            self.view.show_problem(_DEAD)

    def _on_save_requested(self, template: str) -> None:
        dialog = QFileDialog(self.dialog, "Save the chat template", "chat-template.jinja")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["Jinja templates (*.jinja)", "All files (*)"])
        dialog.setDefaultSuffix("jinja")
        dialog.fileSelected.connect(lambda path: self.save_to(Path(path), template))
        dialog.finished.connect(dialog.deleteLater)
        self._desk.last_folder.open(dialog, EXPORTS)

    def save_to(self, path: Path, template: str) -> None:
        """Write ``template`` to a file; a failure is said in the view."""
        content = template.encode("utf-8", "replace")
        task = Task(
            lambda _: write_whole(path, content, "The chat template could not be saved"), self
        )
        task.succeeded.connect(lambda _: self._on_saved(path, template))
        task.failed.connect(lambda error: self.view.show_problem(str(error)))
        task.succeeded.connect(task.deleteLater)
        task.failed.connect(task.deleteLater)
        task.start()

    def _on_saved(self, path: Path, template: str) -> None:
        if template == self._edited:
            self._saved = str(path)
            self._tell_notes()

    # --- The engine -------------------------------------------------------------------------

    def _on_event_received(self, event: Event) -> None:
        if isinstance(event, TemplateChecked):
            if event.check_id == self._check_id:
                self.view.show_result(event)
        elif isinstance(event, TemplateSet):
            self.view.set_in_force(self._edited)
            self._tell_notes()
        elif isinstance(event, Refused) and event.command == "set_template":
            self.view.show_problem(event.problem.message)
        elif isinstance(event, Applied) and event.model is not None:
            self._on_loaded(event)

    def _on_loaded(self, event: Applied) -> None:
        assert event.model is not None
        own = event.model.chat_template
        if own != self._own:
            self._own, self._edited, self._saved = own, "", ""
        elif self._edited:
            # The same model again, perhaps in a new engine process, which knows of no edit.
            self._send_edited()
        self.view.set_template(own, event.model.name, self._edited)
        self._tell_notes()

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if applied is None:
            self.view.set_no_model()

    def _on_engine_died(self, _: object) -> None:
        if self.dialog.isVisible() and self._own:
            self.view.show_problem(_DEAD)

    def _tell_notes(self) -> None:
        if not self._edited:
            self.notes_changed.emit(())
        elif self._saved:
            self.notes_changed.emit(
                (
                    "The chat template was edited for this session; add --chat-template-file "
                    f"{self._saved} to this line to have it there too.",
                )
            )
        else:
            self.notes_changed.emit((_EDITED_NOTE,))
