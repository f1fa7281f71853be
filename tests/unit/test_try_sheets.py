"""A trial as the sheet of its view, in every state of it."""

from __future__ import annotations

from typing import Any

from app.experiments.experiment import Cell, Experiment, Kind, State
from app.experiments.memory_watch import BOARDS, PRIVATE, RESIDENT
from app.try_sheets import try_sheet
from tests.unit.experiments.made_experiments import SUBJECT, figures

MIB = 1 << 20


def cell(name: str, speed: float, runs: int = 5, extra: dict[str, float] | None = None) -> Cell:
    measured = tuple(figures(speed, seed) for seed in range(runs))
    return Cell(name, runs=measured, disturbed=("",) * runs, extra=extra or {})


def trial(*cells: Cell, **changes: Any) -> Experiment:
    values: dict[str, Any] = {
        "key": "k", "kind": Kind.PROBE, "begun_at": "2026-11-30T19:00:00Z", "state": State.DONE,
        "title": "toy", "subject": SUBJECT, "cells": cells,
        "conclusion": ("Server first.", "Then more."),
    }  # fmt: skip
    return Experiment(**(values | changes))


SERVER = cell("127.0.0.1:9", 1.1, extra={RESIDENT: 900.0 * MIB, PRIVATE: 300.0 * MIB})
OWN = cell("embedded engine", 1.0, extra={RESIDENT: 800.0 * MIB, PRIVATE: 320.0 * MIB})


def row(sheet_cells: tuple[Cell, ...], label: str, **changes: Any) -> Any:
    return next(r for r in try_sheet(trial(*sheet_cells, **changes)).rows if r.label == label)


def test_that_both_sides_have_their_medians_with_the_spread_in_one_unit() -> None:
    tpot = row((SERVER, OWN), "TPOT")
    assert tpot.unit == "ms"
    assert tpot.server.startswith("16.")
    assert tpot.own.startswith("18.")
    assert " ± " in tpot.server
    assert " ± " in tpot.own
    assert tpot.change.startswith("−9.")
    assert tpot.change.endswith(" %")
    assert "Time per output token" in tpot.meaning


def test_that_speed_and_memory_are_among_the_rows() -> None:
    sheet = try_sheet(trial(SERVER, OWN))
    labels = [each.label for each in sheet.rows]
    assert labels == [
        "TTFT", "TPOT", "Speed per user", "Total throughput", "Memory (RSS)", "Memory of its own",
    ]  # fmt: skip
    memory = row((SERVER, OWN), "Memory (RSS)")
    assert (memory.server, memory.own, memory.unit) == ("900", "800", "MiB")
    assert memory.change == "+12.5 %"


def test_that_the_memory_of_boards_is_a_row_where_somebody_tells() -> None:
    boards = cell("127.0.0.1:9", 1.0, extra={BOARDS: 2048.0 * MIB})
    told = row((boards, OWN), "GPU memory")
    assert (told.server, told.own, told.unit, told.change) == ("2.00", "–", "GiB", "")


def test_that_the_verdict_is_the_headline() -> None:
    sheet = try_sheet(trial(SERVER, OWN))
    assert sheet.headline == "Server first."
    assert sheet.sentences == ("Then more.",)
    assert sheet.has_own


def test_that_few_runs_claim_nothing() -> None:
    few = (cell("127.0.0.1:9", 1.1, 3), cell("embedded engine", 1.0, 3))
    headline = try_sheet(trial(*few)).headline
    assert headline == (
        "3 runs of each are too few to tell a difference: 5 or more would give a verdict."
    )


def test_that_a_server_alone_is_compared_with_nothing() -> None:
    sheet = try_sheet(trial(SERVER, conclusion=()))
    assert not sheet.has_own
    assert "nothing to compare" in sheet.headline
    assert all(each.own == "" and each.change == "" for each in sheet.rows)


def test_that_one_that_runs_shows_what_there_is() -> None:
    running = trial(SERVER, Cell("embedded engine"), state=State.RUNNING, conclusion=())
    sheet = try_sheet(running)
    assert sheet.headline.startswith("Measuring")
    assert not sheet.has_own
    assert sheet.rows
    assert try_sheet(trial(state=State.RUNNING)).rows == ()


def test_that_only_one_that_runs_is_said_to_measure() -> None:
    for state in State:
        (said,) = try_sheet(trial(state=state, conclusion=())).sentences
        assert said.startswith("Measuring") == (state is State.RUNNING)
        assert ("nothing was measured" in said) == (state is not State.RUNNING)


def test_that_what_disturbed_runs_is_told_once() -> None:
    told = "Other programs used 30 % of the processor."
    noisy = Cell("127.0.0.1:9", runs=SERVER.runs, disturbed=(told, "", told, "", ""))
    sheet = try_sheet(trial(noisy, OWN))
    assert sheet.sentences[-1] == f"2 of 10 runs were disturbed. {told}"
