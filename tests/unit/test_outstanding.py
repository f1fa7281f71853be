"""What was asked and not answered, and the plans among it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.engine_state import EngineState
from engine_bridge.outstanding import Outstanding, PlanQueue
from engine_bridge.protocol import (
    Apply,
    ChatMessage,
    Command,
    Generate,
    Load,
    LoadProgressed,
    Logged,
    Plan,
    Refused,
    RequestStarted,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem
from tests.bridge.children.talk import applied, finished, planned

CONFIG = EngineConfig(model_path="/models/small.gguf")
LOAD = Load(1, CONFIG)
QUESTION = Generate(2, "a", (ChatMessage("user", "?"),))
PROBLEM = Problem((), "No.")


def test_that_a_load_outranks_answers_and_both_end() -> None:
    work = Outstanding()
    work.sent(QUESTION)
    assert work.state is EngineState.BUSY
    work.sent(LOAD)
    assert work.request_ids == (1, 2)
    assert work.state.value == "loading"
    work.received(applied(LOAD))
    assert work.state.value == "busy"
    work.received(finished(2))
    assert work.state.value == "ready"
    assert work.doing == "idle"


@pytest.mark.parametrize(
    ("command", "kind"),
    [(LOAD, "load"), (Apply(1, CONFIG), "apply"), (Generate(1, "a", ()), "generate")],
)
def test_that_a_refusal_is_an_answer(command: Command, kind: str) -> None:
    work = Outstanding()
    work.sent(command)
    # A plan has numbers of its own, which may be the same.
    work.received(Refused("plan", 1, PROBLEM))
    left = [work.request_ids]
    work.received(Refused(kind, 1, PROBLEM))
    left.append(work.request_ids)
    assert left == [(1,), ()]
    assert work.state is EngineState.READY


def test_that_the_work_is_described_step_by_step() -> None:
    work = Outstanding()
    said = [work.doing]
    for message in (
        Plan(1, CONFIG), planned(1), QUESTION, RequestStarted(2, 0, 5, 0, "", 0),
        TokensDelivered(2, "a", (), (), 0), Generate(3, "b", ()), TokensDelivered(3, "", (), (), 0),
        Apply(4, CONFIG), LOAD, LoadProgressed(1, 0.5, "weights"), Logged("info", "noise"),
    ):  # fmt: skip
        if isinstance(message, (Plan, Generate, Apply, Load)):
            work.sent(message)
        else:
            work.received(message)
        said.append(work.doing)
    assert said == [
        "idle", "predicting memory", "idle", "taking up a request", "reading a prompt",
        "writing an answer", "writing an answer", "writing 2 answers", "changing its settings",
        "loading small.gguf", "loading small.gguf (weights, 50%)",
        "loading small.gguf (weights, 50%)",
    ]  # fmt: skip


def test_that_events_of_unknown_requests_are_no_work() -> None:
    work = Outstanding()
    work.received(LoadProgressed(9, 0.5, "weights"))
    work.received(RequestStarted(9, 0, 5, 0, "", 0))
    work.received(TokensDelivered(9, "a", (), (), 0))
    work.received(finished(9))
    assert work.state is EngineState.READY
    assert work.request_ids == ()


@given(st.lists(st.sampled_from(["offer", "answer", "give up"])))
def test_that_the_last_question_is_always_asked_in_the_end(steps: list[str]) -> None:
    queue = PlanQueue()
    asked: list[int] = []
    offered = [0]
    for step in [*steps, "answer", "answer"]:
        plan: Plan | None
        if step == "offer":
            number, plan = queue.offer(EngineConfig())
            offered.append(number)
        elif step == "answer":
            plan = queue.answered(asked[-1] if asked else 99)
        else:
            plan = queue.give_up()
        if plan is not None:
            asked.append(plan.plan_id)
    assert ([0, *asked])[-1] == offered[-1]
    assert asked == sorted(set(asked))


def test_that_a_late_answer_does_not_let_another_question_through() -> None:
    queue = PlanQueue()
    queue.offer(CONFIG)
    queue.offer(CONFIG)
    late = queue.give_up()
    assert late is not None
    assert queue.offer(CONFIG) == (3, None)
    assert queue.answered(1) is None
    following = queue.answered(2)
    assert following is not None
    assert following.plan_id == 3
