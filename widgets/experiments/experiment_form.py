"""The form in which an experiment is set up: what for, on what work, with what settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from engine_bridge.settings.row import Setting
from resources.tokens import PANEL_GAP_PX, PANEL_PADDING_PX, STEP_PX, Palette
from widgets.experiments.axis_rows import AxisRows
from widgets.experiments.choice_grid import ChoiceGrid
from widgets.experiments.draft_checks import DraftChecks
from widgets.experiments.form_field import FormField
from widgets.experiments.form_fields import (
    AXES,
    DRAFTS,
    FIELDS,
    SOURCE,
    FieldSpec,
    FormOffers,
    Offer,
    Part,
    Shape,
)
from widgets.experiments.form_values import FILE, FormValues
from widgets.experiments.kind_words import BY_KIND
from widgets.long_words import breakable
from widgets.sentence_label import sentence_label
from widgets.theme import set_role

_PATH = "path"
# Beside the fields of the table: where the user's own text is.
_PATH_SPEC = FieldSpec(_PATH, "File", (), Part.WORK, Shape.PATH)


class ExperimentForm(QFrame):
    """All kinds of experiments in one form: what was typed for one is there for the others.

    Signals:
        edited: Somebody typed or chose; the ``FormValues`` now.
        start_wanted: The experiment of these ``FormValues`` is to begin.
        back_wanted: The list of experiments is to be shown again.
        path_requested: Name (str) of the field that a file is to be chosen for.
    """

    edited = Signal(object)
    start_wanted = Signal(object)
    back_wanted = Signal()
    path_requested = Signal(str)

    def __init__(
        self, settings: Sequence[Setting], kinds: Sequence[str], parent: QWidget | None = None
    ) -> None:
        """Make an empty form.

        Args:
            settings: What a sweep can vary.
            kinds: Keys of the experiments that can be set up, the first one chosen.
            parent: The parent.
        """
        super().__init__(parent)
        set_role(self, "panel")
        self.setAccessibleName("New experiment")
        self._offers = FormOffers()
        self._problems: Mapping[str, str] = {}
        self._notes: Mapping[str, str] = {}
        self._must_tell_all = False
        self.kinds = ChoiceGrid("Kind of experiment")
        self.kinds.set_offers(
            [Offer(key, BY_KIND[key].name, BY_KIND[key].question) for key in kinds]
        )
        self.kind_about = sentence_label("hint")
        self.sources = ChoiceGrid("Work")
        self.source_about = sentence_label("hint")
        self.axes = AxisRows(settings)
        self.drafts = DraftChecks()
        self.fields = {spec.name: FormField(spec) for spec in FIELDS}
        self.path = FormField(_PATH_SPEC)
        self.headings = {part: _heading(part) for part in Part}
        self.estimate = sentence_label("hint")
        self.start = QPushButton("Start")
        set_role(self.start, "primary")
        self._lay_out()
        self._connect()
        self._show_kind()

    # --- What stands in it --------------------------------------------------------------

    def values(self) -> FormValues:
        """All that was typed and chosen."""
        texts = {name: field.text() for name, field in self.fields.items()}
        return FormValues(
            kind=self.kinds.key(),
            source=self.sources.key(),
            texts={**texts, _PATH: self.path.text()},
            axes=self.axes.values(),
            drafts=self.drafts.paths(),
        )

    def set_kind(self, key: str) -> None:
        """Set that kind of experiment up; all else stays as it is."""
        self.kinds.set_key(key)
        self._on_chosen()

    def set_text(self, name: str, text: str) -> None:
        """Put ``text`` into a field, as if it had been typed."""
        (self.path if name == _PATH else self.fields[name]).set_text(text)

    # --- What is offered and said -------------------------------------------------------

    def set_offers(self, offers: FormOffers) -> None:
        """Offer these; what was typed and chosen stays."""
        self._offers = offers
        self.sources.set_offers(offers.sources)
        self.drafts.set_offers(offers.drafts)
        for name, choices in offers.choices.items():
            self.fields[name].set_offers(choices)
        self._show_kind()
        self._show_start()

    def set_now(self, values: Mapping[str, str]) -> None:
        """Say what every setting stands at now, by key."""
        self.axes.set_now(values)

    def set_checked(
        self, problems: Mapping[str, str], notes: Mapping[str, str], estimate: str
    ) -> None:
        """Say what was found, beside fields that were filled in; after ``tell_all`` beside all.

        Args:
            problems: What is wrong, by the field's name; the empty name is of the whole.
            notes: What is good to know, by the field's name.
            estimate: How long it takes.
        """
        self._problems, self._notes = problems, notes
        said = self._why_not() or problems.get("", "") or estimate
        self.estimate.setText(breakable(said))
        self._show_said()

    def tell_all(self) -> None:
        """Say what is wrong beside every field from now on, and go to the first of them."""
        self._must_tell_all = True
        self._show_said()
        for name, field in self.fields.items():
            if name in self._problems and not field.isHidden():
                field.control.setFocus()
                return
        if any(name.startswith(AXES) for name in self._problems):
            self.axes.rows[0].setting.setFocus()

    def set_palette(self, palette: Palette) -> None:
        """Use these colours."""
        self.axes.set_palette(palette)
        for field in self.fields.values():
            field.set_palette(palette)

    # --- Inside -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        page = QWidget()
        set_role(page, "scrolled")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, PANEL_PADDING_PX, 0)
        inner.setSpacing(STEP_PX)
        for widget in (
            self.kinds, self.kind_about, self.headings[Part.WORK], self.sources,
            self.source_about, self.path,
        ):  # fmt: skip
            inner.addWidget(widget)
        for part in Part:
            if part is not Part.WORK:
                inner.addWidget(self.headings[part])
            if part is Part.SETTINGS:
                inner.addWidget(self.axes)
            for spec in FIELDS:
                if spec.part is part:
                    inner.addWidget(self.fields[spec.name])
            if part is Part.SETTINGS:
                inner.addWidget(self.drafts)
        inner.addStretch(1)
        self.area = QScrollArea()
        self.area.setWidget(page)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setAccessibleName("Form of the experiment")
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_PADDING_PX, 2 * STEP_PX, STEP_PX, PANEL_PADDING_PX)
        column.setSpacing(2 * STEP_PX)
        column.addLayout(self._head())
        column.addWidget(self.area, 1)
        column.addLayout(self._foot())

    def _head(self) -> QHBoxLayout:
        self.back = QPushButton("‹ Experiments")
        self.back.setAccessibleName("Back to the list of experiments")
        self.back.setToolTip("Back to the list of experiments (Esc)")
        set_role(self.back, "flat")
        title = QLabel("New experiment")
        set_role(title, "heading")
        line = QHBoxLayout()
        line.setSpacing(PANEL_GAP_PX)
        line.addWidget(self.back)
        line.addWidget(title)
        line.addStretch(1)
        return line

    def _foot(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 2 * STEP_PX, 0)
        line.setSpacing(PANEL_GAP_PX)
        line.addWidget(self.estimate, 1)
        line.addWidget(self.start, 0, Qt.AlignmentFlag.AlignBottom)
        return line

    def _connect(self) -> None:
        self.back.clicked.connect(self.back_wanted)
        self.start.clicked.connect(self._on_start)
        self.kinds.key_chosen.connect(self._on_chosen)
        self.sources.key_chosen.connect(self._on_chosen)
        self.axes.edited.connect(self._on_edited)
        self.drafts.edited.connect(self._on_edited)
        for field in (self.path, *self.fields.values()):
            field.edited.connect(self._on_chosen)
            field.path_requested.connect(self.path_requested)
            if isinstance(field.control, QLineEdit):
                field.control.returnPressed.connect(self._on_start)

    def _on_start(self) -> None:
        if self.start.isEnabled():
            self.start_wanted.emit(self.values())

    def _on_edited(self) -> None:
        self.edited.emit(self.values())

    def _on_chosen(self, _: str = "") -> None:
        self._show_kind()
        self._on_edited()

    def _show_kind(self) -> None:
        """Show what stands in the form of this kind, and with what stands in it."""
        kind, values = self.kinds.key(), self.values()
        chosen = self.kinds.chosen()
        self.kind_about.setText(chosen.about if chosen else "")
        shown: set[Part] = set()
        for spec in FIELDS:
            is_shown = (
                kind in spec.kinds
                and not spec.is_never_with(values.source)
                and (spec.when is None or values.text(spec.when[0]) == spec.when[1])
            )
            self.fields[spec.name].setVisible(is_shown)
            if is_shown:
                shown.add(spec.part)
        self.axes.setVisible(kind == "sweep")
        self.drafts.setVisible(kind == "tune")
        for part, heading in self.headings.items():
            heading.setVisible(part in shown)
        has_source = kind != "quality"
        for widget in (self.sources, self.source_about):
            widget.setVisible(has_source)
        self._show_source()
        self._show_start()
        self._show_said()

    def _show_source(self) -> None:
        source = self.sources.key()
        is_played = not self.sources.isHidden()
        self.path.setVisible(is_played and source == FILE)
        usual = {**self._offers.usual.get("", {}), **self._offers.usual.get(source, {})}
        for name, field in self.fields.items():
            field.set_usual(usual.get(name, ""))

    def _why_not(self) -> str:
        """Why an experiment of this kind cannot be started now."""
        is_free = self.kinds.key() in self._offers.free_kinds
        return "" if is_free else self._offers.why_no_start

    def _show_start(self) -> None:
        why_not = self._why_not()
        self.start.setEnabled(not why_not)
        self.start.setToolTip(why_not or "Begin (Enter)")
        if why_not:
            self.estimate.setText(why_not)

    def _show_said(self) -> None:
        problems = self._problems
        notes = {**self._offers.notes, **self._notes}
        for name, field in self.fields.items():
            is_told = self._must_tell_all or field.is_touched
            field.set_problem(problems.get(name, "") if is_told else "")
            field.set_note(notes.get(name, ""))
        source = self.sources.chosen()
        about = source.about if source else ""
        has_path = bool(self.path.text().strip())
        wrong = problems.get(SOURCE, "")
        is_told = self._must_tell_all or self.sources.key() != FILE or has_path
        self.source_about.setText(breakable(wrong if wrong and is_told else about))
        set_role(self.source_about, "hint-warning" if wrong and is_told else "hint")
        self._show_axes(problems, notes)
        self.drafts.set_note(problems.get(DRAFTS, "") or notes.get(DRAFTS, ""))

    def _show_axes(self, problems: Mapping[str, str], notes: Mapping[str, str]) -> None:
        count = len(self.axes.rows)
        own = [problems.get(f"{AXES}.{place}", "") for place in range(count)]
        values = self.axes.values()
        if not self._must_tell_all:
            # A row that is being filled in is not wrong yet.
            full = [bool(axis.key and axis.values.strip()) for axis in values]
            own = [
                sentence if is_full else "" for sentence, is_full in zip(own, full, strict=False)
            ]
        whole = problems.get(AXES, "")
        is_told = bool(whole) and (self._must_tell_all or bool(values))
        note = whole if is_told else notes.get(AXES, "")
        self.axes.set_problems(own, note, is_problem=is_told)


def _heading(part: Part) -> QLabel:
    label = QLabel(str(part.value))
    label.setContentsMargins(0, 2 * STEP_PX, 0, 0)
    set_role(label, "heading")
    return label
