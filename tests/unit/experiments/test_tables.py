"""Results as text."""

from __future__ import annotations

import msgspec
import pytest

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.measures import BY_FIGURE
from app.experiments.scales import scale_of, value_text
from app.experiments.subject_text import settings_text
from app.experiments.tables import (
    DISTURBED,
    cells_table,
    experiment_lines,
    runs_table,
    summary_table,
)
from app.experiments.text_layout import WIDTH, text_table, wrapped
from app.experiments.workload import Material, Workload
from app.experiments.workload_file import kept_json

_NOISE = "Other programs used 30% of the processor: 0.6 of 2 cores on average."


def figures(**changes: object) -> Figures:
    """A run."""
    values: dict[str, object] = {
        "ttft_s": 0.1234, "tpot_s": 0.01111, "total_tok_s": 1234.5, "owned_bytes": 3 << 29,
        "requests": 8, "new_tok": 100, "duration_s": 12.0,
    }  # fmt: skip
    return Figures(**(values | changes))  # type: ignore[arg-type]


def cell(*runs: Figures, name: str = "defaults", **changes: object) -> Cell:
    """A configuration with these runs, none disturbed."""
    values: dict[str, object] = {"disturbed": ("",) * len(runs)}
    return Cell(name, runs=runs, **(values | changes))  # type: ignore[arg-type]


def experiment(*cells: Cell, **changes: object) -> Experiment:
    """An experiment with these configurations."""
    values: dict[str, object] = {
        "title": "Toy Q4_K_M, chat",
        "subject": Subject(
            machine="A processor, 2 cores, 8 GiB RAM, a system", engine="TuneDeck 0.1.0",
            model="Toy Q4_K_M", model_sha256="0123456789abcdef0123456789abcdef",
        ),
    }  # fmt: skip
    return Experiment(
        "20261130-110036-3f9a2c", Kind.BENCH, "2026-11-30T11:00:36+00:00", State.DONE,
        cells=cells, **(values | changes),  # type: ignore[arg-type]
    )  # fmt: skip


def test_that_columns_are_aligned_and_lines_end_with_a_sign() -> None:
    lines = text_table(("", "a", "long"), [["first", "1.5", "x"], ["b", "12.25"]], left=(0, 2))
    assert lines == [
        "           a  long",
        "first    1.5  x",
        "b      12.25",
    ]  # fmt: skip


def test_that_a_table_without_a_head_begins_with_its_rows() -> None:
    assert text_table(("", ""), [["a", "1"]]) == ["a  1"]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("ttft_s", 0.1234, "123.4 ms"),
        ("ttft_s", 1.2346, "1.235 s"),
        ("tpot_s", 0.0123456, "12.35 ms"),
        ("total_tok_s", 1234.56, "1,235 tok/s"),
        ("goodput_req_s", 0.05, "0.050 req/s"),
        ("owned_bytes", 3 << 29, "1.500 GiB"),
        ("owned_bytes", 300 << 20, "300.0 MiB"),
        ("mbu", 0.7153, "71.53 %"),
        ("mbu", 0.0, "0 %"),
        ("ttft_s", None, "–"),
    ],
)
def test_that_a_value_has_its_unit_and_four_digits(
    key: str, value: float | None, text: str
) -> None:
    assert value_text(BY_FIGURE[key], value) == text


def test_that_all_of_a_row_is_in_the_unit_of_its_median() -> None:
    scale = scale_of(BY_FIGURE["ttft_s"], 0.9)
    assert (scale.text(0.9), scale.text(1.1), scale.unit) == ("900.0", "1,100.0", "ms")


def test_that_a_summary_tells_median_spread_lowest_and_highest() -> None:
    runs = [figures(ttft_s=ttft_s) for ttft_s in (0.100, 0.102, 0.104, 0.110, 0.180)]
    lines = summary_table(cell(*runs))
    # Distances from the median 104 ms: 4, 2, 0, 6, 76; their median 4, × 1.4826.
    assert lines[0].split() == ["median", "±", "lowest", "highest"]
    assert lines[1].split() == ["TTFT", "104.0", "5.9", "100.0", "180.0", "ms"]
    assert [line.split()[0] for line in lines[2:]] == ["TPOT", "Total", "Memory", "Duration"]
    assert len({line.index(line.split()[-1]) for line in lines[1:3]}) == 1  # units stand in line


def test_that_a_single_run_has_no_spread() -> None:
    lines = summary_table(cell(figures()))
    assert lines[1].split() == ["TTFT", "123.4", "ms"]
    assert "±" not in "".join(lines)


def test_that_figures_of_the_configuration_stand_below_those_of_runs() -> None:
    extra = {"peak_bandwidth_bytes_per_s": 46.1e9, "mapped_weights_bytes": float(512 << 20)}
    lines = summary_table(cell(figures(), figures(), extra=extra))
    assert lines[-2].split() == ["Peak", "bandwidth", "46.1", "GB/s"]
    assert lines[-1].split() == ["Mapped", "weights", "512.0", "MiB"]


def test_that_a_disturbed_run_is_marked_and_explained() -> None:
    disturbed = cell(figures(), figures(), figures(failed=1), disturbed=("", _NOISE, ""))
    lines = runs_table(disturbed)
    assert [line.split()[0] for line in lines] == ["run", "1", f"2{DISTURBED}", "3"]
    assert lines[3].endswith("8 + 1 failed")
    said = "\n".join(experiment_lines(experiment(disturbed)))
    assert f"{DISTURBED} run 2: Other programs used 30%" in said


def test_that_runs_show_only_figures_that_there_are() -> None:
    head = runs_table(cell(figures(tpot_s=None)))[0]
    assert "TTFT ms" in head
    assert "TPOT" not in head


