"""A label of one line that shortens its text to the room there is and keeps all of it in reach."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from resources.tokens import STEP_PX
from widgets.plain_tip import plain_tip


class ElidedLabel(QLabel):
    """One line of plain text; what does not fit is in the tooltip and the accessible name."""

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Show ``text``, shortened at the end or as ``mode`` says."""
        super().__init__(parent)
        self._full = ""
        self._tip = ""
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_text(text)

    def set_text(self, text: str, tip: str = "") -> None:
        """Show ``text``; ``tip`` is the tooltip where the text itself fits."""
        if (text, tip) == (self._full, self._tip):
            return
        self._full, self._tip = text, tip
        self.setAccessibleName(text)
        self._elide()
        self.updateGeometry()

    def setToolTip(self, tip: str) -> None:
        """Use ``tip`` where the text fits, and below the full text where it does not."""
        self._tip = tip
        self._elide()

    def full_text(self) -> str:
        """The text before it was shortened."""
        return self._full

    def is_elided(self) -> bool:
        """Whether less than all of the text can be seen."""
        return self.text() != self._full

    def sizeHint(self) -> QSize:
        """Room for all of the text."""
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self._full) + 2 + self._beside_px()
        return QSize(width, metrics.height())

    def minimumSizeHint(self) -> QSize:
        """Any width will do; the height is a line's, also for an empty text."""
        return QSize(4 * STEP_PX, self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten to the new width."""
        super().resizeEvent(event)
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._elide()
            self.updateGeometry()

    def shortened(self, full: str, room_px: int) -> str:
        """What of ``full`` is shown in ``room_px``."""
        return self.fontMetrics().elidedText(full, self._mode, room_px)

    def _elide(self) -> None:
        room = self.width() - self._beside_px()
        shown = self.shortened(self._full, room)
        if shown != self.text():
            self.setText(shown)
        super().setToolTip(self._tip if shown == self._full else self._with_tip(self._full))

    def _beside_px(self) -> int:
        margins = self.contentsMargins()
        return margins.left() + margins.right() + max(0, self.indent())

    def _with_tip(self, full: str) -> str:
        if self._tip.startswith("<"):  # rich text
            return f"<p>{escape(full)}</p>{self._tip}"
        return plain_tip("\n\n".join(filter(None, (full, self._tip))))
