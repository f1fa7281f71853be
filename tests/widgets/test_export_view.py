"""Where settings leave: engines in groups, what leaves in tabs, what becomes of each setting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QSplitter,
    QWidget,
)
from pytestqt.qtbot import QtBot

from resources.tokens import LIGHT, STEP_PX
from widgets.export_sheet import ExportPart, ExportSheet, ExportTarget, SettingFate
from widgets.export_view import ExportView

pytestmark = pytest.mark.gui
LEFT = Qt.MouseButton.LeftButton
TARGETS = (
    ExportTarget("llama-server", "llama-server", "llama.cpp", "Told by a line.", "A build.", True),
    ExportTarget("llama-bench", "llama-bench", "llama.cpp", "Told by a line.", "A build."),
    ExportTarget("docker-compose", "Docker Compose", "Containers", "A file.", "Docker."),
)
COMMAND = ExportPart("Command", "docker compose up\n", "", "docker-compose.sh", is_command=True)
COMPOSE = ExportPart("compose.yaml", "services: {}\n" * 200, "Compose reads it.", "compose.yaml")
WHY = "It has no word for it, and takes what the model recommends instead. " * 6
SETTINGS = (
    SettingFate("slots", "Slots", "4", "left out", WHY, is_changed=True),
    SettingFate("top_k", "Top-k", "40", "said", "--top-k"),
    SettingFate("top_p", "Top-p", "0.9", "left out", "There is none.", is_changed=False),
    SettingFate("ctx_per_slot_tok", "Context", "8,192 tok", "translated", "-c is the pool.", True),
)


def sheet(target: str = "docker-compose", **changes: object) -> ExportSheet:
    values: dict[str, object] = {
        "target": target, "parts": (COMMAND, COMPOSE), "notes": ("A note.",), "settings": SETTINGS,
    }  # fmt: skip
    return ExportSheet(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> ExportView:
    made = ExportView()
    made.set_targets(TARGETS, "docker-compose")
    made.set_shells([("posix", "POSIX sh"), ("cmd", "cmd.exe")], "posix")
    made.show_sheet(sheet())
    made.resize(1300, 760)
    shown(made)
    return made


def labels(view: ExportView) -> list[str]:
    model = view.settings.model
    return [setting.label for setting in model.settings()]


def test_that_arrows_choose_an_engine_and_pass_over_headings(
    view: ExportView, qtbot: QtBot
) -> None:
    assert view.engines.keys() == [target.key for target in TARGETS]
    view.engines.setFocus()
    with qtbot.waitSignal(view.target_chosen) as chosen:
        QTest.keyClick(view.engines, Qt.Key.Key_Up)
    assert chosen.args == ["llama-bench"]
    with qtbot.assertNotEmitted(view.target_chosen):
        view.show_sheet(sheet("llama-server"))
    assert view.engines.chosen() == "llama-server"


def test_that_the_engine_is_explained_and_only_its_own_program_can_be_tried(
    view: ExportView, qtbot: QtBot
) -> None:
    assert view.name_label.text() == "Docker Compose"
    assert view.told_label.text() == "A file. Docker.", "what it is told by, and what it needs"
    assert not view.try_button.isVisible()
    view.show_sheet(sheet("llama-server"))
    assert view.try_button.isVisible()
    with qtbot.waitSignal(view.try_requested):
        QTest.mouseClick(view.try_button, LEFT)
    view.set_try("The line is refused.")
    assert not view.try_button.isEnabled()
    assert view.try_button.accessibleDescription() == "The line is refused."


def test_that_each_text_has_a_tab_and_is_copied_to_the_letter(view: ExportView) -> None:
    files = view.files
    assert [files.tabs.tabText(place) for place in range(files.tabs.count())] == [
        "Command", "compose.yaml",
    ]  # fmt: skip
    files.tabs.setCurrentIndex(1)
    page = files.page(1)
    QTest.mouseClick(files.copy_button, LEFT)
    assert QGuiApplication.clipboard().text() == COMPOSE.text
    assert files.copy_button.text() == "Copied"
    assert files.copy_button.accessibleName() == "Copy: compose.yaml"
    files.tabs.setCurrentIndex(0)
    assert files.copy_button.text() == "Copy", "this one was not copied"
    assert files.copy_button.accessibleName() == "Copy: Command"
    assert page.text.font().styleHint() is not None
    assert page.text.toPlainText() == COMPOSE.text


def test_that_saving_tells_which_text_is_meant(view: ExportView, qtbot: QtBot) -> None:
    view.files.tabs.setCurrentIndex(1)
    with qtbot.waitSignal(view.save_requested) as saved:
        QTest.mouseClick(view.files.save_button, LEFT)
    assert saved.args == [COMPOSE]
    with qtbot.waitSignal(view.save_all_requested):
        QTest.mouseClick(view.files.all_button, LEFT)
    view.show_sheet(sheet(parts=(COMMAND,)))
    assert not view.files.all_button.isVisible(), "one text has its own button"


def test_that_the_tab_in_front_and_its_place_stay_while_settings_change(
    view: ExportView,
) -> None:
    view.files.tabs.setCurrentIndex(1)
    bar = view.files.page(1).text.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    before = bar.value()
    assert before
    changed = ExportPart("compose.yaml", COMPOSE.text + "# more\n", COMPOSE.about, "compose.yaml")
    view.show_sheet(sheet(parts=(COMMAND, changed)))
    assert view.files.front() == "compose.yaml"
    assert bar.value() == before
    view.show_sheet(sheet(parts=(COMMAND,)))
    assert view.files.front() == "Command"


def test_that_changed_settings_come_first_with_what_is_lost(view: ExportView) -> None:
    assert labels(view) == ["Slots", "Context", "Top-k", "Top-p"]
    assert view.settings.count_label.text() == "Of 2 settings that you changed 1 is not carried."
    view.settings.changed_box.click()
    assert labels(view) == ["Slots", "Context"]


def test_that_the_model_is_no_setting_that_somebody_changed(view: ExportView) -> None:
    model = SettingFate("model_path", "Model", "m.gguf", "left out", "It has a place.", True)
    view.show_sheet(sheet(settings=(model, *(s for s in SETTINGS if not s.is_changed))))
    assert view.settings.count_label.text() == "You changed no setting."
    view.show_sheet(sheet(settings=(model, *SETTINGS)))
    assert view.settings.count_label.text() == "Of 2 settings that you changed 1 is not carried."


def test_that_another_engine_opens_with_the_part_that_it_is_told_by(view: ExportView) -> None:
    view.show_sheet(sheet("llama-server", parts=(COMMAND,)))
    view.show_sheet(sheet(front=1))
    assert view.files.front() == "compose.yaml"
    view.files.tabs.setCurrentIndex(0)
    view.show_sheet(sheet(front=1, notes=()))
    assert view.files.front() == "Command", "what a person brought to the front stays there"
    view.show_sheet(sheet("llama-server", parts=(COMMAND, COMPOSE)))
    assert view.files.front() == "Command"


def test_that_a_tab_with_a_short_title_tells_the_whole_name(view: ExportView) -> None:
    file = ExportPart(".kcpps", "{}", "", "a-model-with-a-long-name.kcpps")
    view.resize(900, 760)
    view.show_sheet(sheet(parts=(COMMAND, file)))
    assert view.files.tabs.tabToolTip(1) == file.file_name
    assert view.files.page(1).text.accessibleName() == file.file_name
    bar = view.files.tabs.tabBar()
    last = bar.tabRect(1)
    assert bar.rect().contains(last)
    assert last.width() > bar.fontMetrics().horizontalAdvance(".kcpps")


def test_that_settings_are_found_by_name_value_and_reason(view: ExportView) -> None:
    search = view.settings.search
    for text, found in (
        ("top", ["Top-k", "Top-p"]),
        ("8192", ["Context"]),
        ("8,192", ["Context"]),
        ("not carried", ["Slots", "Top-p"]),
        ("recommends", ["Slots"]),
        ("ctx_per", ["Context"]),
        ("nothing like it", []),
    ):
        search.setText(text)
        assert labels(view) == found, text
    assert view.settings.detail.text() == "No setting has these words."


def test_that_a_reason_that_is_cut_in_its_row_is_read_in_full_below(view: ExportView) -> None:
    table = view.settings.table
    detail = view.settings.detail
    assert detail.text().startswith("Choose a row"), "what the place below is for is told"
    table.setFocus()
    table.setCurrentIndex(view.settings.model.index(0, 0))
    assert detail.text() == f"Slots (slots): {WHY}"
    for width in (1300, 900):
        view.resize(width, 700)
        QApplication.processEvents()
        assert detail.height() >= detail.heightForWidth(detail.width()), "no line is cut off"
        assert table.height() > 3 * table.rowHeight(0)
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert view.settings.detail.text() == "Context (ctx_per_slot_tok): -c is the pool."
    view.show_sheet(sheet(notes=()))
    assert "ctx_per_slot_tok" in view.settings.detail.text(), "the row that is read stays"


def test_that_what_was_changed_is_read_in_its_row_and_the_rest_has_one_line(
    view: ExportView,
) -> None:
    table = view.settings.table
    short = "It is told by two words that take more room than the column has in one line, as here."
    rows = (
        SettingFate("slots", "Slots", "4", "left out", WHY, is_changed=True),
        SettingFate("top_k", "Top-k", "40", "translated", short, is_changed=True),
        SettingFate("top_p", "Top-p", "0.9", "left out", WHY),
    )
    view.show_sheet(sheet(settings=rows))
    QApplication.processEvents()
    line = table.fontMetrics().lineSpacing()
    heights = [table.rowHeight(row) for row in range(3)]
    usual = table.verticalHeader().defaultSectionSize()
    assert heights == [usual + 2 * line, usual + line, usual]
    view.settings.search.setText("top-p")
    assert table.rowHeight(0) == usual, "another row stands there now"


def test_that_a_small_window_shows_the_command_and_what_becomes_of_the_settings(
    view: ExportView,
) -> None:
    rows = tuple(
        SettingFate(f"key_{number}", f"Setting {number}", "4", "said", f"--key-{number}", True)
        for number in range(30)
    )
    long = ExportPart("Command", "llama-server \\\n  -c 4096" * 30, "", "c.sh", is_command=True)
    view.resize(940, 658)
    view.show_sheet(sheet(parts=(long,), settings=rows, notes=("A note. " * 30,)))
    QApplication.processEvents()
    table, text = view.settings.table, view.files.page(0).text
    assert table.viewport().height() >= 7 * table.rowHeight(0)
    assert text.viewport().height() >= 8 * text.fontMetrics().lineSpacing()
    view.show_sheet(sheet(parts=(COMMAND,), settings=rows))
    QApplication.processEvents()
    assert table.viewport().height() >= 14 * table.rowHeight(0), "a short command takes little"
    assert text.viewport().height() >= text.fontMetrics().lineSpacing()


def test_that_sizes_that_a_person_chose_stay(view: ExportView) -> None:
    view.resize(940, 700)
    QApplication.processEvents()
    split = view.findChild(QSplitter)
    assert split is not None
    split.setSizes((300, 200))
    split.splitterMoved.emit(300, 1)
    before = split.sizes()
    view.show_sheet(sheet("llama-server", parts=(COMMAND,)))
    QApplication.processEvents()
    assert split.sizes() == before


def test_that_no_column_is_lost_in_any_width(view: ExportView) -> None:
    table = view.settings.table
    for width in (900, 1440):
        view.resize(width, 760)
        QApplication.processEvents()
        widths = [table.columnWidth(column) for column in range(4)]
        assert all(width > 40 for width in widths), widths
        assert sum(widths) <= table.viewport().width()


def test_that_settings_stand_below_in_a_narrow_view_and_beside_in_a_wide_one(
    view: ExportView,
) -> None:
    def places() -> tuple[int, int, int, int]:
        QApplication.processEvents()
        files = view.files.mapTo(view, view.files.rect().topLeft())
        settings = view.settings.mapTo(view, view.settings.rect().topLeft())
        return files.x(), files.y(), settings.x(), settings.y()

    view.resize(1440, 760)
    x, y, other_x, other_y = places()
    assert other_x > x
    assert other_y == y
    view.resize(900, 760)
    x, y, other_x, other_y = places()
    assert other_x == x
    assert other_y > y
    assert view.minimumSizeHint().width() <= 900


def test_that_many_long_notes_leave_the_command_its_room(view: ExportView) -> None:
    view.resize(900, 700)
    view.show_sheet(sheet(notes=("A long note. " * 40,) * 8, refusals=("Refused.",)))
    view.files.tabs.setCurrentIndex(1)
    QApplication.processEvents()
    assert view.files.height() > 180
    assert view.refusals_label.isVisible()


def test_that_nothing_to_export_says_why(view: ExportView) -> None:
    view.show_sheet(sheet(parts=(), nothing="Choose a model first."))
    assert not view.files.isVisible()
    assert "Choose a model first." in [
        label.text() for label in view.findChildren(type(view.told_label)) if label.isVisible()
    ]


def test_that_a_chosen_shell_is_told(view: ExportView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.shell_chosen) as chosen:
        view.shells.setCurrentIndex(1)
    assert chosen.args == ["cmd"]


def test_that_everything_in_reach_has_a_name(view: ExportView) -> None:
    view.set_palette(LIGHT)
    for widget in view.findChildren(QWidget):
        takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisible()
        if takes and not widget.focusProxy() and not isinstance(widget.parent(), QComboBox):
            text = widget.text() if isinstance(widget, QAbstractButton | QLineEdit) else ""
            assert widget.accessibleName() or text, widget


@pytest.mark.parametrize(("width", "height"), [(1300, 760), (950, 620)])
def test_that_three_titles_are_whole(view: ExportView, width: int, height: int) -> None:
    modelfile = ExportPart("Modelfile", "FROM /m.gguf\n", "Ollama reads it.", "Modelfile")
    variables = ExportPart("ollama.env", "A=1\n", "Variables.", "ollama.env")
    view.show_sheet(sheet(parts=(COMMAND, modelfile, variables)))
    view.resize(width, height)
    QApplication.processEvents()
    bar = view.files.tabs.tabBar()
    for place in range(bar.count()):
        title = bar.fontMetrics().horizontalAdvance(bar.tabText(place))
        assert bar.tabRect(place).width() >= title + 2 * STEP_PX
