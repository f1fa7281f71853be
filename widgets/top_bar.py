"""The bar on top: model, drafts, device, state, undo and redo, Apply."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from engine_bridge.engine_state import EngineState
from resources.theme import mixed
from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.apply_button import ApplyButton
from widgets.draft_button import DraftButton, DraftChoice
from widgets.elided_label import ElidedLabel
from widgets.load_progress import LoadProgress
from widgets.model_button import ModelButton
from widgets.plain_tip import plain_tip
from widgets.state_light import StateLight
from widgets.theme import icon, set_role

# Below so many figures' widths costs and drafts are said in short.
_COMPACT_BELOW = 110


class TopBar(QFrame):
    """What runs, and the one button that changes it.

    Signals:
        model_open_requested: A model is to be chosen.
        draft_choices_wanted: The draft menu opens: what it offers may have changed.
        draft_chosen: Key (str) of what is to draft.
        apply_requested: The wanted settings are to be applied.
        undo_requested: The last change is to be taken back.
        redo_requested: The change taken back last is to be made again.
        cancel_requested: The load is to be given up.
        restart_requested: The dead engine is to be started again.
    """

    model_open_requested = Signal()
    draft_choices_wanted = Signal()
    draft_chosen = Signal(str)
    apply_requested = Signal()
    undo_requested = Signal()
    redo_requested = Signal()
    cancel_requested = Signal()
    restart_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make the bar of a desk that starts."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._model = ModelButton(self)
        self._draft = DraftButton(self)
        self._device = ElidedLabel("", self)
        set_role(self._device, "muted")
        self._progress = LoadProgress(self)
        self._restart = QPushButton("Restart the engine")
        self._dead = _at_the_right(self._restart)
        self._is_loading = False
        self._state = EngineState.STARTING
        self._detail = ""
        self._has_model = False
        self._middle = self._stack()
        self._light = StateLight(self)
        self._undo = self._tool("Undo the last change of a setting")
        self._redo = self._tool("Redo the change taken back")
        self.apply_button = ApplyButton(self)
        self.menu_button = self._tool("Menu")
        self.menu_button.setObjectName("menu_button")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._lay_out()
        self._connect()
        self.set_history(False, False)
        self.set_apply(None, None, None)

    def set_model(self, name: str | None, quantisation: str | None) -> None:
        """Show the model in use; None where there is none."""
        self._has_model = name is not None
        self._model.set_model(name, quantisation)
        self._show_state()

    def set_draft(self, text: str) -> None:
        """Say what drafts, e.g. ``Drafts: ngram-simple``."""
        self._draft.set_text(text)

    def set_draft_choices(self, choices: Sequence[DraftChoice]) -> None:
        """Offer ``choices`` in the draft menu."""
        self._draft.set_choices(choices)

    def open_draft_menu(self) -> None:
        """Offer what could draft, as if the button had been pressed."""
        self._draft.setFocus()
        self._draft.showMenu()

    def set_device(self, text: str) -> None:
        """Say what computes, e.g. ``RTX 4090 · CUDA · 29/29 layers``."""
        self._device.set_text(text)

    def set_state(self, state: str, detail: str = "") -> None:
        """Show the engine's state.

        Args:
            state: One of ``EngineState``.
            detail: Tooltip.

        Raises:
            ValueError: For a word that is no such state.
        """
        self._state, self._detail = EngineState(state), detail
        self._show_state()

    def set_progress(self, fraction: float | None, stage: str) -> None:
        """Show how far a load is, 0 to 1, in place of the device; None ends that."""
        self._is_loading = fraction is not None
        if fraction is not None:
            self._progress.set_progress(fraction, stage)
        self._show_middle()

    def set_history(self, can_undo: bool, can_redo: bool) -> None:
        """Let undo and redo be pressed."""
        self._undo.setEnabled(can_undo)
        self._redo.setEnabled(can_redo)

    def set_apply(
        self,
        cost: str | None,
        seconds: float | None,
        is_blocked_reason: str | None,
        *,
        has_forecast: bool = True,
    ) -> None:
        """Say what Apply would cost.

        Args:
            cost: ``live``, ``new context`` or ``reload``; None where nothing differs.
            seconds: How long it took the last time; None where it was not measured.
            is_blocked_reason: Sentence why it cannot be applied now; None where it can.
            has_forecast: Whether it is known what memory the settings take.
        """
        button = self.apply_button
        if cost is None:
            button.set_cost(None)
            tip = "The engine runs the settings as they are shown."
        else:
            took = "" if seconds is None else f" {seconds:.1f}\u202fs"
            button.set_cost(f"{cost}{took}")
            tip = f"Make the engine run the settings shown ({cost}{took})."
            if not has_forecast:
                tip += " What memory they take is not known yet: the engine looks when it applies."
        button.setEnabled(cost is not None and is_blocked_reason is None)
        button.setToolTip(plain_tip(is_blocked_reason or tip))
        button.setAccessibleDescription(is_blocked_reason or tip)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._model.set_palette(palette)
        self._draft.set_palette(palette)
        self._light.set_palette(palette)
        faint = mixed(palette.muted, palette.panel, 0.6)
        self._undo.setIcon(icon("undo", palette.text, faint_colour=faint))
        self._redo.setIcon(icon("redo", palette.text, faint_colour=faint))
        self.menu_button.setIcon(icon("menu", palette.text, faint_colour=faint))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say less where there is less room."""
        super().resizeEvent(event)
        self._measure()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def _stack(self) -> QStackedWidget:
        stack = QStackedWidget(self)
        # It takes what the others leave: what it would like for a load must not cut the model's
        # name short while there is none.
        stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for widget in (self._device, self._progress, self._dead):
            stack.addWidget(widget)
        return stack

    def _show_state(self) -> None:
        """An engine without a model is ready for nothing."""
        is_idle = self._state is EngineState.READY and not self._has_model
        self._light.set_state(self._state, self._detail, is_without_model=is_idle)
        self._show_middle()

    def _show_middle(self) -> None:
        shown: QWidget = self._device
        if self._is_loading:
            shown = self._progress
        elif self._state is EngineState.DEAD:
            shown = self._dead
        self._middle.setCurrentWidget(shown)
        # A way out is never cut off: where there is no room for it, the model's name is shortened.
        has_button = shown is not self._device
        self._middle.setMinimumWidth(shown.minimumSizeHint().width() if has_button else 0)

    def _tool(self, text: str) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(text)
        button.setAccessibleName(text)
        return button

    def _lay_out(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(PANEL_PADDING_PX, PANEL_GAP_PX, PANEL_PADDING_PX, PANEL_GAP_PX)
        layout.setSpacing(PANEL_PADDING_PX)
        layout.addWidget(self._model)
        layout.addWidget(self._draft)
        layout.addWidget(self._middle, 1)
        layout.addWidget(self._light)
        pair = QHBoxLayout()
        pair.setSpacing(STEP_PX)
        pair.addWidget(self._undo)
        pair.addWidget(self._redo)
        layout.addLayout(pair)
        layout.addWidget(self.apply_button)
        layout.addWidget(self.menu_button)
        self._measure()

    def _measure(self) -> None:
        is_compact = self.width() < self.fontMetrics().horizontalAdvance("0") * _COMPACT_BELOW
        layout = self.layout()
        if layout is not None:
            layout.setSpacing(PANEL_GAP_PX if is_compact else PANEL_PADDING_PX)
        for tool in (self._undo, self._redo):
            tool.setHidden(is_compact)  # their keys and the menu remain
        self.apply_button.set_compact(is_compact)
        self._draft.set_compact(is_compact)

    def _connect(self) -> None:
        self._model.clicked.connect(self.model_open_requested)
        self._draft.choices_wanted.connect(self.draft_choices_wanted)
        self._draft.chosen.connect(self.draft_chosen)
        self._progress.cancel_requested.connect(self.cancel_requested)
        self._restart.clicked.connect(self.restart_requested)
        self._undo.clicked.connect(self.undo_requested)
        self._redo.clicked.connect(self.redo_requested)
        self.apply_button.clicked.connect(self.apply_requested)


def _at_the_right(widget: QWidget) -> QWidget:
    holder = QWidget()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addStretch()
    layout.addWidget(widget)
    return holder
