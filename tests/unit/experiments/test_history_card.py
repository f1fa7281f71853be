"""The picture card: all its parts in their place, in both themes, whatever the experiment."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.experiments.card_chart import MOST_ROWS, chart_of
from app.experiments.experiment import Experiment, Kind, State, Subject
from app.experiments.history_card import MOST_FIGURES, card_png, draw_card, figures_of, subtitle_of
from resources.card_tokens import HEIGHT_PX, MARGIN_PX, WIDTH_PX
from resources.tokens import DARK, LIGHT, Palette
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, sweep

pytestmark = pytest.mark.gui

LONG = "word " * 400
NOISY = ("", "Other programs took 40 % of the cores.", "", "", "")
CASES = {
    "bench": experiment(),
    "sweep": sweep(),
    "one run": experiment(cells=[cell("", runs=1)]),
    "many runs": experiment(cells=[cell("", runs=60)]),
    "quality": experiment(
        cells=[cell("q8_0", runs=0, extra={"mean_kld": 0.0006})], kind=Kind.QUALITY
    ),
    "disturbed": experiment(cells=[cell("", disturbed=NOISY)]),
    "disturbed sweep": experiment(cells=[cell("a", speed=2.0), cell("b", disturbed=NOISY)]),
    "nothing": experiment(cells=[], state=State.FAILED),
    "unknown": Experiment("k", Kind.PROBE, "", State.CUT, "", Subject()),
    "long words": experiment(
        title=LONG,
        cells=[cell(LONG + str(n), {"chat_template_file": LONG}, speed=n + 1) for n in range(9)],
        subject=msgspec.structs.replace(SUBJECT, model=LONG, machine=LONG, engine=LONG),
    ),
    "zero": experiment(cells=[cell("a", speed=1e-12), cell("b", speed=1e-12)]),
}  # fmt: skip


def margins(image: QImage) -> set[str]:
    """Colours at the very edges of a card."""
    return {
        image.pixelColor(x, y).name().upper()
        for x in range(WIDTH_PX)
        for y in range(HEIGHT_PX)
        if (x % 8 == 0 or y % 8 == 0)
        and not (MARGIN_PX <= x < WIDTH_PX - MARGIN_PX and 30 <= y < HEIGHT_PX - 30)
    }


def warned(image: QImage) -> int:
    """Pixels in the colour of what needs a person."""
    colour = QColor(DARK.warning)
    return sum(
        image.pixelColor(x, y) == colour
        for x in range(0, WIDTH_PX, 2)
        for y in range(300, HEIGHT_PX, 2)
    )


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
@pytest.mark.parametrize("name", CASES)
def test_that_nothing_leaves_its_place(qapp: QApplication, name: str, palette: Palette) -> None:
    image = draw_card(CASES[name], palette)
    assert (image.width(), image.height()) == (WIDTH_PX, HEIGHT_PX)
    assert margins(image) == {palette.background.upper()}


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda palette: palette.name)
def test_that_bars_stand_in_the_accent_on_panels(qapp: QApplication, palette: Palette) -> None:
    image = draw_card(sweep(), palette)
    colours = [
        image.pixelColor(x, y) for x in range(0, WIDTH_PX, 3) for y in range(0, HEIGHT_PX, 3)
    ]
    assert colours.count(QColor(palette.accent)) > 200
    assert colours.count(QColor(palette.panel)) > 5000


def test_that_the_png_is_the_picture(qapp: QApplication) -> None:
    content = card_png(experiment(), LIGHT)
    assert content.startswith(b"\x89PNG")
    image = QImage.fromData(content)
    assert image.convertToFormat(QImage.Format.Format_RGB32) == draw_card(experiment(), LIGHT)


def test_that_the_figures_are_those_of_the_best_cell_with_their_spread() -> None:
    figures = figures_of(sweep())
    assert len(figures) == MOST_FIGURES
    assert [figure.label for figure in figures] == ["TTFT", "TPOT", "Total throughput", "MBU"]
    speeds = sorted(run.total_tok_s or 0.0 for run in sweep().cells[-1].runs)
    assert figures[2].value == f"{speeds[2]:.1f}"
    assert figures[2].unit == "tok/s"
    assert figures[2].note.startswith("± ")
    assert figures[2].note.endswith(" · 5 runs")
    assert figures_of(CASES["one run"])[0].note == "1 run"
    assert not figures_of(CASES["nothing"])


@pytest.mark.parametrize(
    ("title", "said"),
    [
        (f"{SUBJECT.model}, chat, slots=1", "chat, slots=1"),
        (f"{SUBJECT.model}, chat", "chat · slots=1"),
        ("Chat at night", "Chat at night · slots=1"),
        ("", "slots=1"),
    ],
)
def test_that_nothing_is_said_twice(title: str, said: str) -> None:
    assert subtitle_of(experiment(title=title)) == said


def test_that_the_figures_of_several_say_of_which_they_are() -> None:
    alike = [cell(f"slots={n}", {"slots": n}) for n in (1, 2)]
    told = subtitle_of(experiment(cells=alike, kind=Kind.SWEEP))
    assert "not told apart, highest median of 2: slots=" in told
    assert subtitle_of(sweep()) == "Slots from 1 up · highest throughput of 6: slots=32"


def test_that_the_figures_of_quality_are_its_own() -> None:
    (figure,) = figures_of(CASES["quality"])
    assert (figure.label, figure.value) == ("Mean KLD", "0.0006")


def test_that_a_chart_of_many_cells_shows_the_best_and_says_so() -> None:
    made = experiment(cells=[cell(f"c{n}", speed=1 + n) for n in range(12)])
    chart = chart_of(made)
    assert [bar.name for bar in chart.bars] == ["c11", "c10", "c9", "c8", "c7"]
    assert len(chart.bars) == MOST_ROWS
    assert "the best 5 of 12" in chart.note
    assert [bar.is_best for bar in chart.bars] == [True, *[False] * 4]


def test_that_no_bar_stands_out_where_none_is_told_from_the_others() -> None:
    other = cell("slots=2", runs=3, speed=1.001)
    alike = [cell("slots=1", runs=3), msgspec.structs.replace(other, runs=other.runs[::-1])]
    swept = chart_of(experiment(cells=alike, kind=Kind.SWEEP))
    assert [bar.is_best for bar in swept.bars] == [True, True]


def test_that_a_chart_of_few_cells_keeps_their_order() -> None:
    chart = chart_of(sweep(cells=3))
    assert [bar.name for bar in chart.bars] == ["slots=1", "slots=2", "slots=4"]
    assert [bar.is_best for bar in chart.bars] == [False, False, True]
    assert all(bar.spread > 0 for bar in chart.bars)
    assert chart.title == "Total throughput, tok/s"


def test_that_a_chart_of_one_cell_shows_its_runs() -> None:
    chart = chart_of(experiment())
    assert chart.is_of_runs
    assert [bar.name for bar in chart.bars] == [f"run {n}" for n in range(1, 6)]
    assert "the first 24 of 60 runs" in chart_of(CASES["many runs"]).note


def test_that_disturbed_runs_are_marked(qapp: QApplication) -> None:
    bench = CASES["disturbed"]
    chart = chart_of(bench)
    assert [bar.is_disturbed for bar in chart.bars] == [False, True, False, False, False]
    assert chart.note.startswith("* 1 disturbed, hollow · median ± spread ")
    assert figures_of(bench)[0].note.endswith(" · 5 runs *")
    # Of another colour too, where points have no room for words.
    assert warned(draw_card(bench)) > warned(draw_card(experiment())) == 0


def test_that_configurations_with_disturbed_runs_are_marked() -> None:
    chart = chart_of(CASES["disturbed sweep"])
    assert [bar.is_disturbed for bar in chart.bars] == [False, True]
    assert chart.note.startswith("* a run was disturbed · ")


def test_that_a_chart_of_nothing_says_so() -> None:
    assert chart_of(CASES["nothing"]).title == "Nothing was measured"
