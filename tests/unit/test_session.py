from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.model_bound import for_file, with_model_of
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.protocol import Apply, CancelLoad, Load, PlanReady, Refused, Unloaded
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.row import Applies
from engine_bridge.settings.rules import Problem
from tests.unit.fake_client import EMPTY_PLAN, FakeClient, applied, model_facts


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def session(qapp: QApplication, client: FakeClient) -> Iterator[Session]:
    session = Session(cast(EngineClient, client), EngineConfig())
    yield session
    shiboken6.delete(session)


def load(session: Session, client: FakeClient) -> None:
    session.load("/m.gguf")
    command = client.sent[-1]
    assert isinstance(command, Load)
    client.event_received.emit(
        applied(command.config, request_id=command.request_id, model=model_facts())
    )


def test_that_dragging_asks_the_planner_and_commits_nothing(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.preview("ctx_per_slot_tok", 8192)
    assert client.planned[-1].ctx_per_slot_tok == 8192
    assert session.wanted.ctx_per_slot_tok == 4096
    assert not session.can_undo


def test_that_a_drag_released_where_it_began_takes_its_preview_back(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.preview("ctx_per_slot_tok", 8192)
    session.commit("ctx_per_slot_tok", 4096)
    assert client.planned[-1].ctx_per_slot_tok == 4096
    assert not session.can_undo


def test_that_a_live_setting_is_applied_at_once(session: Session, client: FakeClient) -> None:
    load(session, client)
    session.commit("temperature", 0.0)
    command = client.sent[-1]
    assert isinstance(command, Apply)
    assert command.config.temperature == 0.0


def test_that_a_live_setting_does_not_take_a_waiting_context_change_along(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("slots", 8)
    session.commit("temperature", 0.0)
    command = client.sent[-1]
    assert isinstance(command, Apply)
    assert (command.config.temperature, command.config.slots) == (0.0, 4)
    client.event_received.emit(applied(command.config, request_id=command.request_id, cost="live"))
    assert session.wanted.slots == 8
    assert session.cost() is Applies.CONTEXT


def test_that_a_context_change_waits_for_apply(session: Session, client: FakeClient) -> None:
    load(session, client)
    session.commit("slots", 8)
    assert isinstance(client.sent[-1], Load)
    session.apply()
    assert isinstance(client.sent[-1], Apply)
    assert session.work == "apply"


def test_that_undo_and_redo_walk_the_commits(session: Session, client: FakeClient) -> None:
    load(session, client)
    session.commit("slots", 8)
    session.commit("cache_type_k", "q8_0")
    session.undo()
    assert (session.wanted.slots, session.wanted.cache_type_k) == (8, "f16")
    session.undo()
    assert session.wanted.slots == 4
    session.redo()
    session.redo()
    assert (session.wanted.slots, session.wanted.cache_type_k) == (8, "q8_0")
    assert not session.can_redo


def test_that_a_new_change_forgets_what_could_be_redone(session: Session) -> None:
    session.commit("slots", 8)
    session.undo()
    session.commit("slots", 2)
    assert not session.can_redo


def test_that_the_cost_of_a_change_is_the_time_it_took_last(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    assert session.measured_seconds(Applies.RELOAD) == 2.9
    assert session.measured_seconds(Applies.CONTEXT) is None


def test_that_the_load_of_a_draft_model_is_no_measure_of_a_reload(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    config = session.wanted.with_values(
        {"spec_types": ("draft-simple",), "draft_model_path": "/d.gguf"}
    )
    client.event_received.emit(applied(config, cost="reload", seconds=0.3))
    assert session.measured_seconds(Applies.RELOAD) == 2.9


def test_that_a_refused_load_leaves_what_ran(session: Session, client: FakeClient) -> None:
    load(session, client)
    seen: list[Refused] = []
    session.refused.connect(seen.append)
    session.load("/broken.gguf")
    client.event_received.emit(
        Refused("load", client.sent[-1].request_id, Problem(("model_path",), "It is broken."))  # type: ignore[union-attr]
    )
    assert [event.problem.message for event in seen] == ["It is broken."]
    assert session.wanted.model_path == "/m.gguf"
    assert session.work == ""


def test_that_plans_are_shown_while_a_fader_moves_but_never_an_older_after_a_newer(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    for slots in (5, 6, 7):
        session.preview("slots", slots)
    newest = len(client.planned)
    seen: list[tuple[int, bool]] = []
    for number in (newest - 1, newest - 2, newest):
        client.event_received.emit(PlanReady(number, EMPTY_PLAN))
        assert session.planned is not None
        seen.append((session.planned.slots, session.is_planning))
    assert seen == [(6, True), (6, True), (7, False)]


def test_that_a_plan_which_does_not_come_leaves_no_older_one_standing(
    session: Session, client: FakeClient, qtbot: QtBot
) -> None:
    load(session, client)
    client.event_received.emit(PlanReady(len(client.planned), EMPTY_PLAN))
    with qtbot.waitSignal(session.plan_changed, timeout=5000) as shown:
        session.commit("slots", 64)
    assert shown.args == [None]
    assert session.is_planning


def test_that_opening_another_model_leaves_waiting_changes_waiting(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("slots", 8)
    session.load("/other.gguf")
    command = client.sent[-1]
    assert isinstance(command, Load)
    assert (command.config.slots, command.config.model_path) == (4, "/other.gguf")
    client.event_received.emit(
        applied(command.config, request_id=command.request_id, model=model_facts())
    )
    assert session.wanted.slots == 8
    assert session.wanted.model_path == "/other.gguf"
    assert session.cost() is Applies.CONTEXT


def test_that_a_refused_load_is_tried_again_with_its_repair(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.load("/large.gguf", {"ctx_per_slot_tok": 1024})
    command = client.sent[-1]
    assert isinstance(command, Load)
    assert command.config.ctx_per_slot_tok == 1024
    assert session.wanted.ctx_per_slot_tok == 1024


def test_that_what_was_refused_is_known_while_it_is_told(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    ran = session.tried
    told: list[EngineConfig | None] = []
    session.refused.connect(lambda _: told.append(session.tried))
    session.load("/large.gguf", {"ctx_per_slot_tok": 1024})
    command = client.sent[-1]
    assert isinstance(command, Load)
    client.event_received.emit(Refused("load", command.request_id, Problem((), "Too large.")))
    assert told == [command.config]
    assert session.tried == ran


def test_that_a_load_is_still_waited_for_when_an_older_change_is_done(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("temperature", 0.5)
    change = client.sent[-1]
    assert isinstance(change, Apply)
    session.load("/broken.gguf")
    seen: list[Refused] = []
    session.refused.connect(seen.append)
    client.event_received.emit(applied(change.config, request_id=change.request_id, cost="live"))
    assert session.work == "load"
    number = client.sent[-1].request_id  # type: ignore[union-attr]
    client.event_received.emit(Refused("load", number, Problem(("model_path",), "Broken.")))
    assert [event.problem.message for event in seen] == ["Broken."]


def test_that_undo_takes_back_a_setting_and_leaves_the_model(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("slots", 8)
    session.load("/other.gguf")
    command = client.sent[-1]
    assert isinstance(command, Load)
    client.event_received.emit(
        applied(command.config, request_id=command.request_id, model=model_facts())
    )
    session.undo()
    assert (session.wanted.slots, session.wanted.model_path) == (4, "/other.gguf")
    session.redo()
    assert (session.wanted.slots, session.wanted.model_path) == (8, "/other.gguf")


def test_that_nothing_which_breaks_a_rule_is_sent(session: Session, client: FakeClient) -> None:
    load(session, client)
    sent = len(client.sent)
    session.want({"cache_type_v": "q8_0", "flash_attn": "off"})
    session.apply()
    assert len(client.sent) == sent


def test_that_a_model_the_engine_gave_up_is_not_thought_to_run(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    told: list[str] = []
    session.model_lost.connect(told.append)
    client.event_received.emit(Unloaded("There was no room."))
    assert session.applied is None
    assert told == ["There was no room."]


def test_that_a_model_which_does_not_come_back_after_a_death_is_not_thought_to_run(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    client.engine_died.emit(None)
    session.reload()
    number = client.sent[-1].request_id  # type: ignore[union-attr]
    client.event_received.emit(Refused("load", number, Problem(("model_path",), "Gone.")))
    assert session.applied is None


def test_that_a_broken_rule_is_named_and_repaired_in_one_step(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.want({"cache_type_v": "q8_0", "flash_attn": "off"})
    problem = session.problems()[0]
    session.repair(problem)
    assert session.problems() == ()
    seen: list[str] = [session.wanted.flash_attn]
    session.undo()
    seen.append(session.wanted.flash_attn)
    assert seen == ["auto", "off"]


def test_that_after_a_death_the_last_good_configuration_is_brought_back(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("slots", 8)
    session.apply()
    client.engine_died.emit(None)
    assert session.work == ""
    session.reload()
    command = client.sent[-1]
    assert isinstance(command, Load)
    assert command.config.slots == 4
    assert session.wanted.slots == 8


def test_that_a_load_is_cancelled_once(session: Session, client: FakeClient) -> None:
    session.cancel_load()
    assert not client.sent
    session.load("/m.gguf")
    session.cancel_load()
    session.cancel_load()
    assert [type(command) for command in client.sent] == [Load, CancelLoad], "once"


def test_that_a_value_outside_its_domain_is_refused_not_clipped(session: Session) -> None:
    with pytest.raises(DomainError, match="outside 1 to 256"):
        session.commit("slots", 300)
    assert session.wanted.slots == 4


def test_that_the_load_of_a_draft_model_can_be_cancelled(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.want({"spec_types": ["draft-simple"], "draft_model_path": "draft.gguf"})
    session.apply()
    session.cancel_load()
    assert isinstance(client.sent[-1], CancelLoad)


def test_that_what_was_made_for_one_model_stays_with_it() -> None:
    ours = EngineConfig(model_path="a.gguf", lora=("a-style.gguf",), slots=2)
    other = for_file(ours, "b.gguf")
    assert other.lora == ()
    assert other.slots == 2
    assert for_file(ours, "a.gguf") == ours
    loaded = EngineConfig(model_path="b.gguf", lora=("b-style.gguf",))
    waiting = ours.with_values({"slots": 3})
    adopted = with_model_of(loaded, waiting)
    assert (adopted.model_path, adopted.lora, adopted.slots) == ("b.gguf", ("b-style.gguf",), 3)
    assert with_model_of(loaded, adopted.with_values({"lora": ()})).lora == ()


def test_that_settings_that_the_planner_cannot_plan_say_why(
    session: Session, client: FakeClient
) -> None:
    load(session, client)
    session.commit("slots", 2)
    number = len(client.planned)
    client.event_received.emit(Refused("plan", number, Problem(("slots",), "It cannot be made.")))
    assert not session.is_planning
    assert [p.message for p in session.problems()] == ["It cannot be made."]
    session.commit("slots", 3)
    assert session.problems() == ()
