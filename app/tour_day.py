"""The second part of the tour: what one comes back to every day."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.tour_step import Step
from app.window import Window

_SEARCHED = "lighthouse keeper"


class DayTour:
    """Branches, stored conversations, charts, actions, models, template, log."""

    def __init__(self, window: Window) -> None:
        """Prepare the steps for ``window``, in which two questions were answered."""
        self._window = window
        self._desk = window.desk

    def steps(self) -> list[Step]:
        """The steps in their order."""
        window = self._window
        return [
            Step("07-branches", self._do("chat.regenerate"), self._is_quiet,
                 self._fault_of_branches, timeout_s=180),
            Step("08-conversations", self._search, self._is_found, self._fault_of_search),
            Step("09-charts", self._pause_charts, lambda: True, self._fault_of_charts,
                 end=self._follow_charts),
            Step("10-actions", self._ask_actions, window.help.list.isVisible,
                 self._fault_of_actions, end=window.help.list.close_list),
            Step("11-models", self._do("model.open"), self._is_model_judged, lambda: "",
                 shown=self._picker, end=self._close_picker),
            Step("12-template", self._do("template.show"), self._is_template_tried,
                 self._fault_of_template, shown=lambda: window.template_wiring.dialog,
                 end=window.template_wiring.dialog.close),
            Step("13-log", self._do("panel.log"), window.log.isVisible, lambda: ""),
        ]  # fmt: skip

    # --- Branches -----------------------------------------------------------------------

    def _is_quiet(self) -> bool:
        return self._desk.chats.answering_count() == 0

    def _fault_of_branches(self) -> str:
        conversation = self._desk.chats.conversation(self._window.chat.current_id())
        last = conversation.last
        if last is None or len(conversation.siblings(last.id)) != 2:
            return "the old answer does not stand beside the new one"
        return ""

    # --- Stored conversations -----------------------------------------------------------

    def _search(self) -> None:
        self._window.search_conversations()
        self._window.conversations.search.setText(_SEARCHED)

    def _is_found(self) -> bool:
        return self._window.conversations.model.conversations_count() == 1

    def _fault_of_search(self) -> str:
        count = self._window.conversations.model.conversations_count()
        if count != 1:
            return f"{count} conversations are shown that say {_SEARCHED!r}, not one"
        return ""

    # --- Charts -------------------------------------------------------------------------

    def _pause_charts(self) -> None:
        self._window.conversations.search.clear()
        if self._window.width() < 1200:
            self._window.toggle_panel("conversations")
        self._window.show_live()
        self._run("charts.pause")
        self._run("charts.zoom_out")
        self._run("charts.change_before")

    def _fault_of_charts(self) -> str:
        view = self._desk.meters.view(time.perf_counter_ns())
        return "" if view.markers else "no change of settings is marked"

    def _follow_charts(self) -> None:
        self._run("charts.reset")
        self._window.show_chat()

    # --- Actions ------------------------------------------------------------------------

    def _ask_actions(self) -> None:
        self._run("help.actions")
        self._window.help.list.field.setText("conv")

    def _fault_of_actions(self) -> str:
        return "" if self._window.help.list.shown_entries() else "no action is found"

    # --- Models -------------------------------------------------------------------------

    def _picker(self) -> QWidget | None:
        return self._window.engine_wiring.picker.picker

    def _is_model_judged(self) -> bool:
        picker = self._window.engine_wiring.picker.picker
        return picker is not None and picker.sheet.fit.is_answered

    def _close_picker(self) -> None:
        picker = self._window.engine_wiring.picker.picker
        if picker is not None:
            picker.reject()

    # --- Template -----------------------------------------------------------------------

    def _is_template_tried(self) -> bool:
        view = self._window.template_wiring.view
        return bool(view.message() or view.result.text.toPlainText())

    def _fault_of_template(self) -> str:
        model = self._desk.session.model
        view = self._window.template_wiring.view
        if model is not None and model.chat_template and not view.result.text.toPlainText():
            return f"the template was not tried: {view.message()}"
        return ""

    # --- Inside -------------------------------------------------------------------------

    def _do(self, name: str) -> Callable[[], None]:
        return lambda: self._run(name)

    def _run(self, name: str) -> None:
        self._window.actions_of_window.run(name)