def test_that_several_configurations_are_compared_in_one_unit() -> None:
    cells = (
        cell(figures(ttft_s=0.5), figures(ttft_s=0.6), name="slots=1"),
        cell(figures(ttft_s=1.5), name="slots=4", disturbed=(_NOISE,)),
        cell(name="slots=9", skipped="It does not fit in memory."),
    )
    lines = cells_table(cells[:2], ("ttft_s", "total_tok_s"))
    assert lines[0].split() == ["TTFT", "s", "Total", "throughput", "tok/s", "runs"]
    assert lines[1].split()[:4] == ["slots=1", "0.550", "±", "0.074"]
    assert lines[2].split()[:3] == ["slots=4", DISTURBED, "1.500"]
    said = "\n".join(experiment_lines(experiment(*cells)))
    assert "skipped slots=9: It does not fit in memory." in said
    assert f"{DISTURBED} slots=4, run 1: Other programs" in said


def test_that_long_names_stand_above_their_figures() -> None:
    name = ", ".join(f"setting_number_{number}={number}" for number in range(8))
    lines = cells_table((cell(figures(), name=name), cell(figures())), ("ttft_s", "tpot_s"))
    assert max(map(len, lines)) <= WIDTH
    assert lines[1].startswith("setting_number_0=0,")


def test_that_no_line_is_longer_than_a_terminal_is_wide() -> None:
    whole = cell(
        *[
            figures(
                ttft_p95_s=0.2, itl_p50_s=0.011, itl_p99_s=0.031, prefill_tok_s=1000.0,
                user_tok_s=90.0, decode_tok_s=80.0, goodput_req_s=0.5, kept_share=1.0, mbu=0.7,
                acceptance=0.5, reused_share=0.25,
            )
        ]
        * 5,
        config={"slots": 4, "spec_types": ("ngram-mod", "ngram-cache"), "kv_unified": True},
        effective={"threads": 2},
        extra={"allocated_memory_bytes": 2.0**30},
        disturbed=("", _NOISE * 2, "", "", ""),
        notes=("MBU is the share of a peak of 46.1 GB/s: main memory, read by 2 threads.",),
    )  # fmt: skip
    asked = experiment(whole, conclusion=("A sentence that goes on and on. " * 6,))
    lines = experiment_lines(asked, explain=True)
    assert max(map(len, lines)) <= WIDTH
    assert not any(line != line.rstrip() for line in lines)
    said = "\n".join(lines)
    assert "\x1b" not in said
    assert "slots=4, spec_types=ngram-mod,ngram-cache, kv_unified=on" in said
    assert "Requests within the limits" in said
    assert "sha256 0123456789abcdef…" in said
    assert "MBU is the share of a peak of 46.1 GB/s" in said
    assert "± is the spread" in said
    assert "Time per output token" in said


def test_that_definitions_are_given_on_request_only() -> None:
    said = "\n".join(experiment_lines(experiment(cell(figures(), figures()))))
    assert "Time per output token" not in said


def test_that_a_single_run_is_said_to_show_no_spread() -> None:
    said = " ".join(experiment_lines(experiment(cell(figures()))))
    assert "A single run shows no spread" in said


def test_that_an_experiment_in_which_nothing_was_measured_still_tells_on_what() -> None:
    lines = experiment_lines(experiment(cell()))
    assert lines[0] == "Toy Q4_K_M, chat"
    assert "machine" in " ".join(lines)
    assert "±" not in " ".join(lines)


def test_that_settings_are_told_without_the_models_file() -> None:
    assert settings_text({"model_path": "/models/m.gguf", "slots": 2, "devices": ()}) == (
        "slots=2, devices=none"
    )


def test_that_text_is_broken_between_words() -> None:
    lines = wrapped("word " * 40, mark="* ")
    assert lines[0].startswith("* word")
    assert lines[1].startswith("  word")
    assert max(map(len, lines)) <= WIDTH


# --- Limits --------------------------------------------------------------------------------


def limited(**limits: float) -> str:
    """A workload with these limits, as it is kept."""
    workload = Workload(name="toy", material=Material.PROSE)
    return kept_json(msgspec.structs.replace(workload, **limits))


def test_that_goodput_is_told_with_the_limits_that_it_is_counted_by() -> None:
    run = figures(goodput_req_s=0.5, kept_share=0.9)
    lines = experiment_lines(
        experiment(cell(run, run), workload=limited(ttft_slo_s=1.0, tpot_slo_s=0.1))
    )
    at = next(number for number, line in enumerate(lines) if line.startswith("Goodput "))
    assert lines[at + 1] == "  TTFT ≤ 1 s and TPOT ≤ 100 ms"
    assert max(map(len, lines)) <= WIDTH
    single = experiment_lines(experiment(cell(run), workload=limited(tpot_slo_s=0.025)))
    assert "  TPOT ≤ 25 ms" in single


def test_that_limits_are_told_below_a_table_of_several_configurations() -> None:
    run = figures(goodput_req_s=0.5, kept_share=0.9)
    both = (cell(run, name="a"), cell(run, name="b"))
    kept = experiment(*both, workload=limited(ttft_slo_s=2.0))
    lines = experiment_lines(kept, keys=("goodput_req_s", "tpot_s"))
    assert "Goodput counts requests that kept TTFT ≤ 2 s." in lines
    assert not any("kept TTFT" in line for line in experiment_lines(kept, keys=("tpot_s",)))


def test_that_without_limits_nothing_is_said_of_them() -> None:
    run = figures()
    lines = experiment_lines(experiment(cell(run, run), workload=limited()))
    assert not any("≤" in line for line in lines)
