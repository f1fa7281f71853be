"""Two copies of the program on one folder: neither forgets the other's tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.kept_settings import KeptSettings
from app.storage.conversation_store import ConversationStore
from app.storage.settings_store import SettingsStore
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient


class StillClient(FakeClient):
    """No process behind it."""

    def start(self) -> None:
        """Nothing to start."""

    def close_now(self) -> None:
        """Nothing to end."""


Start = Callable[[], Desk]


@pytest.fixture
def start(qtbot: QtBot, tmp_path: Path) -> Iterator[Start]:
    """Start another copy of the program on the same folder; its tabs are back when it returns."""
    desks: list[Desk] = []

    def start_() -> Desk:
        desk = Desk(
            EngineConfig(),
            StillClient(),  # type: ignore[arg-type]
            kept=KeptSettings(SettingsStore(tmp_path / "settings")),
            store=ConversationStore(tmp_path / "conversations"),
        )
        desks.append(desk)
        assert desk.keeping is not None
        desk.keeping.opened.connect(desk.chats.adopt)
        with qtbot.waitSignal(desk.keeping.reopening_finished):
            desk.open()
        return desk

    yield start_
    for desk in desks:
        desk.close()
        desk.deleteLater()


def tabs(desk: Desk) -> list[str]:
    return [conversation.id for conversation in desk.chats.conversations()]


def say(desk: Desk, words: str) -> str:
    conversation = desk.chats.open()
    desk.chats.send(conversation.id, words)
    return conversation.id


def open_stored(desk: Desk, qtbot: QtBot, conversation_id: str) -> str:
    """Open from the list; returns the id it got, another one for a copy."""
    assert desk.keeping is not None
    with qtbot.waitSignal(desk.keeping.opened) as told:
        desk.keeping.open(conversation_id)
    assert told.args
    return str(told.args[0].id)


@pytest.mark.parametrize("first_to_quit", ["first", "second"])
def test_that_a_second_copy_that_saved_nothing_changes_no_tab_of_the_next_start(
    start: Start, qtbot: QtBot, first_to_quit: str
) -> None:
    first = start()
    said = [say(first, "What is a slot?"), say(first, "What is a draft?")]
    first.close()
    first = start()
    assert tabs(first) == said
    second = start()
    assert tabs(second) == []
    copy = open_stored(second, qtbot, said[0])
    assert copy not in said
    for desk in (first, second) if first_to_quit == "first" else (second, first):
        desk.close()
    assert tabs(start()) == said


def test_that_the_tabs_of_both_copies_come_back(start: Start) -> None:
    first = start()
    one = say(first, "One?")
    first.close()
    first, second = start(), start()
    two, three = say(second, "Two?"), say(first, "Three?")
    first.close()
    second.close()
    assert sorted(tabs(start())) == sorted([one, two, three])


def test_that_a_tab_closed_in_one_copy_stays_closed_whatever_the_other_does(start: Start) -> None:
    first = start()
    kept, closed = say(first, "Kept?"), say(first, "Closed?")
    first.close()
    first, second = start(), start()
    first.chats.close(closed)
    first.close()
    own = say(second, "Own?")
    second.close()
    assert sorted(tabs(start())) == sorted([kept, own])


def test_that_what_the_other_copy_gave_up_is_closed_here_for_good(
    start: Start, qtbot: QtBot
) -> None:
    first = start()
    taken = say(first, "Taken?")
    first.close()
    first, second = start(), start()
    first.close()
    assert open_stored(second, qtbot, taken) == taken
    second.chats.close(taken)
    second.close()
    assert tabs(start()) == []


def test_that_a_copy_in_which_something_was_said_comes_back_too(start: Start, qtbot: QtBot) -> None:
    first = start()
    said = say(first, "Said?")
    first.close()
    first, second = start(), start()
    copy = open_stored(second, qtbot, said)
    second.chats.send(copy, "And here?")
    second.close()
    first.close()
    assert sorted(tabs(start())) == sorted([said, copy])


def test_that_a_file_that_is_gone_is_forgotten_without_a_warning(
    start: Start, qtbot: QtBot, tmp_path: Path
) -> None:
    first = start()
    gone, kept = say(first, "Gone?"), say(first, "Kept?")
    first.close()
    (tmp_path / "conversations" / f"{gone}.jsonl").unlink()
    second = start()
    assert tabs(second) == [kept]
    assert second.keeping is not None
    assert second.kept is not None
    assert second.kept.open_conversations == [kept]


def test_that_conversations_of_a_folder_that_is_away_are_not_forgotten(
    start: Start, tmp_path: Path
) -> None:
    first = start()
    said = [say(first, "One?"), say(first, "Two?")]
    first.close()
    folder, away = tmp_path / "conversations", tmp_path / "away"
    folder.rename(away)
    second = start()
    assert tabs(second) == []
    second.close()
    if folder.exists():  # an index of nothing
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    away.rename(folder)
    assert tabs(start()) == said
