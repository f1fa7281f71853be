"""Sweeps and comparisons from words on, and their text."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.experiments.compare import Comparison
from app.experiments.experiment import Cell, Experiment, Kind, State, Subject
from app.experiments.grid import Plan
from app.experiments.lengths import Fixed
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.model_hash import ModelHashes
from app.experiments.port import StoppedError
from app.experiments.sweep_conclusion import concluded
from app.experiments.sweep_start import compare_configs, sweep_of_words, too_long_of
from app.experiments.sweep_table import sweep_lines
from app.experiments.text_layout import WIDTH
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from app.planning import PlanAnswer
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.tiny_model import write_tiny_llama
from tests.unit.experiments.fake_port import FakeEngine, FakePort
from tests.unit.experiments.made_up import (
    SMALL,
    Listener,
    cell_of,
    plan_that_fits,
    plan_up_to,
    small_runner,
)

_TOTAL, _TTFT = BY_FIGURE["total_tok_s"], BY_FIGURE["ttft_s"]


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


def by_slots(config: EngineConfig) -> FakeEngine:
    """More slots are faster in total and slower for each."""
    return FakeEngine(step_s=lambda streams: 0.02 + 0.004 * streams, owned_bytes=config.slots << 30)


def swept(
    model_path: Path,
    words: list[str],
    *,
    port: FakePort | None = None,
    listener: Listener | None = None,
    plan: Plan = plan_that_fits,
    workload: Workload = SMALL,
    rounds: int = 5,
    kept: Experiment | None = None,
    measure: Measure = _TOTAL,
) -> Experiment:
    return sweep_of_words(
        port or FakePort(by_slots),
        EngineConfig(model_path=str(model_path)),
        words,
        workload,
        listener or Listener(),
        measure=measure,
        rounds=rounds,
        kept=kept,
        plan=plan,
        hashes=ModelHashes(model_path.with_suffix(".json")),
        runner=small_runner(workload),
    )


def test_that_words_become_a_table_with_intervals_both_speeds_and_what_is_worth_a_choice(
    model_path: Path,
) -> None:
    workload = msgspec.structs.replace(SMALL, users=4, requests=8)
    experiment = swept(model_path, ["slots=1,2,4,8"], plan=plan_up_to(4), workload=workload)
    assert experiment.state is State.DONE
    assert experiment.title.endswith("small, slots 1/2/4/8")
    assert len(experiment.subject.model_sha256) == 64
    assert experiment.cells[3].skipped.startswith("CUDA0 does not suffice")
    lines = sweep_lines(experiment)
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(lines)
    assert "User tok/s" in text
    assert "Total tok/s" in text
    assert "Memory GiB" in text
    assert "Best in total throughput: slots=4 (" in text
    assert "skipped slots=8: CUDA0 does not suffice" in text
    rows = [line for line in lines if line.endswith(("slots=1", "slots=2", "slots=4"))]
    assert len(rows) == 3
    assert all("–" in row and row.split()[-2] == "5" for row in rows)
    # Each is best in something: one slot in memory, four in total.
    assert rows[0].startswith("◆")
    assert rows[2].startswith("◆")


def test_that_a_figure_beyond_the_usual_has_a_column_of_its_own(model_path: Path) -> None:
    lines = sweep_lines(swept(model_path, ["slots=1,2"], measure=_TTFT), explain=True)
    assert any("TTFT ms" in line or "TTFT s" in line for line in lines)
    assert any("Time to first token" in line for line in lines)


def test_that_a_sweep_of_words_can_be_gone_on_with(model_path: Path) -> None:
    port = FakePort(by_slots)
    stopped = swept(model_path, ["slots=1,2"], port=port, listener=Listener(port.stop, 3), rounds=5)
    assert stopped.state is State.STOPPED
    whole = swept(model_path, ["slots=1,2"], kept=stopped)
    assert [len(cell.runs) for cell in whole.cells] == [5, 5]
    assert whole.key == stopped.key
    with pytest.raises(DomainError, match="other combinations"):
        swept(model_path, ["slots=1,4"], kept=stopped)


def test_that_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "not.gguf"
    file.write_bytes(b"\0" * 64)
    with pytest.raises(DomainError) as refused:
        swept(file, ["slots=1,2"])
    assert "not.gguf" in str(refused.value)


def test_that_a_workload_no_cell_can_hold_is_a_sentence(model_path: Path) -> None:
    long = Workload(name="long", material=Material.PROSE, prompt_tok=Fixed(5000), requests=1)
    with pytest.raises(DomainError) as refused:
        swept(model_path, ["slots=1,2"], workload=long)
    assert str(refused.value).startswith("None of these combinations can run: ")
    assert "Set the context per slot to" in str(refused.value)


def test_that_a_text_that_cannot_be_read_is_told_before_anything_runs(
    model_path: Path, tmp_path: Path
) -> None:
    gone = Workload(name="own", material=Material.FILE, text_path=str(tmp_path / "gone.txt"))
    port = FakePort(by_slots)
    with pytest.raises(WorkloadError, match="gone"):
        swept(model_path, ["slots=1,2"], workload=gone, port=port)
    assert port.applied == []


def test_that_a_stop_while_planning_ends_it(model_path: Path) -> None:
    port = FakePort(by_slots)
    planned: list[EngineConfig] = []

    def plan(config: EngineConfig) -> PlanAnswer:
        planned.append(config)
        port.stop()
        return plan_that_fits(config)

    with pytest.raises(StoppedError):
        swept(model_path, ["slots=1,2,4"], port=port, plan=plan)
    assert len(planned) == 1


def test_that_the_longest_of_all_variants_must_fit() -> None:
    work = Workload(
        name="wide", material=Material.PROSE, prompt_tok=SMALL.prompt_tok, answer_tok=Fixed(8)
    )
    assert too_long_of(work, 3)(4096) == ""
    assert "tokens of context" in too_long_of(work, 3)(64)


def compared(
    model_path: Path, first: dict[str, object], second: dict[str, object], plan: Plan
) -> Experiment:
    base = EngineConfig(model_path=str(model_path))
    asked = Comparison(
        base.with_values(first), base.with_values(second), BY_FIGURE["total_tok_s"], pairs=6
    )
    return compare_configs(
        FakePort(by_slots),
        asked,
        ("first", "second"),
        SMALL,
        Listener(),
        plan=plan,
        hashes=ModelHashes(model_path.with_suffix(".json")),
        runner=small_runner(),
    )


def test_that_two_configurations_are_compared(model_path: Path) -> None:
    experiment = compared(model_path, {"slots": 1}, {"slots": 2}, plan_that_fits)
    assert experiment.state is State.DONE
    assert experiment.conclusion[0].startswith("B is ")
    assert "faster than A in total throughput" in experiment.conclusion[0].replace("\u202f", " ")


def test_that_a_side_that_cannot_run_is_named_with_the_reason(model_path: Path) -> None:
    with pytest.raises(DomainError, match=r"^B \(second\) cannot run: CUDA0 does not suffice"):
        compared(model_path, {"slots": 1}, {"slots": 8}, plan_up_to(4))


def test_that_notes_and_settings_common_to_all_are_told() -> None:
    cells = (
        Cell("slots=1", {"threads": 2}, notes=("A note.",)),
        Cell("slots=2", {"threads": 2, "slots": 2}),
    )
    lines = sweep_lines(_sweep_of(*cells))
    assert "slots=1: A note." in lines
    assert lines[-1] == "settings   threads=2"


def test_that_a_reason_is_told_once_for_all_that_it_stands_against() -> None:
    cells = (
        Cell("a", skipped="A rule."),
        Cell("b", skipped="No room."),
        Cell("c", skipped="A rule."),
    )
    lines = sweep_lines(_sweep_of(*cells))
    assert [line for line in lines if line.startswith("skipped")] == [
        "skipped a; c: A rule.", "skipped b: No room.",
    ]  # fmt: skip


def test_that_of_many_disturbed_runs_some_are_told_and_the_rest_counted() -> None:
    cell = cell_of("slots=1", [1.0] * 9)
    loud = msgspec.structs.replace(cell, disturbed=("It was loud.",) * 9)
    lines = sweep_lines(_sweep_of(loud, cell))
    assert "* slots=1, run 6: It was loud." in lines
    assert "* and 3 more runs were disturbed." in lines
    assert any(line.endswith("slots=1 *") for line in lines)


def test_that_names_too_long_for_the_line_stand_above_their_figures() -> None:
    name = "slots=1, cache_type_k+cache_type_v=q8_0, flash_attn=on, ubatch_tok=512"
    lines = sweep_lines(_sweep_of(cell_of(name, [10.0] * 5), cell_of("b", [20.0] * 5)))
    assert max(map(len, lines)) <= WIDTH
    assert lines[lines.index(name) + 1].split()[-1] == "5"


def test_that_below_five_rounds_there_is_no_column_of_intervals() -> None:
    few = sweep_lines(_sweep_of(cell_of("a", [10.0] * 4), cell_of("b", [20.0] * 4)))
    assert not any("between" in line.lower() for line in few)
    assert "5 rounds give intervals" in " ".join(few)


def _sweep_of(*cells: Cell) -> Experiment:
    experiment = Experiment("k", Kind.SWEEP, "2026", State.DONE, "A sweep", Subject(), cells=cells)
    return concluded(experiment, _TOTAL)
