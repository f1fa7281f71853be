"""The list in the window and a real history together: what is done there is in the file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.history_query import Filter
from app.experiments.history_rows import Row
from app.experiments.history_schema import STEPS
from app.experiments.history_store import HistoryStore
from app.history_exports import free_path
from app.history_wiring import HistoryWiring
from app.storage.storage_error import StorageError
from tests.unit.experiments.made_experiments import cell, experiment, sweep
from widgets.experiments.history_view import HistoryView

A, B, C = "20261101-080000-000001", "20261130-110036-3f9a2c", "20261130-120000-aa00aa"
_END_S = 5.0


class Bench(QObject):
    """A view over a history in a folder of its own."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        super().__init__()
        self.folder, self.qtbot = folder, qtbot
        self.said: list[str] = []
        self.read: list[Experiment] = []
        self.view = HistoryView()
        qtbot.addWidget(self.view)
        self.view.resize(900, 800)
        self.view.show()
        self.wiring = HistoryWiring(self.view, folder, self.said.append, self)
        self.wiring.experiment_read.connect(self.read.append)
        self.wiring.resume_read.connect(self.read.append)

    @property
    def keys(self) -> list[str]:
        return list(self.view.model.entries.keys)

    def settle(self) -> None:
        """Wait for all that was asked for."""
        done: list[bool] = []
        self.wiring._worker.do(lambda: None, lambda _: done.append(True))
        self.qtbot.waitUntil(lambda: bool(done))

    def elsewhere(self) -> HistoryStore:
        """The same file as another program sees it."""
        return HistoryStore(self.folder)


def kept(folder: Path) -> Path:
    store = HistoryStore(folder)
    store.keep(experiment(A, [cell("", {"slots": 1, "cache_type_k": "q8_0"}, speed=1.3)],
                          title="With the rag workload", tags=("Night",)))  # fmt: skip
    store.keep(experiment(B))
    store.keep(stopped(sweep(C)))
    store.close()
    return folder


def stopped(made: Experiment) -> Experiment:
    return experiment(made.key, made.cells, kind=made.kind, title=made.title, state=State.STOPPED)


@pytest.fixture
def make(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[[Path], Bench]]:
    made: list[Bench] = []

    def bench(folder: Path) -> Bench:
        made.append(Bench(folder, qtbot))
        made[-1].settle()
        return made[-1]

    yield bench
    for each in made:
        each.wiring.close(_END_S)


@pytest.fixture
def bench(make: Callable[[Path], Bench], tmp_path: Path) -> Bench:
    return make(kept(tmp_path / "history"))


def test_that_all_are_listed_newest_first(bench: Bench) -> None:
    assert bench.keys == [C, B, A]
    assert bench.view.filters.tags.itemText(1) == "#night"


