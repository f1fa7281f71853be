"""The choice of engines in the command bar: headings that cannot be chosen, keys behind names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from widgets.export_sheet import ExportTarget
from widgets.target_box import TargetBox

pytestmark = pytest.mark.gui
TARGETS = (
    ExportTarget("llama-server", "llama-server", "llama.cpp"),
    ExportTarget("llama-bench", "llama-bench", "llama.cpp"),
    ExportTarget("docker-compose", "Docker Compose", "Containers and services"),
)


@pytest.fixture
def box(shown: Callable[[QWidget], None]) -> TargetBox:
    made = TargetBox()
    made.set_targets(TARGETS, "llama-bench")
    shown(made)
    return made


def test_that_engines_stand_below_their_groups(box: TargetBox) -> None:
    assert [box.itemText(place) for place in range(box.count())] == [
        "llama.cpp", "llama-server", "llama-bench", "Containers and services", "Docker Compose",
    ]  # fmt: skip
    assert box.keys() == [target.key for target in TARGETS]
    assert box.chosen() == "llama-bench"


def test_that_arrows_go_from_engine_to_engine(box: TargetBox, qtbot: QtBot) -> None:
    with qtbot.waitSignal(box.target_chosen) as chosen:
        QTest.keyClick(box, Qt.Key.Key_Down)
    assert chosen.args == ["docker-compose"]
    with qtbot.assertNotEmitted(box.target_chosen):
        QTest.keyClick(box, Qt.Key.Key_Down)
    QTest.keyClick(box, Qt.Key.Key_Home)
    assert box.chosen() == "llama-server"
    with qtbot.assertNotEmitted(box.target_chosen):
        QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.chosen() == "llama-server"


def test_that_what_is_set_is_not_told(box: TargetBox, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(box.target_chosen):
        box.set_targets(TARGETS, "unheard of")
        assert box.chosen() == "llama-server"
        box.choose("docker-compose")
    assert box.currentText() == "Docker Compose"


def test_that_engines_without_a_group_have_no_heading(box: TargetBox) -> None:
    box.set_targets((ExportTarget("a", "A"), ExportTarget("b", "B")), "")
    assert box.count() == 2
    assert box.chosen() == "a"
