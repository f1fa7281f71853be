"""Whether a model would fit: asked, answered, dropped, and what would help."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app import fit_check
from app.fit_check import Fit, FitCheck
from app.fit_words import fit_view, way_words
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from tests.unit.children.plans import GIB

PATIENCE_MS = 30_000


@pytest.fixture
def check(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[FitCheck]:
    monkeypatch.setattr(fit_check, "_MODULE", "tests.unit.children.plans")
    parent = QObject()
    made = FitCheck(parent)
    yield made
    made.close()
    parent.deleteLater()


def config_of(name: str, **values: object) -> EngineConfig:
    return EngineConfig.from_values({"model_path": f"/models/{name}", **values})


def answer_to(check: FitCheck, qtbot: QtBot, config: EngineConfig) -> Fit:
    with qtbot.waitSignal(check.answered, timeout=PATIENCE_MS) as answered:
        check.ask(config, None)
    fit = answered.args[0] if answered.args else None
    assert isinstance(fit, Fit)
    assert fit.config == config
    return fit


def test_that_a_model_that_fits_needs_no_change(check: FitCheck, qtbot: QtBot) -> None:
    fit = answer_to(check, qtbot, config_of("fits.gguf"))
    assert fit.ways == ()
    view = fit_view(fit)
    assert view.sentence == (
        "Fits with 16,384 = 4 slots × 4,096 tokens, f16 cache: 2.00\u202fGiB left."
    )
    assert not view.is_short
    assert (view.capacity_bytes, view.others_bytes) == (8 * GIB, 4 * GIB)


def test_that_what_auto_came_to_is_said(check: FitCheck, qtbot: QtBot) -> None:
    fit = answer_to(check, qtbot, config_of("fits.gguf"))
    assert fit.plan is not None
    assert fit.plan.effective is not None
    sentence = "24 of 33 layers on CUDA0: 25 would leave 0.3 GiB of the 1.0 GiB margin."
    effective = msgspec.structs.replace(fit.plan.effective, placement=sentence)
    plan = msgspec.structs.replace(fit.plan, effective=effective)
    assert fit_view(dataclasses.replace(fit, plan=plan)).sentence.endswith(f"left. {sentence}")


def test_that_what_would_help_was_tried(check: FitCheck, qtbot: QtBot) -> None:
    view = fit_view(answer_to(check, qtbot, config_of("tight.gguf")))
    assert view.is_short
    assert view.sentence == "Too large."
    assert [text for _, text in view.ways] == [
        "Load with context per slot 1,024",
        "Load with a q8_0 cache",
    ]


def test_that_what_does_not_help_is_not_offered(check: FitCheck, qtbot: QtBot) -> None:
    fit = answer_to(check, qtbot, config_of("never.gguf"))
    assert fit.plan is not None
    assert fit.ways == ()


@pytest.mark.parametrize(
    ("name", "words"), [("bad.gguf", "is no model"), ("dies.gguf", "ggml_abort: no")]
)
def test_that_no_answer_is_a_sentence(check: FitCheck, qtbot: QtBot, name: str, words: str) -> None:
    fit = answer_to(check, qtbot, config_of(name))
    assert fit.plan is None
    assert words in fit.problem
    assert fit_view(fit).is_short


def test_that_a_question_is_dropped_for_the_next(check: FitCheck, qtbot: QtBot) -> None:
    check.ask(config_of("hangs.gguf"), None)
    assert check.is_asking
    assert answer_to(check, qtbot, config_of("fits.gguf")).ways == ()


def test_that_a_dropped_question_leaves_no_process(check: FitCheck, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(check.answered):
        check.ask(config_of("hangs.gguf"), None)
        check.cancel()
    assert not check.is_asking


def test_that_a_file_that_keeps_the_engine_too_long_is_given_up(
    check: FitCheck, qtbot: QtBot
) -> None:
    check._timeout.setInterval(1)
    fit = answer_to(check, qtbot, config_of("hangs.gguf"))
    assert "within a minute" in fit.problem


def test_that_a_change_reads_as_a_button() -> None:
    assert way_words({"ctx_total_tok": 8192}) == "Load with pool size 8,192"
    coarse: dict[str, Value] = {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}
    assert way_words(coarse) == "Load with a q8_0 cache"
    assert way_words({"slots": 2, "ctx_per_slot_tok": 8192} | coarse) == (
        "Load with a q8_0 cache, parallel slots 2 and context per slot 8,192"
    )
    assert way_words({"spec_types": ()}) == "Load with no draft model"


def test_that_it_is_said_for_which_settings_it_fits_where_others_wait(
    check: FitCheck, qtbot: QtBot
) -> None:
    fit = answer_to(check, qtbot, config_of("fits.gguf"))
    assert fit_view(fit, fit.config) == fit_view(fit)
    waiting = fit.config.with_values({"ctx_per_slot_tok": 32768})
    rest = "a load keeps them; 131,072 = 4 slots × 32,768 tokens, f16 cache, set since, wait for"
    assert f"left. These settings run, and {rest} Apply." in fit_view(fit, waiting).sentence
    assert fit.plan is not None
    short = dataclasses.replace(fit, plan=msgspec.structs.replace(fit.plan, fits=False))
    own = "16,384 = 4 slots × 4,096 tokens, f16 cache"
    sentence = fit_view(short, waiting).sentence
    assert sentence.endswith(f" This is for {own}: the settings that run, and {rest} Apply.")