def test_that_an_empty_history_offers_experiments(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    bench = make(tmp_path / "none yet")
    assert "Measure instead of guessing" in bench.view.message.words()


def test_that_words_kind_and_tag_narrow_the_list(bench: Bench) -> None:
    bench.view.searched.emit("rag")
    bench.settle()
    assert bench.keys == [A]
    bench.view.searched.emit("")
    bench.view.filtered.emit("sweep", "")
    bench.settle()
    assert bench.keys == [C]
    bench.view.filtered.emit("", "night")
    bench.settle()
    assert bench.keys == [A]
    bench.view.filtered.emit("tune", "")
    bench.settle()
    assert bench.keys == []


def test_that_the_newest_question_wins(bench: Bench) -> None:
    shown: list[int] = []
    bench.view.model.modelReset.connect(lambda: shown.append(len(bench.keys)))
    for words in ("r", "ra", "rag"):
        bench.view.searched.emit(words)
    bench.settle()
    assert bench.keys == [A]
    # One that the thread had begun with may be shown; what waited behind it was void.
    assert len(shown) <= 2


def test_that_one_is_read_when_it_is_opened(bench: Bench) -> None:
    bench.view.opened.emit(B)
    bench.view.resume_wanted.emit(C)
    bench.settle()
    assert [found.key for found in bench.read] == [B, C]
    assert bench.read[0] == experiment(B)


def test_that_tags_and_note_are_in_the_file(bench: Bench) -> None:
    bench.view.tags_edited.emit(B, ("Laptop", "laptop", "battery"))
    bench.view.note_edited.emit(B, "Fan at full speed")
    bench.settle()
    store = bench.elsewhere()
    found = store.experiment(B)
    store.close()
    assert (found.tags, found.note) == (("Laptop", "battery"), "Fan at full speed")
    shown = bench.view.model.entries.at(1)
    assert (shown.tags, shown.note) == (found.tags, found.note)


def test_that_deletion_is_in_the_file_and_taken_back(bench: Bench) -> None:
    bench.view.pick([B, A])
    bench.view.details.deeds.delete_button.click()
    assert bench.keys == [C]
    bench.settle()
    store = bench.elsewhere()
    assert [row.key for row in store.listing()] == [C]
    bench.view.undo_bar.button.click()
    bench.settle()
    assert [row.key for row in store.listing()] == [C, B, A]
    store.close()
    assert bench.keys == [C, B, A]
    assert bench.view.list.picked_keys() == (B, A)


def test_that_what_is_gone_meanwhile_is_a_sentence(bench: Bench) -> None:
    bench.view.tags_edited.emit("nobody", ("x",))
    bench.settle()
    bench.settle()
    assert "There is no experiment nobody" in bench.view.problem_bar.sentence()
    bench.view.opened.emit("nobody")
    bench.settle()
    assert "There is no experiment nobody" in bench.said[0]


def test_that_two_are_compared(bench: Bench) -> None:
    bench.view.compare_wanted.emit(A, B)
    bench.settle()
    assert bench.view.comparison.isVisible()
    assert any("slower than A in TPOT" in words for words in bench.view.comparison.words())


def test_that_another_program_s_experiment_is_seen_at_the_next_look(bench: Bench) -> None:
    store = bench.elsewhere()
    store.keep(experiment("20261201-000000-bbbbbb"))
    store.close()
    assert len(bench.keys) == 3
    bench.view.hide()
    bench.view.show()
    bench.settle()
    assert len(bench.keys) == 4


def test_that_a_look_at_what_has_not_changed_reads_no_list(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.view.looked_at.emit()
    bench.settle()
    read: list[object] = []
    listing = bench.wiring.store.listing

    def counted(wanted: Filter) -> tuple[Row, ...]:
        read.append(wanted)
        return listing(wanted)

    monkeypatch.setattr(bench.wiring.store, "listing", counted)
    bench.view.looked_at.emit()
    bench.settle()
    assert not read
    store = bench.elsewhere()
    store.set_note(A, "from a terminal")
    store.close()
    bench.view.looked_at.emit()
    bench.settle()
    assert len(read) == 1
    assert bench.view.model.entries.at(2).note == "from a terminal"


def test_that_a_look_takes_no_answer_away(bench: Bench) -> None:
    bench.view.searched.emit("rag")
    bench.view.looked_at.emit()
    bench.settle()
    assert bench.keys == [A]


def test_that_what_is_kept_appears_at_once(bench: Bench) -> None:
    new = experiment("20261201-000000-bbbbbb", state=State.RUNNING)
    bench.wiring.store.keep(new)
    bench.wiring.note_kept()
    bench.settle()
    assert bench.keys[0] == new.key
    assert bench.view.model.entries.at(0).state == "running"


# --- Where the history cannot be ---------------------------------------------------------------


def test_that_a_newer_history_is_a_sentence_and_nothing_else_is_lost(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    newer = HistoryStore(tmp_path, steps=(*STEPS, lambda _: None))
    newer.keep(experiment(B))
    newer.close()
    bench = make(tmp_path)
    assert "written by a newer TuneDeck" in bench.view.message.words()
    asked: list[str] = []
    bench.view.new_wanted.connect(asked.append)
    bench.view.message.kind_buttons[0].click()
    assert asked == ["bench"]
    mine = experiment("20261201-000000-bbbbbb")
    with pytest.raises(StorageError):
        bench.wiring.store.keep(mine)
    bench.wiring.note_kept()
    bench.settle()
    newer.path.unlink()
    bench.view.message.retry_button.click()
    bench.settle()
    assert bench.keys == [mine.key]
    assert bench.view.model.entries.at(0).is_unkept
    bench.wiring.store.flush()


def test_that_a_folder_that_cannot_be_made_is_a_sentence(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    bench = make(tmp_path / "file" / "history")
    assert "a file stands where its folder should be" in bench.view.message.words()


def test_that_a_damaged_history_is_set_aside_and_said(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    folder = kept(tmp_path / "history")
    path = HistoryStore(folder).path
    path.write_bytes(b"no database" * 1000)
    bench = make(folder)
    assert "was damaged and is set aside" in bench.view.problem_bar.sentence()
    assert not bench.view.is_listed


def test_that_a_list_that_could_be_read_stays_when_it_cannot_any_more(bench: Bench) -> None:
    path = bench.wiring.store.path
    aside = path.with_name("aside")
    for ending in ("", "-wal", "-shm"):
        if (old := Path(f"{path}{ending}")).exists():
            old.rename(f"{aside}{ending}")
    path.mkdir()
    bench.wiring.refresh()
    bench.settle()
    assert bench.keys == [C, B, A]
    assert "The history could not be read" in bench.view.problem_bar.sentence()
    path.rmdir()
    aside.rename(path)
    bench.wiring.refresh()
    bench.settle()
    assert bench.view.problem_bar.sentence() == ""


# --- Exports ------------------------------------------------------------------------------------


def chosen(bench: Bench, path: Path) -> None:
    """What the user does in the dialog that is open."""
    dialogs = bench.view.window().findChildren(QFileDialog)
    dialogs[-1].fileSelected.emit(str(path))
    dialogs[-1].done(0)
    bench.settle()


@pytest.fixture
def quiet_dialogs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "open", lambda *_: None)


@pytest.mark.usefixtures("quiet_dialogs")
@pytest.mark.parametrize(
    ("form", "ending", "begins"),
    [
        ("csv", "csv", b"key,kind"), ("json", "json", b"{\n"),
        ("markdown", "md", b"# With the rag workload"), ("card", "png", b"\x89PNG"),
    ],
)  # fmt: skip
def test_that_one_is_exported(
    bench: Bench, tmp_path: Path, form: str, ending: str, begins: bytes
) -> None:
    bench.view.export_wanted.emit((A,), form)
    dialog = bench.view.findChildren(QFileDialog)[-1]
    assert dialog.defaultSuffix() == ending
    assert not dialog.testOption(QFileDialog.Option.DontConfirmOverwrite)
    assert "With the rag workload" in dialog.selectedFiles()[0]
    out = tmp_path / f"out.{ending}"
    chosen(bench, out)
    assert out.read_bytes().startswith(begins)
    assert bench.said == [f"Exported to {out}"]


@pytest.mark.usefixtures("quiet_dialogs")
def test_that_several_go_into_one_table(bench: Bench, tmp_path: Path) -> None:
    bench.view.export_wanted.emit((B, A), "csv")
    out = tmp_path / "out.csv"
    chosen(bench, out)
    lines = out.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == [*[B] * 5, *[A] * 5]


@pytest.mark.usefixtures("quiet_dialogs")
def test_that_several_get_a_file_each_and_replace_none(bench: Bench, tmp_path: Path) -> None:
    mine = tmp_path / f"{A} With the rag workload.json"
    mine.write_text("mine", encoding="utf-8")
    bench.view.export_wanted.emit((B, A), "json")
    chosen(bench, tmp_path)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert len(list(tmp_path.glob("*.json"))) == 3
    assert bench.said == [f"Exported 2 experiments to {tmp_path}"]


@pytest.mark.usefixtures("quiet_dialogs")
def test_that_an_export_that_cannot_be_written_is_a_sentence(bench: Bench, tmp_path: Path) -> None:
    bench.view.export_wanted.emit((A,), "csv")
    chosen(bench, tmp_path / "none" / ("n" * 300))
    assert "The experiment could not be exported" in bench.view.problem_bar.sentence()


def test_that_a_free_name_is_found(tmp_path: Path) -> None:
    assert free_path(tmp_path, "a", "md").name == "a.md"
    (tmp_path / "a.md").write_text("", encoding="utf-8")
    (tmp_path / "a (2).md").symlink_to(tmp_path / "nowhere")
    assert free_path(tmp_path, "a", "md").name == "a (3).md"


# --- Thousands ----------------------------------------------------------------------------------

_MANY = 10_000
_COPY = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9997)
INSERT INTO {table} SELECT {columns} FROM {table}, numbers WHERE key = '{key}'
"""


def filled(folder: Path) -> Path:
    """Ten thousand: copies of one beside the others."""
    path = HistoryStore(kept(folder)).path
    with closing(sqlite3.connect(path)) as connection:
        for table in ("experiments", "contents", "words"):
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            columns = ["'20250101-000000-' || printf('%06x', n)", *names[1:]]
            connection.execute(_COPY.format(table=table, columns=", ".join(columns), key=A))
        connection.commit()
    return folder


def test_that_ten_thousand_open_and_filter_in_less_than_a_third_of_a_second(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    bench = make(filled(tmp_path / "history"))
    assert len(bench.keys) == _MANY
    took_s: dict[str, list[float]] = {"rag": [], "": []}
    for words in ("rag", "") * 3:
        begun_s = time.process_time()  # others may have the processor meanwhile
        bench.view.searched.emit(words)
        bench.settle()
        took_s[words].append(time.process_time() - begun_s)
        assert len(bench.keys) == _MANY - 2 * bool(words)
    assert max(min(times) for times in took_s.values()) < 0.3
    assert bench.view.model.entries.at(_MANY - 1).kind == Kind.BENCH


def test_that_ten_thousand_are_deleted_and_brought_back_at_once(
    make: Callable[[Path], Bench], tmp_path: Path
) -> None:
    bench = make(filled(tmp_path / "history"))
    bench.view.list.selectAll()
    assert bench.view.list.picked_count() == _MANY
    bench.view.details.deeds.delete_button.click()
    assert "Measure instead of guessing" in bench.view.message.words()
    bench.settle()
    store = bench.elsewhere()
    assert not store.listing()
    bench.view.undo_bar.button.click()
    bench.settle()
    assert len(store.listing()) == len(bench.keys) == _MANY
    store.close()
