"""Asks for the limit of a chart as a number."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from resources.tokens import PANEL_PADDING_PX, STEP_PX
from widgets.charts.limit_scale import LimitScale
from widgets.theme import set_role

_WIDTH_PX = 90 * STEP_PX


class LimitDialog(QDialog):
    """One number with its unit. Strict: what is no limit is refused with the reason, not bent.

    Signals:
        limit_chosen: The limit (float), in the unit of the data; None for no limit.
    """

    limit_chosen = Signal(object)

    def __init__(
        self, scale: LimitScale, value: float | None, start: float, parent: QWidget | None = None
    ) -> None:
        """Ask.

        Args:
            scale: What a limit can be.
            value: The limit now; None for none.
            start: What stands in the field then.
            parent: The parent widget.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Limit of {scale.name}")
        self._scale = scale
        about = QLabel(
            f"The longest {scale.name} that counts as good. What is above it is marked in the "
            "chart; goodput counts the requests that keep the limits of TTFT and TPOT."
        )
        about.setWordWrap(True)
        self.field = QLineEdit(scale.written(start if value is None else value))
        self.field.setAccessibleName(f"Longest good {scale.name} in {scale.unit.name}")
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.field.selectAll()
        # The line keeps its place, so that nothing jumps while somebody types.
        self.fault = QLabel()
        self.fault.setTextFormat(Qt.TextFormat.PlainText)
        self.fault.setWordWrap(True)
        self.fault.setMinimumHeight(2 * self.fault.fontMetrics().lineSpacing())
        self.fault.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.set_button, self.none_button = QPushButton("&Set limit"), QPushButton("&No limit")
        cancel = QPushButton("&Cancel")
        self.none_button.setEnabled(value is not None)
        self.set_button.setDefault(True)
        set_role(self.set_button, "primary")
        unit = QLabel(scale.unit.name)
        line, buttons = QHBoxLayout(), QHBoxLayout()
        line.addWidget(self.field, 1)
        line.addWidget(unit)
        buttons.addWidget(self.none_button)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.set_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        layout.setSpacing(2 * STEP_PX)
        layout.addWidget(about)
        layout.addLayout(line)
        layout.addWidget(self.fault)
        layout.addLayout(buttons)
        self.setMinimumWidth(_WIDTH_PX)
        self.field.textEdited.connect(self._say_range)
        self.set_button.clicked.connect(self._on_set_clicked)
        self.none_button.clicked.connect(lambda: self._choose(None))
        cancel.clicked.connect(self.reject)
        self._say_range()
        self.field.setFocus()

    def _on_set_clicked(self) -> None:
        try:
            value = self._scale.read(self.field.text())
        except ValueError as error:
            self.fault.setText(str(error))
            set_role(self.fault, "hint-warning")
            self.field.setFocus()
            self.field.selectAll()
            return
        self._choose(value)

    def _choose(self, value: float | None) -> None:
        self.accept()
        self.limit_chosen.emit(value)

    def _say_range(self) -> None:
        self.fault.setText(f"From {self._scale.range_text}.")
        set_role(self.fault, "hint")
