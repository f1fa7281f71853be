"""Ghosts in the charts while a fader stands elsewhere than what runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import prediction_words
from app.window import Window
from tests.window.conftest import PATIENCE_MS
from widgets.charts.picture import Level

pytestmark = pytest.mark.gui


def answered(window: Window, qtbot: QtBot, words: str) -> None:
    view = window.chat.conversation(window.chat.current_id())
    with qtbot.waitSignal(window.desk.chats.answer_finished, timeout=PATIENCE_MS):
        view.submit(words)


def predicted(window: Window) -> tuple[list[Level], list[Level]]:
    """The ghosts drawn in the charts of TTFT and TPOT."""
    window.live.redraw()
    charts = (window.live.ttft, window.live.tpot)
    found = [[x for x in c.plot.picture.levels if "Predicted" in x.name] for c in charts]
    return found[0], found[1]


def test_that_ghosts_appear_when_a_fader_moves_and_go_when_it_comes_back(
    open_window: Callable[..., Window],
    qtbot: QtBot,
    tiny_chat_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long answers: a toy writes short ones within one report of steps, which is no measurement.
    window = open_window(temperature=0.0, max_new_tok=400)
    session = window.desk.session
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    # A toy takes milliseconds, which a busy machine doubles: here any band is drawn.
    monkeypatch.setattr(prediction_words, "_MOST_ERROR", math.inf)
    # Nothing was measured yet, and that is said.
    session.preview("ubatch_tok", 64)
    qtbot.waitUntil(lambda: "not measured yet" in _note(window), timeout=PATIENCE_MS)
    assert predicted(window) == ([], [])
    session.preview("ubatch_tok", session.wanted.ubatch_tok)
    qtbot.waitUntil(lambda: "predicted" not in _note(window), timeout=PATIENCE_MS)

    answered(window, qtbot, "one two three four five six seven eight nine ten")
    window.chat.set_current(window.chat_wiring.open_conversation())
    answered(window, qtbot, "and another text, that is a little longer than the one before")
    assert predicted(window) == ([], [])
    session.preview("ubatch_tok", 64)
    qtbot.waitUntil(lambda: all(predicted(window)), timeout=PATIENCE_MS)
    ttft, tpot = predicted(window)
    low, high, middle = (level.value for level in ttft)
    assert 0 < low < middle < high
    # Writing takes no longer with another micro-batch: the ghost stands where the lines end.
    measured = window.desk.meters.requests.tpot_ghost
    assert tpot[-1].value == measured.seconds
    assert "1 stream" in measured.text
    runs = window.desk.measurements.runs
    assert f" · for {runs.prompt_tok - runs.reused_tok:,} tok" in _note(window)

    session.preview("ubatch_tok", session.wanted.ubatch_tok)
    qtbot.waitUntil(lambda: not any(predicted(window)), timeout=PATIENCE_MS)
    assert "predicted" not in _note(window)


def test_that_ttft_is_predicted_for_a_turn_that_finds_the_rest_cached(
    open_window: Callable[..., Window],
    qtbot: QtBot,
    tiny_chat_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A newcomer: it was for the whole prompt, most of which is never read again."""
    window = open_window(temperature=0.0, max_new_tok=8)
    session, runs = window.desk.session, window.desk.measurements.runs
    window.engine_wiring.load(str(tiny_chat_path))
    qtbot.waitUntil(lambda: session.applied is not None, timeout=PATIENCE_MS)
    monkeypatch.setattr(prediction_words, "_MOST_ERROR", math.inf)
    answered(window, qtbot, "one two three four five six seven eight nine ten")
    answered(window, qtbot, "and one more thing")
    assert runs.reused_tok > 0
    read_tok = runs.prompt_tok - runs.reused_tok
    session.preview("ubatch_tok", 64)
    told = f" · for {read_tok:,} tok after {runs.reused_tok:,} cached"
    qtbot.waitUntil(lambda: told in _note(window), timeout=PATIENCE_MS)
    assert "the first turn" not in _note(window)
    session.preview("ubatch_tok", session.wanted.ubatch_tok)
    session.preview("cache_type_k", "q8_0")
    lost = f"{told} · the first turn after Apply reads all {runs.prompt_tok:,}"
    qtbot.waitUntil(lambda: lost in _note(window), timeout=PATIENCE_MS)


def _note(window: Window) -> str:
    window.live.redraw()
    return window.live.ttft.sheet().note
