"""What the engine and the desk say comes to the log; what people write never does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.desk import Desk
from app.log_wiring import ENGINE, OWN, STDERR, LogWiring
from engine_bridge.engine_state import DeathKind, DeathReason
from engine_bridge.metrics.change_words import changed_lines
from engine_bridge.protocol import (
    BandwidthMeasured,
    Event,
    Logged,
    Refused,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
    Unloaded,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem
from tests.unit.fake_client import applied, model_facts
from widgets.log_line import LogLine
from widgets.log_view import LogView

pytestmark = pytest.mark.gui
SECRET = "my aunt Clara lives in Riga"
TIMING = RequestTiming(0.0, 0.1, 0.1, 0.02, 0.02, 0.03, 510, 500, 5)


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    made = Desk(EngineConfig())
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def view(shown: Callable[[QWidget], None]) -> LogView:
    made = LogView()
    shown(made)
    return made


@pytest.fixture
def log(desk: Desk, view: LogView) -> LogWiring:
    return LogWiring(desk, view, view, clock=lambda: 1_790_000_000.0)


def say(desk: Desk, event: Event) -> None:
    desk.client.event_received.emit(event)


def said(log: LogWiring) -> list[tuple[str, str, str]]:
    return [(line.level, line.source, line.text) for line in log.lines()]


def test_that_the_engine_s_lines_keep_their_level(log: LogWiring, desk: Desk) -> None:
    say(desk, Logged("debug", "one"))
    say(desk, Logged("warning", "two\nthree"))
    assert said(log) == [
        ("debug", ENGINE, "one"), ("warning", ENGINE, "two"), ("warning", ENGINE, "three"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("ggml_abort: GGML_ASSERT(x) failed", "error"),
        ("terminate called after throwing", "error"),
        ("CUDA error: out of memory", "error"),
        ("llama_context: n_ctx_seq (4096) < n_ctx_train (32768)", "warning"),
        ("mirror of terror", "warning"),
    ],
)
def test_that_a_line_of_stderr_that_sounds_bad_is_an_error(
    log: LogWiring, desk: Desk, line: str, level: str
) -> None:
    desk.client.stderr_received.emit(f"{line}\n\n")
    assert said(log) == [(level, STDERR, line)]


def test_that_lines_come_to_the_view_in_batches(
    log: LogWiring, desk: Desk, view: LogView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    append = view.append

    def counting(lines: Sequence[LogLine]) -> None:
        batches.append(len(lines))
        append(lines)

    monkeypatch.setattr(view, "append", counting)
    for number in range(5000):
        say(desk, Logged("info", f"line {number}"))
    assert not view.lines()
    assert len(log.lines()) == 5000
    qtbot.waitUntil(lambda: len(view.lines()) == 5000)
    assert batches == [5000]
    assert log.lines() == view.lines()


def test_that_what_changes_is_noted(log: LogWiring, desk: Desk) -> None:
    config = EngineConfig()
    say(desk, applied(config, seconds=2.5, model=model_facts(name="Toy")))
    wider = config.with_values({"ctx_per_slot_tok": 8192, "slots": 2})
    say(desk, applied(wider, cost="new context", seconds=0.25))
    say(desk, applied(wider, cost="new context", seconds=0.5))
    say(desk, Refused("apply", 3, Problem(("slots",), "There is no room for that.")))
    say(desk, Refused("load", 4, Problem((), "Given up."), is_cancelled=True))
    say(desk, BandwidthMeasured(51.2e9, 8, "read by 8 threads", 5, 0.04))
    say(desk, BandwidthMeasured(12e9, 8, "read by 8 threads", 5, 0.4, is_lower_bound=True))
    say(desk, RequestFinished(7, "end", "", TIMING, 100))
    say(desk, RequestFinished(8, "failed", "It broke.", TIMING, 100))
    what = "; ".join(changed_lines(config, wider))
    assert "8,192" in what
    assert said(log) == [
        ("info", OWN, "Loaded Toy in 2.50 s."),
        ("info", OWN, f"Applied in 0.25 s (new context): {what}."),
        ("info", OWN, "Applied in 0.50 s (new context)."),
        ("warning", OWN, "The apply was refused: There is no room for that."),
        ("info", OWN, "The load was cancelled."),
        (
            "info",
            OWN,
            "Memory reads at up to 51.2 GB/s (read by 8 threads, best of 5, spread 4 %).",
        ),
        (
            "info",
            OWN,
            "Memory reads at 12.0 GB/s or more (read by 8 threads, best of 5, spread 40 %): other "
            "programs took the processor meanwhile, so this is a lower bound.",
        ),
        ("info", OWN, "Request 7 ended (end): 510 prompt tokens, 500 of them reused, 5 new."),
        ("warning", OWN, "Request 8 ended (failed): 510 prompt tokens, 500 of them reused, 5 new."),
    ]


def test_that_a_lost_model_is_noted_once(log: LogWiring, desk: Desk) -> None:
    say(desk, Unloaded("The engine had to give the model up."))
    assert [text for _, _, text in said(log)] == ["The engine had to give the model up."]


def test_that_no_text_of_a_conversation_is_noted(log: LogWiring, desk: Desk) -> None:
    say(desk, TokensDelivered(1, SECRET, (1,), (1,), 2))
    say(desk, Refused("generate", 1, Problem((), f"The template said: {SECRET}")))
    say(desk, RequestFinished(2, "stop_text", SECRET, TIMING, 100))
    beginning = f'{{"type":"tokens_delivered","text":"{SECRET}'
    reason = f"The engine sent “{beginning}”, which is no message of this version (bad)."
    desk.client.engine_died.emit(DeathReason(DeathKind.BROKEN, reason, "answering"))
    assert SECRET not in str(said(log))
    assert log.last_death == "The engine sent “…”, which is no message of this version (bad)."
    assert len(said(log)) == 3


def test_that_a_death_is_an_error(log: LogWiring, desk: Desk) -> None:
    assert log.last_death == ""
    desk.client.engine_died.emit(
        DeathReason(DeathKind.CRASHED, "The engine was ended by SIGSEGV while loading.", "loading")
    )
    assert said(log) == [("error", OWN, "The engine was ended by SIGSEGV while loading.")]
    assert "SIGSEGV" in log.last_death


def test_that_requests_that_die_with_the_engine_get_an_end(log: LogWiring, desk: Desk) -> None:
    """Newcomer 32."""
    desk.chats.request_sent.emit(6, 1)  # the engine has not said anything about it yet
    for request_id in (7, 8):
        say(desk, RequestStarted(request_id, 0, 10, 0, "", 1))
    say(desk, RequestFinished(8, "end", "", TIMING, 100))
    for _ in range(2):
        desk.client.engine_died.emit(DeathReason(DeathKind.CRASHED, "It was killed.", "answering"))
    ends = [text for level, _, text in said(log) if level == "warning"]
    assert ends == [
        "Request 6 ended with the engine, unfinished.",
        "Request 7 ended with the engine, unfinished.",
    ]


def test_that_a_stall_is_noted_with_its_end(log: LogWiring, desk: Desk) -> None:
    desk.client.stall_suspected.emit("It does not move.")
    desk.client.stall_ended.emit()
    assert said(log) == [
        ("warning", OWN, "It does not move."), ("info", OWN, "The engine moves again."),
    ]  # fmt: skip
