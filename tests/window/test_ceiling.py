"""The page "Ceiling" in the whole window, on a real engine."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.window import Window
from tests.window.conftest import PATIENCE_MS

pytestmark = pytest.mark.gui


def test_that_an_answer_becomes_a_point_below_the_roofs(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    gauges = window.gauges
    panel = gauges.ceiling
    window.resize(1700, 900)
    gauges.pages.show_page(1)
    qtbot.waitUntil(panel.isVisible, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "No model runs" not in panel.text(), timeout=PATIENCE_MS)
    assert "Nothing was decoded yet" in panel.text()
    # The peak is read in the first quiet moment after the load.
    qtbot.waitUntil(
        lambda: window.desk.meters.bandwidth.peak().bytes_per_s is not None, timeout=PATIENCE_MS
    )
    view = window.chat.conversation(window.chat.current_id())
    with qtbot.waitSignal(window.desk.chats.answer_finished, timeout=PATIENCE_MS):
        view.submit("one two three " * 20)
    qtbot.waitUntil(lambda: bool(panel.chart.plot.picture.points), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "MBU –" not in panel.text(), timeout=PATIENCE_MS)
    said = panel.text()
    assert "a step" in said
    assert "KV of one stream" in said
    assert "%" in said
    points = panel.chart.plot.picture.points
    (decode,) = [point for point in points if point.kind == "decode"]
    assert decode.is_present
    assert decode.label == "1 stream"
    assert "MBU" in decode.text
    assert any(point.kind == "prefill" for point in points)
    assert [row[0] for row in panel.table.texts()] == ["1"]

    work = window.desk.meters.work
    assert work.present is not None
    model = window.desk.session.model
    assert model is not None
    # F32, and two operations a weight: half an operation a byte, and a little for the cache.
    assert 0.4 < work.present.operations_per_byte < 0.7
    assert work.best_prefill is not None
    assert work.best_prefill.operations_per_byte > 5 * work.present.operations_per_byte
