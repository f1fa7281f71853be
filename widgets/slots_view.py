"""The slots of the running engine: the pool as one bar, and a lane for each slot."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from resources.tokens import DARK, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.charts.note_line import NoteLine
from widgets.legend_line import Entry, LegendLine
from widgets.plain_tip import wrapped_tip
from widgets.slot_bar import PoolBar, SlotLane, kept_colour
from widgets.slot_state import KEPT_WORDS, Pool
from widgets.theme import set_role

# More slots are scrolled.
MOST_LANES = 16
_MEANING = (
    "A slot holds the tokens of one conversation in the KV cache; all slots together are the pool. "
    "What stays from earlier turns is not computed again."
)
_ARITHMETIC = (
    "How the pool is shared out: each slot a part of its own, or all from one pool, up to a cap "
    "each. Beyond the length a model was trained for no slot is used."
)
_NO_MODEL = "No slots: they come with a model. Each holds one conversation's tokens."


class SlotsView(QFrame):
    """A panel with all slots; lanes stay the same widgets while only their tokens change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make a panel without slots."""
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("Slots")
        self._colours = DARK
        self._pool = Pool()
        self.lanes: list[SlotLane] = []
        title = QLabel("Slots")
        set_role(title, "heading")
        self.used = QLabel()
        tip = wrapped_tip(_MEANING)
        for label in (title, self.used):
            label.setToolTip(tip)
        set_role(self.used, "value")
        self.note = NoteLine()
        set_role(self.note, "hint")
        self.empty = QLabel(_NO_MODEL)
        self.empty.setWordWrap(True)
        set_role(self.empty, "hint")
        self.bar = PoolBar()
        self.legend = LegendLine()
        self._lane_page = QWidget()
        self._lane_page.setProperty("role", "scrolled")
        self._lane_column = QVBoxLayout(self._lane_page)
        self._lane_column.setContentsMargins(0, 0, 0, 0)
        self._lane_column.setSpacing(STEP_PX + STEP_PX // 2)
        self.area = _LaneScroll(self._lane_page)
        header = QHBoxLayout()
        header.addWidget(title, 1)
        header.addWidget(self.used)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[PANEL_PADDING_PX] * 4)
        column.setSpacing(STEP_PX + STEP_PX // 2)
        column.addLayout(header)
        column.addWidget(self.empty)
        for widget in (self.note, self.bar, self.legend, self.area):
            column.addWidget(widget)
        self.set_pool(self._pool)

    def set_pool(self, pool: Pool) -> None:
        """Show ``pool``; one without lanes is that of no model."""
        self._pool = pool
        self._make_lanes(len(pool.lanes))
        has_slots = bool(pool.lanes)
        self.empty.setHidden(has_slots)
        for widget in (self.used, self.note, self.bar, self.legend, self.area):
            widget.setHidden(not has_slots)
        self.used.setText(pool.figures() if has_slots else "")
        self.note.set_text(pool.arithmetic(), wrapped_tip(_ARITHMETIC))
        self.bar.set_pool(pool)
        for shown, lane in zip(self.lanes, pool.lanes, strict=True):
            shown.set_lane(lane)
        self._show_legend()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self._colours = palette
        self.bar.set_palette(palette)
        for lane in self.lanes:
            lane.set_palette(palette)
        self._show_legend()

    def text(self) -> str:
        """Everything that is shown, in words."""
        return " ".join((self._pool.sentence(), *(lane.sentence() for lane in self._pool.lanes)))

    def _make_lanes(self, count: int) -> None:
        if count == len(self.lanes):
            return
        while len(self.lanes) > count:
            lane = self.lanes.pop()
            self._lane_column.removeWidget(lane)
            lane.hide()
            lane.deleteLater()
        while len(self.lanes) < count:
            lane = SlotLane(self._lane_page)
            lane.set_palette(self._colours)
            self._lane_column.addWidget(lane)
            lane.show()  # at once: a layout would show it one turn of the event loop later
            self.lanes.append(lane)
        self.area.show_lanes(self.lanes)

    def _show_legend(self) -> None:
        colours = self._colours
        entries = [
            Entry("this turn", colours.kv),
            Entry(KEPT_WORDS, kept_colour(colours), brief="kept"),
        ]
        if any(lane.others_tok for lane in self._pool.lanes):
            entries.append(Entry("held by others", colours.others, brief="others"))
        if any(lane.part_tok > lane.cap_tok for lane in self._pool.lanes):
            entries.append(Entry("beyond training, never used", colours.others, brief="unused"))
        self.legend.set_entries(entries)


class _LaneScroll(QScrollArea):
    """As high as its lanes, up to ``MOST_LANES``; more are scrolled, by keys too."""

    def __init__(self, page: QWidget) -> None:
        super().__init__()
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Slots, one below the other")
        set_role(self, "ringed")
        self._lanes: list[SlotLane] = []

    def show_lanes(self, lanes: list[SlotLane]) -> None:
        """These are the lanes now."""
        self._lanes = lanes
        # Where nothing is scrolled there is nothing to do by key.
        has_more = len(lanes) > MOST_LANES
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if has_more else Qt.FocusPolicy.NoFocus)
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if has_more else policy.ScrollBarAlwaysOff
        )
        self._fit_height()

    def sizeHint(self) -> QSize:
        """As high as it shows."""
        return QSize(super().sizeHint().width(), self.maximumHeight())

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit_height()

    def _fit_height(self) -> None:
        shown = min(MOST_LANES, len(self._lanes))
        if not shown:
            return
        self._lanes[0].ensurePolished()
        gap = STEP_PX + STEP_PX // 2
        each = self._lanes[0].sizeHint().height()
        frame = 2 * self.frameWidth() + 2
        self.setFixedHeight(shown * each + (shown - 1) * gap + frame)
