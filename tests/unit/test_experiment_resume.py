"""A stopped sweep of the history is gone on with from the window."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.experiment_resume import resume_request, words_of
from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.grid import grid_of
from app.experiments.measures import BY_FIGURE
from app.experiments.presets import preset_workload
from app.experiments.sweep import Sweep, cells_of
from app.experiments.sweep_resume import begun, refuse_other_words, resumed
from app.experiments.workload_file import kept_json
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.unit.experiments.made_experiments import figures

BASE = EngineConfig(model_path="/m.gguf", ctx_per_slot_tok=2048)


def stopped(*words: str, kind: Kind = Kind.SWEEP) -> Experiment:
    return Experiment(
        key="20261130-110036-3f9a2c",
        kind=kind,
        begun_at="2026-11-30T11:00:36+00:00",
        state=State.STOPPED,
        title="a sweep",
        subject=Subject(model="Toy", model_path="/m.gguf"),
        workload=kept_json(preset_workload("chat")),
        cells=cells_of(grid_of(BASE, words)),
    )


@pytest.mark.parametrize(
    "words",
    [
        ("slots=1,2,4",),
        ("slots=1,2", "cache_type_k+cache_type_v=f16,q8_0"),
        ("spec_types=ngram-simple;ngram-simple,ngram-mod", "flash_attn=on,off"),
    ],
)
def test_that_the_words_are_read_back_and_belong_to_what_was_kept(words: tuple[str, ...]) -> None:
    kept = stopped(*words)
    request = resume_request(kept, BASE)
    assert request.kept is kept
    refuse_other_words(kept, grid_of(request.config, request.words), request.workload)


def test_that_rounds_already_measured_are_not_dropped() -> None:
    kept = stopped("slots=1,2")
    cell = Cell(kept.cells[0].name, kept.cells[0].config, runs=tuple(figures() for _ in range(7)))
    kept = msgspec.structs.replace(kept, cells=(cell, kept.cells[1]))
    assert resume_request(kept, BASE).rounds == 7


def test_that_rounds_and_figure_are_those_that_were_asked_for() -> None:
    kept, cells = stopped("slots=1,2"), grid_of(BASE, ("slots=1,2",))
    workload = preset_workload("chat")
    before = resume_request(kept, BASE)
    assert (before.rounds, before.measure.key) == (5, "user_tok_s")
    for rounds in (3, 9):
        asked = Sweep(cells, BY_FIGURE["ttft_s"], rounds)
        new = begun(asked, kept.subject, workload, key="k", begun_at=kept.begun_at, title="t")
        request = resume_request(new, BASE)
        assert (request.rounds, request.measure.key) == (rounds, "ttft_s")
        more = resumed(new, Sweep(cells, BY_FIGURE["tpot_s"], rounds + 1), new.subject, workload)
        request = resume_request(more, BASE)
        assert (request.rounds, request.measure.key) == (rounds + 1, "tpot_s")


@pytest.mark.parametrize("asked", [{"rounds": 0, "measure": "luck"}, {"rounds": "many"}])
def test_that_words_of_another_version_are_taken_for_the_usual_ones(asked: dict[str, Any]) -> None:
    kept = msgspec.structs.replace(stopped("slots=1,2"), asked=asked)
    request = resume_request(kept, BASE)
    assert (request.rounds, request.measure.key) == (5, "user_tok_s")


@pytest.mark.parametrize(
    ("kept", "running", "words"),
    [
        (stopped("slots=1,2"), None, "No model is loaded"),
        (stopped("slots=1,2"), EngineConfig(model_path="/other.gguf"), "is about Toy"),
        (stopped("slots=1,2", kind=Kind.BENCH), BASE, "Only sweeps"),
    ],
)
def test_that_what_cannot_go_on_is_a_sentence(
    kept: Experiment, running: EngineConfig | None, words: str
) -> None:
    with pytest.raises(DomainError, match=words):
        resume_request(kept, running)


def test_that_values_are_told_apart_as_they_were_written() -> None:
    cells = (Cell("a=1, b=x,y"), Cell("a=2, b=x,y"), Cell("a=1, b=z"))
    assert words_of(cells) == ("a=1,2", "b=x,y;z")
