"""Measured settings put in force as one step, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from app.experiment_apply import NO_MODEL, ExperimentApply
from app.session import Session
from engine_bridge.client import EngineClient
from engine_bridge.protocol import Apply, Load, Refused
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.problem import Problem
from tests.unit.fake_client import FakeClient, applied, model_facts


class Desk:
    """A session whose engine does what it is told, and what was said."""

    def __init__(self) -> None:
        self.client = FakeClient()
        self.session = Session(cast(EngineClient, self.client), EngineConfig())
        self.apply = ExperimentApply(self.session)
        self.told: list[tuple[str, bool]] = []
        self.apply.told.connect(lambda sentence, can_undo: self.told.append((sentence, can_undo)))

    def answer(self) -> None:
        """Do the last command, and what waits for that."""
        command = self.client.sent[-1]
        assert isinstance(command, Load | Apply)
        is_load = isinstance(command, Load)
        event = applied(
            command.config, request_id=command.request_id,
            cost="reload" if is_load else "new context", model=model_facts() if is_load else None,
        )  # fmt: skip
        self.client.event_received.emit(event)
        QCoreApplication.processEvents()

    def load(self) -> None:
        self.session.load("/m.gguf")
        self.answer()

    @property
    def running(self) -> EngineConfig:
        assert self.session.applied is not None
        return self.session.applied.config


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Desk]:
    desk = Desk()
    yield desk
    shiboken6.delete(desk.apply)
    shiboken6.delete(desk.session)


def test_that_they_run_after_one_step_and_come_back_with_undo(desk: Desk) -> None:
    desk.load()
    desk.session.commit("temperature", 0.1)
    desk.answer()
    before = desk.session.wanted
    desk.apply.apply({"slots": 8, "flash_attn": "on"})
    desk.answer()
    assert (desk.running.slots, desk.running.flash_attn) == (8, "on")
    assert desk.running.temperature == 0.1  # how answers are chosen stays the user's
    words = "Parallel slots 4 → 8, Flash attention auto → on."
    assert desk.told == [(f"Applying: {words}", True), (f"Applied: {words}", True)]
    desk.apply.undo()
    desk.answer()
    assert desk.running == before == desk.session.wanted
    assert desk.told[-1] == ("The settings of before are in force again.", False)
    desk.apply.undo()
    assert len(desk.told) == 3


def test_that_what_is_at_its_default_in_the_experiment_is_set_back_to_it(desk: Desk) -> None:
    desk.load()
    desk.session.want({"slots": 8, "cache_type_k": "q8_0"})
    desk.session.apply()
    desk.answer()
    desk.apply.apply({"slots": 2})
    desk.answer()
    assert (desk.running.slots, desk.running.cache_type_k) == (2, "f16")
    assert desk.running.model_path == "/m.gguf"


def test_that_caches_alone_are_laid_over_what_the_user_has(desk: Desk) -> None:
    desk.load()
    desk.session.want({"slots": 8})
    desk.session.apply()
    desk.answer()
    desk.apply.apply_over({"cache_type_k": "q8_0", "cache_type_v": "q8_0"})
    desk.answer()
    assert (desk.running.slots, desk.running.cache_type_k) == (8, "q8_0")
    desk.apply.undo()
    desk.answer()
    assert (desk.running.slots, desk.running.cache_type_k) == (8, "f16")


def test_that_undo_brings_back_the_settings_even_after_another_change(desk: Desk) -> None:
    desk.load()
    desk.apply.apply({"slots": 8})
    desk.answer()
    desk.session.want({"slots": 16})
    desk.apply.undo()
    desk.answer()
    assert desk.running.slots == 4


def test_that_what_runs_already_is_said(desk: Desk) -> None:
    desk.load()
    sent = len(desk.client.sent)
    desk.apply.apply({})
    assert desk.told == [("The engine runs these settings already.", False)]
    assert len(desk.client.sent) == sent


def test_that_settings_of_another_model_wait_in_the_tune_column(desk: Desk) -> None:
    desk.load()
    sent = len(desk.client.sent)
    desk.apply.apply({"slots": 8}, "/models/other.gguf")
    assert desk.session.wanted.slots == 8
    assert len(desk.client.sent) == sent
    sentence, can_undo = desk.told[-1]
    assert sentence.startswith("They were measured on other.gguf")
    assert can_undo


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"slots": 100_000}, "cannot be applied"),
        ({"cache_type_v": "q8_0", "flash_attn": "off"}, "cannot be applied"),
    ],
)
def test_that_what_cannot_run_is_a_sentence_and_changes_nothing(
    desk: Desk, values: dict[str, object], words: str
) -> None:
    desk.load()
    before = desk.session.wanted
    desk.apply.apply(values)
    assert words in desk.told[-1][0]
    assert desk.session.wanted == before
    assert not desk.session.can_undo


def test_that_without_a_model_nothing_can_be_applied(desk: Desk) -> None:
    desk.apply.apply({"slots": 8})
    assert desk.told == [(NO_MODEL, False)]


def test_that_what_is_wanted_meanwhile_does_not_hide_that_it_was_applied(desk: Desk) -> None:
    desk.load()
    desk.apply.apply({"slots": 8})
    desk.session.want({"slots": 16})
    desk.answer()
    assert desk.told[-1] == ("Applied: Parallel slots 4 → 8.", True)
    assert "slots" not in desk.apply.running_values(), "another number is wanted"
    assert desk.apply.running_values()["flash_attn"] == "auto"
    assert desk.apply.running_values("/other.gguf") == {}


def test_that_a_refusal_is_told_in_place_of_having_applied(desk: Desk) -> None:
    desk.load()
    desk.apply.apply({"slots": 8})
    command = desk.client.sent[-1]
    assert isinstance(command, Apply)
    problem = Problem(("slots",), "No memory is left.")
    desk.client.event_received.emit(Refused("apply", command.request_id, problem))
    assert desk.told[-1][0].startswith("Not applied: ")
    assert "No memory is left." in desk.told[-1][0]
    desk.session.settings_applied.emit(())
    assert not any(sentence.startswith("Applied") for sentence, _ in desk.told)
