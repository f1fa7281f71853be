"""The bar on top: model, drafts, device, state, undo and redo, Apply."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Signal
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
from widgets.elided_label import ElidedLabel
from widgets.load_progress import LoadProgress
from widgets.model_button import ModelButton
from widgets.state_light import StateLight
from widgets.theme import icon, set_role

_NOTHING = "Nothing to apply"
_WIDEST_APPLY = "Apply · new context 00.0 s"


class TopBar(QFrame):
    """What runs, and the one button that changes it.

    Signals:
        model_open_requested: A model file is to be chosen.
        model_chosen: Path (str) of a recent model.
        demo_requested: The demo model is wanted.
        apply_requested: The wanted settings are to be applied.
        undo_requested: The last change is to be taken back.
        redo_requested: The change taken back last is to be made again.
        cancel_requested: The load is to be given up.
        restart_requested: The dead engine is to be started again.
    """

    model_open_requested = Signal()
    model_chosen = Signal(str)
    demo_requested = Signal()
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
        self._draft = ElidedLabel("", self)
        self._device = ElidedLabel("", self)
        for label in (self._draft, self._device):
            set_role(label, "muted")
        # What drafts is said in two or three words; the device beside it gives way.
        self._draft.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._progress = LoadProgress(self)
        self._restart = QPushButton("Restart the engine")
        self._dead = _at_the_right(self._restart)
        self._is_loading = False
        self._middle = self._stack()
        self._light = StateLight(self)
        self._undo = self._tool("Undo the last change of a setting")
        self._redo = self._tool("Redo the change taken back")
        self.apply_button = QPushButton(_NOTHING, self)
        set_role(self.apply_button, "primary")
        self._lay_out()
        self._connect()
        self.set_history(False, False)
        self.set_apply(None, None, None)

    def set_model(self, name: str | None, quantisation: str | None) -> None:
        """Show the model in use; None where there is none."""
        self._model.set_model(name, quantisation)

    def set_recent(self, paths: Sequence[str]) -> None:
        """Offer these model files in the menu, the latest first."""
        self._model.set_recent(paths)

    def set_draft(self, text: str) -> None:
        """Say what drafts, e.g. ``Drafts: ngram-simple``."""
        self._draft.set_text(text)

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
        self._light.set_state(EngineState(state), detail)
        self._show_middle()

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
        self, cost: str | None, seconds: float | None, is_blocked_reason: str | None
    ) -> None:
        """Say what Apply would cost.

        Args:
            cost: ``live``, ``new context`` or ``reload``; None where nothing differs.
            seconds: How long it took the last time; None where it was not measured.
            is_blocked_reason: Sentence why it cannot be applied now; None where it can.
        """
        button = self.apply_button
        if cost is None:
            text, tip = _NOTHING, "The engine runs the settings as they are shown."
        else:
            took = "" if seconds is None else f" {seconds:.1f}\u202fs"
            text, tip = f"Apply · {cost}{took}", "Make the engine run the settings shown."
        button.setText(text)
        button.setEnabled(cost is not None and is_blocked_reason is None)
        button.setToolTip(is_blocked_reason or tip)
        button.setAccessibleDescription(is_blocked_reason or tip)

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._model.set_palette(palette)
        self._light.set_palette(palette)
        faint = mixed(palette.muted, palette.panel, 0.6)
        self._undo.setIcon(icon("undo", palette.text, faint_colour=faint))
        self._redo.setIcon(icon("redo", palette.text, faint_colour=faint))

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def _stack(self) -> QStackedWidget:
        stack = QStackedWidget(self)
        stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for widget in (self._device, self._progress, self._dead):
            stack.addWidget(widget)
        return stack

    def _show_middle(self) -> None:
        shown: QWidget = self._device
        if self._is_loading:
            shown = self._progress
        elif self._light.state() is EngineState.DEAD:
            shown = self._dead
        self._middle.setCurrentWidget(shown)

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
        self._measure()

    def _measure(self) -> None:
        bold = self.apply_button.fontMetrics()
        self.apply_button.setMinimumWidth(bold.horizontalAdvance(_WIDEST_APPLY) + 8 * STEP_PX)

    def _connect(self) -> None:
        self._model.open_requested.connect(self.model_open_requested)
        self._model.recent_chosen.connect(self.model_chosen)
        self._model.demo_requested.connect(self.demo_requested)
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
