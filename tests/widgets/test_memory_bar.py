"""Memory in words and as a bar: what is, what would be, what there is."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from resources.tokens import DARK, LIGHT
from widgets.byte_text import ByteUnit, amount_text, byte_text, change_text
from widgets.legend_line import Entry, LegendLine
from widgets.memory_bar import MemoryBar
from widgets.memory_parts import MemoryState, Parts

GIB, MIB = 1 << 30, 1 << 20


def plan(kv_bytes: int, compute_bytes: int = 300 * MIB) -> MemoryPlan:
    total = GIB + 100 * MIB + kv_bytes + compute_bytes
    uses = BytesByUse(
        weights=100 * MIB, weights_mapped=GIB, kv=kv_bytes, compute=compute_bytes, total=total
    )
    devices = (
        DeviceBytes("CUDA0", GIB, kv_bytes, compute_bytes, 20 * GIB, 24 * GIB),
        DeviceBytes("CPU", 100 * MIB, 0, 0, 10 * GIB, 16 * GIB),
    )
    return MemoryPlan(uses, devices, None, True, (), 0.004)


@pytest.mark.parametrize(
    ("amount_bytes", "text"),
    [
        (0, "0 MiB"),
        (500_000, "0.5 MiB"),
        (131 * MIB, "131 MiB"),
        (GIB, "1.0 GiB"),
        (round(7.94 * GIB), "7.9 GiB"),
        (139 * GIB, "139.0 GiB"),
    ],
)
def test_that_bytes_are_short_and_have_a_unit(amount_bytes: int, text: str) -> None:
    assert byte_text(amount_bytes) == text


def test_that_a_small_amount_beside_large_ones_is_not_rounded_away() -> None:
    assert amount_text(20 * MIB, ByteUnit.GIB) == "0.02"


def test_that_only_what_reads_differently_has_an_arrow() -> None:
    assert change_text(GIB, GIB + 1000, ByteUnit.GIB) == "1.0"
    assert change_text(GIB, 2 * GIB, ByteUnit.GIB) == "1.0 → 2.0"
    assert change_text(GIB, None, ByteUnit.GIB) == "1.0"


def test_that_what_caches_may_take_is_said_and_not_shown_as_taken(qtbot: QtBot) -> None:
    bar = MemoryBar()
    qtbot.addWidget(bar)
    some = msgspec.structs.replace(plan(GIB), host_caches=8 * GIB)
    bar.set_present(some, 2 * GIB, 16 * GIB, "System memory", "CPU")
    alone = MemoryState(Parts.of(some, "CPU"), None, 2 * GIB, 16 * GIB)
    assert alone.free_text() == "free 13.9 GiB"
    assert "prompt caches up to 8.0 GiB" in bar.text()
    assert "behind the rest" in bar._bar.toolTip()
    bar.set_present(some, 2 * GIB, 16 * GIB, "System memory", "CPU", kept_bytes=GIB)
    assert "prompt caches 1.0, up to 8.0 GiB" in bar.text()
    bar.set_present(some, 2 * GIB, 16 * GIB, "System memory", "CPU", kept_bytes=3 * MIB // 2)
    assert "prompt caches 1.5 MiB, up to 8.0 GiB" in bar.text()
    bar.set_present(some, 2 * GIB, 16 * GIB, "System memory", "CPU", kept_bytes=GIB)
    assert "3.1 of 16.0 GiB" in bar.text()
    assert "free 12.9 GiB" in bar.text()
    bar.set_present(some, 2 * GIB, 16 * GIB, "System memory", "CPU")
    bar.set_predicted(msgspec.structs.replace(some, host_caches=GIB))
    assert "prompt caches up to 8.0 → 1.0 GiB" in bar.text()
    bar.set_present(some, 2 * GIB, 24 * GIB, "GPU memory", "CUDA0")
    bar.set_predicted(None)
    assert "caches" not in bar.text()


def test_that_an_entry_takes_its_brief_words_before_one_is_left_out(qtbot: QtBot) -> None:
    line = LegendLine()
    qtbot.addWidget(line)
    entries = [Entry("free 1 GiB"), Entry("prompt caches 3, up to 256 MiB", brief="caches 3")]
    line.set_entries(entries)
    wide_px = line.fontMetrics().horizontalAdvance("free 1 GiB prompt caches 3, up to 256 MiB MM")
    line.resize(wide_px, 20)
    assert [entry.text for entry in line.shown_entries()] == [entry.text for entry in entries]
    line.resize(line.fontMetrics().horizontalAdvance("free 1 GiB caches 3 MM"), 20)
    assert [entry.text for entry in line.shown_entries()] == ["free 1 GiB", "caches 3"]
    assert line.fitting() == 2
    assert "up to 256 MiB" in line.toolTip()


def test_that_caches_are_said_in_few_words_before_they_are_only_counted(qtbot: QtBot) -> None:
    bar = MemoryBar()
    qtbot.addWidget(bar)
    many = msgspec.structs.replace(plan(GIB), host_caches=9 * GIB)
    bar.resize(2000, bar.sizeHint().height())
    bar.show()
    bar.set_present(many, 2 * GIB, 24 * GIB, "System memory", "CPU")
    bar.set_predicted(msgspec.structs.replace(plan(7 * GIB), host_caches=16 * GIB))
    rest = bar._rest
    said = [entry.text for entry in rest.shown_entries()]
    assert said[-1] == "prompt caches up to 9.0 → 16.0 GiB"
    metrics = rest.fontMetrics()
    bar.resize(metrics.horizontalAdvance(" ".join((*said[:-1], "caches ≤ 16.0 GiB"))) + 60, 120)
    QApplication.processEvents()
    assert rest.shown_entries()[-1].text == "caches ≤ 16.0 GiB"
    assert rest.fitting() == len(said)


def test_that_every_byte_of_a_plan_is_in_a_part() -> None:
    uses = BytesByUse(
        weights=1, weights_mapped=2, kv=4, recurrent=8, compute=16, output=32, draft=64, total=127
    )
    parts = Parts.of(MemoryPlan(uses, (), None, True, (), 0.0), None)
    assert parts.total == uses.total
    assert parts.in_order() == (2, 1, 12, 48, 64)


def test_that_one_device_can_be_looked_at_alone() -> None:
    parts = Parts.of(plan(2 * GIB), "CUDA0")
    assert parts.total == GIB + 2 * GIB + 300 * MIB
    assert Parts.of(plan(2 * GIB), "ROCm9").total == 0


def test_that_too_much_is_said_in_bytes() -> None:
    state = MemoryState(Parts(kv=GIB), Parts(kv=7 * GIB), 2 * GIB, 8 * GIB)
    assert state.excess_text() == "1.0 GiB more than there is"
    assert state.free_text() == ""


# --- The widget ------------------------------------------------------------------------------


@pytest.fixture
def bar(qtbot: QtBot, themed: QApplication) -> MemoryBar:
    made = MemoryBar()
    qtbot.addWidget(made)
    made.resize(306, made.sizeHint().height())
    made.set_palette(DARK)
    return made


def image_of(bar: MemoryBar) -> QImage:
    stack = next(w for w in bar.findChildren(QWidget) if type(w).__name__ == "_Bar")
    QApplication.processEvents()
    return stack.grab().toImage()


def inks(image: QImage) -> list[str]:
    """Colours of the middle row, left to right, runs folded."""
    y = image.height() // 2
    names = [image.pixelColor(x, y).name().upper() for x in range(image.width())]
    return [name for index, name in enumerate(names) if index == 0 or names[index - 1] != name]


def test_that_the_words_say_what_the_bar_shows(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 24 * GIB, "GPU memory")
    assert bar.text() == (
        "GPU memory: 5.4 of 24.0 GiB; weights 1.1 · KV 2.0 · compute 0.3 GiB; "
        "others 2.0 GiB · free 18.6 GiB"
    )
    bar.set_predicted(plan(4 * GIB))
    assert "5.4 → 7.4 of 24.0 GiB" in bar.text()
    assert "KV 2.0 → 4.0" in bar.text()
    assert "free 18.6 → 16.6 GiB" in bar.text()
    assert "weights 1.1 ·" in bar.text()


def test_that_a_small_model_is_counted_in_mib(bar: MemoryBar) -> None:
    uses = BytesByUse(weights_mapped=253 * MIB, kv=18 * MIB, compute=21 * MIB, total=292 * MIB)
    bar.set_present(MemoryPlan(uses, (), None, True, (), 0.0), 6 * GIB, 16 * GIB, "System memory")
    assert "weights 253 · KV 18 · compute 21 MiB" in bar.text()


def test_that_the_stack_stands_in_its_order(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 8 * GIB, "Memory")
    seen = inks(image_of(bar))
    order = [seen.index(colour) for colour in (DARK.others, DARK.weights, DARK.kv, DARK.compute)]
    assert order == sorted(order)
    assert seen[-1] == DARK.raised


def test_that_a_prediction_is_hatched_beside_the_present(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 12 * GIB, "Memory")
    alone = image_of(bar)
    bar.set_predicted(plan(5 * GIB))
    more = image_of(bar)
    # Behind the present stack, in the colour of what grows, but not filled with it.
    x = round(306 * 6.5 / 12)
    assert alone.pixelColor(x, 8) == QColor(DARK.raised)
    column = {more.pixelColor(px, 8).name() for px in range(x - 6, x + 6)}
    assert len(column) > 2
    bar.set_predicted(plan(GIB))
    assert image_of(bar) != alone
    bar.set_predicted(None)
    assert image_of(bar) == alone


def test_that_too_much_is_a_warning_in_words_and_colour(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 6 * GIB, "Memory")
    bar.set_predicted(plan(4 * GIB))
    assert "1.4 GiB more than there is" in bar.text()
    assert DARK.warning in inks(image_of(bar))


def test_that_every_state_has_words_and_keeps_its_height(bar: MemoryBar) -> None:
    heights = {bar.sizeHint().height()}
    bar.set_present(None, 2 * GIB, 24 * GIB, "Memory")
    assert "no model loaded" in bar.text()
    heights.add(bar.sizeHint().height())
    bar.set_present(plan(2 * GIB), 0, 0, "Memory")
    assert "size of this memory unknown" in bar.text()
    heights.add(bar.sizeHint().height())
    bar.set_present(plan(2 * GIB), 2 * GIB, 4 * GIB, "Memory")
    bar.set_predicted(plan(9 * GIB))
    heights.add(bar.sizeHint().height())
    assert len(heights) == 1


def test_that_a_screen_reader_gets_the_words(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 24 * GIB, "Memory")
    names = [child.accessibleName() for child in bar.findChildren(QWidget)]
    assert bar.text() in names


def test_that_it_takes_the_other_palette(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 8 * GIB, "Memory")
    bar.set_palette(LIGHT)
    assert LIGHT.kv in inks(image_of(bar))


def test_that_weights_held_twice_are_explained(bar: MemoryBar) -> None:
    bar.set_present(plan(2 * GIB), 2 * GIB, 24 * GIB, "System memory")
    told = [each for each in bar.findChildren(QWidget) if "<table>" in each.toolTip()]
    assert len(told) == 3, "title, total and bar"
    painted = next(each for each in told if each.accessibleDescription())
    assert "can be more than the model's file" in painted.toolTip().replace("&#x27;", "'")
    assert "copies" in painted.accessibleDescription()
    owned = BytesByUse(weights=GIB, kv=GIB, total=2 * GIB)
    bar.set_present(MemoryPlan(owned, (), None, True, (), 0.0), 0, 24 * GIB, "System memory")
    assert "copies" not in painted.toolTip()


def test_that_a_bar_of_what_is_not_known_claims_nothing(bar: MemoryBar) -> None:
    height = bar.sizeHint().height()
    bar.set_present(plan(2 * GIB), 2 * GIB, 24 * GIB, "GPU memory")
    bar.set_unknown("not known yet")
    assert bar.text() == "GPU memory: not known yet"
    assert bar.sizeHint().height() == height
    bar.set_present(plan(2 * GIB), 2 * GIB, 24 * GIB, "GPU memory")
    assert "KV" in bar.text()


def test_that_no_part_is_said_without_its_unit_where_a_line_is_too_short(
    qtbot: QtBot, themed: QApplication
) -> None:
    drafting = BytesByUse(
        weights=GIB // 2, kv=GIB // 2, compute=GIB // 4, draft=GIB, total=2 * GIB + GIB // 4
    )
    bar = MemoryBar()
    qtbot.addWidget(bar)
    bar.set_present(MemoryPlan(drafting, (), None, True, (), 0.0), GIB, 24 * GIB, "System memory")
    bar.resize(900, bar.sizeHint().height())
    bar.show()
    QApplication.processEvents()
    assert bar._parts.text().endswith("draft 1.0 GiB")
    bar.resize(230, bar.height())
    QApplication.processEvents()
    shown = [entry.text for entry in bar._parts._entries[: bar._parts.fitting()]]
    assert shown[-1].endswith(" GiB")
    assert "draft 1.0 GiB" in bar._rest.text()
    assert "weights 0.5 · KV 0.5 · compute 0.2 · draft 1.0 GiB; others" in bar.text()
