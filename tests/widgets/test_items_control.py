"""The field of a list whose items are long: typed, refused, shortened."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine_bridge.settings.table import BY_KEY
from widgets.items_control import ItemsControl
from widgets.setting_row import SettingRow

pytestmark = pytest.mark.gui


@pytest.fixture
def row(qtbot: QtBot) -> SettingRow:
    """The row of the remote workers."""
    row = SettingRow(BY_KEY["rpc_servers"])
    qtbot.addWidget(row)
    row.resize(400, row.sizeHint().height())
    row.show()
    return row


def _field(row: SettingRow) -> ItemsControl:
    assert isinstance(row.control, ItemsControl)
    return row.control


def test_that_typed_items_become_a_list(row: SettingRow, qtbot: QtBot) -> None:
    control = _field(row)
    assert "127.0.0.1" in control.field.placeholderText()
    control.field.setFocus()
    QTest.keyClicks(control.field, "127.0.0.1:1, other:2")
    with qtbot.waitSignal(row.changed) as told:
        QTest.keyClick(control.field, Qt.Key.Key_Return)
    assert told.args == ["rpc_servers", ("127.0.0.1:1", "other:2")]
    assert control.label.full_text() == "2 entries"
    assert control.field.toolTip() == "127.0.0.1:1\nother:2"


def test_that_what_is_no_item_is_refused_with_a_sentence(row: SettingRow) -> None:
    control = _field(row)
    QTest.keyClicks(control.field, "nowhere")
    QTest.keyClick(control.field, Qt.Key.Key_Return)
    assert row.is_refused()
    assert "HOST:PORT" in row.hint()
    assert row.value() == ()
    QTest.keyClick(control.field, Qt.Key.Key_Escape)
    assert not row.is_refused()


def test_that_many_items_are_shortened_where_there_is_no_room(row: SettingRow) -> None:
    workers = tuple(f"machine-number-{number}.example:50052" for number in range(9))
    _field(row).field.clearFocus()  # with it, the whole list stands there to be edited
    row.set_value(workers)
    assert _field(row).field.text().endswith("and 8 more")
    assert _field(row).label.full_text() == "9 entries"
    row.set_value(())
    assert _field(row).field.text() == ""
    assert _field(row).label.full_text() == "none"


def test_that_a_short_list_is_named_and_an_example_shows_its_commas(qtbot: QtBot) -> None:
    rows = {key: SettingRow(BY_KEY[key]) for key in ("devices", "tensor_split")}
    for row in rows.values():
        qtbot.addWidget(row)
    # That no device is to be used must not read as one device.
    rows["devices"].set_value(("none",))
    assert _field(rows["devices"]).label.full_text() == "none"
    assert _field(rows["tensor_split"]).field.placeholderText() == "such as 3,1"
    rows["tensor_split"].set_value(("3", "1"))
    assert _field(rows["tensor_split"]).label.full_text() == "3,1"
