"""What drafts brought, from the engine's steps to the tune column and below the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.window import Window
from tests.window.conftest import PATIENCE_MS
from widgets.message_details import DetailsView

pytestmark = pytest.mark.gui


def answered(window: Window, qtbot: QtBot, ask: Callable[[], None]) -> None:
    with qtbot.waitSignal(window.desk.chats.answer_finished, timeout=PATIENCE_MS):
        ask()


def applied(window: Window, qtbot: QtBot, values: dict[str, object]) -> None:
    session = window.desk.session
    session.want(values)

    def is_done() -> bool:
        # What is live is applied by itself and first; the rest waits for the button.
        if not session.work:
            session.apply()
        return session.applied is not None and session.applied.config == session.wanted

    qtbot.waitUntil(is_done, timeout=PATIENCE_MS)


def test_that_a_turn_can_be_taken_apart_and_drafts_are_judged_by_turns_without(
    loaded_window: Window, qtbot: QtBot
) -> None:
    window = loaded_window
    advisor = window.draft_advisor
    assert not advisor.section.is_open()
    advisor.section.set_open(True)
    assert advisor.view.isVisible()
    assert "The next answer will be what drafts are held against" in advisor.view.text()
    view = window.chat.conversation(window.chat.current_id())
    answered(window, qtbot, lambda: view.submit("one two three"))
    assert "1 turn without drafts" in advisor.view.text()

    drafting = {"spec_types": ("ngram-simple",), "ngram_size_n": 2, "ngram_size_m": 2}
    applied(window, qtbot, drafting)
    assert "Not measured yet" in advisor.view.text()
    answered(window, qtbot, view.rows.ask_again)
    shown = advisor.view.text()
    for title in ("Tokens a pass", "Cost of drafting", "Net gain"):
        assert title in shown
    assert "1 turn of this session" in shown
    last = window.desk.chats.conversations()[0].last
    assert last is not None
    assert last.details is not None
    assert last.details.steps > 1
    assert last.details.new_tok == 64
    # Whatever was drafted, steps and accepted tokens make up the answer, but for its cut end.
    made = last.details.steps + last.details.accepted_tok
    assert 64 <= made <= 64 + drafting["ngram_size_m"]  # type: ignore[operator]

    answer = view.rows.last_answer()
    assert answer is not None
    answer.footer.details_button.click()
    [details] = answer.footer.findChildren(DetailsView)
    assert "prefill" in details.text()
    assert "computed" in details.text()

    # In another conversation nothing was measured yet.
    other = window.chat_wiring.open_conversation()
    window.chat.set_current(other)
    assert "Not measured yet" in advisor.view.text()
