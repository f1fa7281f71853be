"""The menu of a list of words: what each word means is said at its foot."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine_bridge.settings.table import BY_KEY
from widgets.list_control import ListControl
from widgets.setting_row import SettingRow

pytestmark = pytest.mark.gui


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_that_the_keys_that_walk_the_menu_are_told_what_a_word_means(qtbot: QtBot) -> None:
    row = SettingRow(BY_KEY["spec_types"])
    qtbot.addWidget(row)
    row.show()
    control = row.control
    assert isinstance(control, ListControl)
    menu, note = control.menu, control.note.label
    menu.popup(row.mapToGlobal(row.rect().center()))
    qtbot.waitUntil(menu.isVisible, timeout=60_000)
    height = menu.height()
    assert "several may be on" in note.text()
    seen = set()
    for _ in range(2 * len(menu.actions())):
        QTest.keyClick(menu, Qt.Key.Key_Down)
        action = menu.activeAction()
        assert action is not None
        assert action.isEnabled()
        seen.add(action.text())
        assert note.text() == (action.statusTip() or note.text())
        assert note.heightForWidth(note.width()) <= note.height()
    assert seen == {"off", *control._choices}
    assert menu.height() == height
    menu.close()
