"""The user's settings while an experiment has the engine."""

from __future__ import annotations

from app.experiments.held_settings import HeldSettings
from engine_bridge.settings.config import EngineConfig

BEFORE = EngineConfig(model_path="a.gguf", slots=2)
WANTED = BEFORE.with_values({"slots": 4})


def _held() -> HeldSettings:
    return HeldSettings(BEFORE, WANTED)


def test_that_what_an_experiment_moves_is_not_the_user_s() -> None:
    held = _held()
    held.note_wanted(BEFORE.with_values({"slots": 8}), is_own=True)
    assert (held.config, held.wanted) == (BEFORE, WANTED)


def test_that_a_fader_the_user_moves_stands_there_at_the_end() -> None:
    held = _held()
    tried = BEFORE.with_values({"slots": 8, "cache_type_k": "q8_0"})
    held.note_wanted(tried, is_own=True)
    held.note_wanted(tried.with_values({"temperature": 0.3}), is_own=False)
    held.note_wanted(BEFORE, is_own=True)
    assert held.wanted == WANTED.with_values({"temperature": 0.3})
    assert held.config == BEFORE


def test_that_what_the_user_applies_is_in_force_at_the_end() -> None:
    held = _held()
    tried = BEFORE.with_values({"cache_type_k": "q8_0"})
    held.note_applied(tried, tried.with_values({"slots": 3}))
    assert held.config == BEFORE.with_values({"slots": 3})
    assert held.wanted == BEFORE.with_values({"slots": 3})


def test_that_another_model_stays_with_the_user_s_settings() -> None:
    held = _held()
    other = BEFORE.with_values({"model_path": "b.gguf", "slots": 7, "lora": ("x.gguf",)})
    assert held.follow_model(other)
    assert not held.follow_model(other)
    assert held.config == BEFORE.with_values({"model_path": "b.gguf", "lora": ("x.gguf",)})
    assert held.wanted == WANTED.with_values({"model_path": "b.gguf", "lora": ("x.gguf",)})


def test_that_a_model_is_no_change_of_settings() -> None:
    held = _held()
    held.note_wanted(WANTED.with_values({"model_path": "b.gguf"}), is_own=False)
    assert held.wanted == WANTED


def test_that_without_a_model_there_is_nothing_to_bring_back() -> None:
    held = HeldSettings(None, EngineConfig())
    assert not held.follow_model(BEFORE)
    held.note_applied(BEFORE, BEFORE.with_values({"slots": 3}))
    assert held.config is None
    assert held.wanted == EngineConfig(slots=3)
