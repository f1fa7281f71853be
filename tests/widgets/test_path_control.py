"""The field of a file's path: typed, shortened to its end, told to a screen reader."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine_bridge.settings.table import BY_KEY
from widgets.path_control import PathControl
from widgets.setting_row import SettingRow

pytestmark = pytest.mark.gui


def test_that_a_typed_path_becomes_the_value(qtbot: QtBot) -> None:
    row = SettingRow(BY_KEY["lookup_cache_static_path"])
    qtbot.addWidget(row)
    row.resize(400, row.sizeHint().height())
    row.show()
    control = row.control
    assert isinstance(control, PathControl)
    assert control.label.full_text() == "none"
    assert control.field.accessibleName() == "Static counts"
    control.field.setFocus()
    path = "/a/folder/with/a/name/that/takes/more/than/there/is/room/for/counts.bin"
    QTest.keyClicks(control.field, path)
    with qtbot.waitSignal(row.changed) as told:
        QTest.keyClick(control.field, Qt.Key.Key_Return)
    assert told.args == ["lookup_cache_static_path", path]
    assert control.label.full_text() == "a file"
    assert control.field.toolTip() == path
    control.set_value("")
    assert control.label.full_text() == "none"
    assert control.field.text() == ""
