"""What the result view shows of one experiment, as plain data: words, a table, charts.

Whoever fills it has decided every word and every number; the views only lay them out. A row and a
point carry the number of the configuration they are of, so that one can be found by the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine_bridge.settings.domain import Value

State = Literal["running", "done", "stopped", "failed", "cut"]
"""How far it came; ``cut`` is one whose program ended in the middle."""

Standing = Literal["", "best", "alike", "worse"]
"""How a configuration compares: the best, not told from it, worse beyond the spread, or no word."""


@dataclass(frozen=True)
class Column:
    """One column of the table.

    Attributes:
        key: Its name, the same in every sheet that has it.
        title: What is in it, without the unit.
        unit: What its numbers are counted in; may be empty.
        tip: What it means, a sentence or two; may be empty.
        is_number: Numbers stand at the right and are sorted as such; words at the left.
        rank: Where there is no room the column of the highest rank is left out first; one of
            rank 0 never is.
    """

    key: str
    title: str
    unit: str = ""
    tip: str = ""
    is_number: bool = True
    rank: int = 0


@dataclass(frozen=True)
class Field:
    """What stands in one place of the table.

    Attributes:
        text: As it is shown, without the unit.
        number: By what it is sorted in a column of numbers; None stands last either way.
        standing: How it compares with the others of its column; what is alike looks alike.
    """

    text: str
    number: float | None = None
    standing: Standing = ""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        cell: Number of its configuration in the experiment, from 0.
        name: What tells the configuration from the others.
        fields: One for each column.
        skipped: Why it was not measured, in a sentence; empty if it was.
        disturbed: What disturbed its runs, a sentence each; empty for quiet ones.
        notes: More sentences that belong to it.
        settings: Every setting that differs from the default: its name, and its value in words.
        config: Settings by key that make the engine run as it did; empty where none can be applied.
    """

    cell: int
    name: str
    fields: tuple[Field, ...]
    skipped: str = ""
    disturbed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    config: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes:
        title: What it shows.
        unit: What its numbers are counted in; may be empty.
        is_log: Logarithmic; all its values are above 0 then.
        names: Texts of the values 0, 1, 2 … where it shows names in place of numbers.
        starts_at_zero: Whether 0 is on it, or only the stretch that the points need.
    """

    title: str
    unit: str = ""
    is_log: bool = False
    names: tuple[str, ...] = ()
    starts_at_zero: bool = True

    @property
    def words(self) -> str:
        """Title and unit."""
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True)
class Point:
    """One point of a chart.

    Attributes:
        cell: Number of the configuration it is of.
        x: Where it stands.
        y: How high it stands.
        low: Lower end of its error bar; None for none.
        high: Upper end.
        is_hollow: Drawn as an outline; what that means stands in the chart's note.
        text: All about it, a line each; the figures with their units.
    """

    cell: int
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    is_hollow: bool = False
    text: str = ""


@dataclass(frozen=True)
class Line:
    """Points that belong together.

    Attributes:
        name: What it is of, for the legend; empty where there is one line only.
        points: Ascending along the horizontal axis.
        is_joined: Whether a line goes from point to point.
        is_stepped: Whether that line stays level until the next point (a best so far).
        has_marks: Whether its points are seen and can be picked; a line alone otherwise.
    """

    name: str
    points: tuple[Point, ...]
    is_joined: bool = True
    is_stepped: bool = False
    has_marks: bool = True


@dataclass(frozen=True)
class Mark:
    """A dotted line across a plot.

    Attributes:
        at: Where.
        text: What stands beside it, a few words.
        is_upright: At a value of the horizontal axis; else at one of the vertical one.
        is_limit: Whether it is a limit to be kept, in the colour of a warning.
    """

    at: float
    text: str
    is_upright: bool = False
    is_limit: bool = False


@dataclass(frozen=True)
class Plot:
    """One plot: a pair of axes with what stands between them.

    Attributes:
        title: What it shows.
        x: The horizontal axis.
        y: The vertical one.
        lines: At least one with at least one point.
        marks: Limits and knees.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Chart:
    """One page of charts: plots that are read together, side by side.

    Attributes:
        key: Its name, the same in every sheet that has it.
        title: A word or two, to choose it by.
        plots: One to three; lines of the same place in each are the same lines.
        said: What is seen in it, in sentences (where the knee is); empty if there is nothing.
        note: What points and bars are made of.
    """

    key: str
    title: str
    plots: tuple[Plot, ...]
    said: str = ""
    note: str = ""


@dataclass(frozen=True)
class ResultSheet:
    """All that is shown of one experiment.

    Attributes:
        key: The experiment's own key; the same key again is the same experiment, further on.
        kind: What was done: ``bench``, ``sweep``, ``compare``, ``users``, ``tune``, ``quality`` or
            ``probe``.
        title: One line.
        subtitle: What was done, when, on which model, engine and machine.
        state: How far it came.
        state_words: What its state means for the reader, or why it failed; empty for a done one.
        conclusion: What came out, a sentence each; the first one says most.
        steps: What was tried in its order, what was seen and what became of it, a line each.
        disturbances: What made its figures unsteady, a sentence each.
        notes: What ± means, and others to be read below the table.
        subject: Workload, model, engine, machine and common settings: name and words.
        columns: The table's columns, those first that tell the rows apart.
        name_columns: How many of them do that, at least 1.
        rows: In the order in which they were measured.
        is_sortable: Whether the numbers of a column are of one kind.
        charts: Those that have data for their axes.
        is_resumable: Whether it can go on where it ended.
    """

    key: str
    kind: str
    title: str
    subtitle: str = ""
    state: State = "done"
    state_words: str = ""
    conclusion: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    subject: tuple[tuple[str, str], ...] = ()
    columns: tuple[Column, ...] = ()
    name_columns: int = 1
    rows: tuple[Row, ...] = ()
    is_sortable: bool = True
    charts: tuple[Chart, ...] = ()
    is_resumable: bool = False

    def row_of(self, cell: int) -> Row | None:
        """The first row of a configuration, by its number; None where it has none."""
        return next((row for row in self.rows if row.cell == cell), None)
