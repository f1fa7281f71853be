from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from app.storage.storage_error import StorageError
from app.worker import Worker


@pytest.fixture
def worker(qapp: object) -> Iterator[Worker]:
    worker = Worker("test")
    yield worker
    worker.close(lambda: None, 5.0)


def test_that_jobs_keep_their_order_and_their_results_come_here(
    worker: Worker, qtbot: QtBot
) -> None:
    here, done, threads = threading.get_ident(), [], set()

    def job(number: int) -> int:
        threads.add(threading.get_ident())
        return number

    def take(number: int) -> None:
        assert threading.get_ident() == here
        done.append(number)

    for number in range(5):
        worker.do(lambda number=number: job(number), take)  # type: ignore[misc]
    qtbot.waitUntil(lambda: len(done) == 5)
    assert done == list(range(5))
    assert len(threads) == 1
    assert here not in threads


def test_that_a_fault_of_the_disk_is_a_sentence(worker: Worker, qtbot: QtBot) -> None:
    def fail() -> None:
        raise StorageError("The disk is full.")

    sentences: list[str] = []
    worker.do(fail, failed=sentences.append)
    worker.do(fail)
    qtbot.waitUntil(lambda: bool(sentences))
    assert sentences == ["The disk is full."]


def test_that_a_fault_of_the_program_is_not_swallowed_and_ends_no_thread(
    worker: Worker, qtbot: QtBot
) -> None:
    results: list[int] = []
    with capture_exceptions() as raised:
        worker.do(lambda: 1 // 0)
        worker.do(lambda: 1, results.append)
        qtbot.waitUntil(lambda: bool(results))
    assert [error[0] for error in raised] == [ZeroDivisionError]


def test_that_closing_does_what_waits_and_tells_nobody(qapp: object) -> None:
    worker = Worker("test")
    done: list[str] = []
    told: list[object] = []
    worker.do(lambda: done.append("first"), told.append)
    assert worker.close(lambda: done.append("last"), 5.0)
    worker.do(lambda: done.append("late"))
    assert worker.close(lambda: done.append("late"), 5.0)
    assert done == ["first", "last"]
    assert told == []


def test_that_closing_waits_for_no_dead_drive(qapp: object) -> None:
    worker = Worker("test")
    answers = threading.Event()
    worker.do(answers.wait)
    assert not worker.close(lambda: None, 0.0)
    answers.set()  # the thread ends now: nothing may be left behind


def test_that_a_last_job_that_failed_does_not_count_as_done(
    qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda fault: faults.append(fault.exc_type))
    worker = Worker("test")

    def last() -> None:
        raise ValueError("not saved")

    assert not worker.close(last, 60.0)
    assert faults == [ValueError]
