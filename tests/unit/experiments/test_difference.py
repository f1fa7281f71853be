"""Two experiments side by side: what differs, and what may be said of it."""

from __future__ import annotations

import msgspec

from app.experiments.difference import Changed, difference, too_few_sentences
from app.experiments.experiment import Kind
from app.experiments.history_lines import difference_lines
from app.experiments.text_layout import WIDTH
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, sweep


def test_that_a_clear_difference_is_claimed_with_its_interval() -> None:
    slow = experiment("a", [cell("", {"slots": 1})])
    fast = experiment("b", [cell("", {"slots": 1, "cache_type_k": "q8_0"}, speed=1.2)])
    found = difference(slow, fast)
    assert not found.cautions
    assert not found.subject
    (pair,) = found.pairs
    assert pair.settings == (Changed("cache_type_k", "f16", "q8_0"),)
    by_key = {figure.key: figure for figure in pair.figures}
    tpot = by_key["tpot_s"]
    assert tpot.outcome == "better"
    assert "B is 20\u202f% faster than A in TPOT (between " in tpot.sentence
    assert tpot.first is not None
    assert tpot.second is not None
    assert tpot.first / tpot.second > 1.15
    assert by_key["total_tok_s"].outcome == "better"
    assert by_key["owned_bytes"].outcome == "none"


def test_that_what_is_smaller_than_the_spread_is_no_difference() -> None:
    found = difference(
        experiment("a", [cell("", speed=1.0)]), experiment("b", [cell("", speed=1.001)])
    )
    (pair,) = found.pairs
    assert {figure.outcome for figure in pair.figures} == {"none"}
    assert all(figure.sentence.startswith("No difference") for figure in pair.figures)
    assert not pair.settings


def test_that_four_runs_claim_nothing() -> None:
    found = difference(
        experiment("a", [cell("", runs=4)]), experiment("b", [cell("", speed=2.0, runs=4)])
    )
    assert {figure.outcome for figure in found.pairs[0].figures} == {"unknown"}


def test_that_too_few_runs_are_said_once_for_all_figures() -> None:
    one = experiment("a", [cell("", runs=4)])
    two = experiment("b", [cell("", speed=2.0, runs=7)])
    found = difference(one, two)
    said = too_few_sentences(found.pairs[0].figures)
    assert said == (
        "There are 4 runs with TTFT, TPOT, ITL p99, prefill speed, total throughput, MBU and "
        "memory; 5 are needed to tell a difference.",
    )
    text = " ".join("\n".join(difference_lines(one, two, found)).split())
    assert text.count("are needed to tell a difference") == 1
    assert said[0] in text


def test_that_what_the_engine_made_of_a_setting_counts() -> None:
    found = difference(
        experiment("a", [cell("", {"flash_attn": "auto"}, effective={"flash_attn": "on"})]),
        experiment("b", [cell("", {"flash_attn": "on"})]),
    )
    assert not found.pairs[0].settings


def test_that_another_machine_model_and_work_are_said() -> None:
    other = msgspec.structs.replace(
        SUBJECT, machine="Apple M4, 16 GiB", model_sha256="00" * 32, model_path="/elsewhere.gguf"
    )
    found = difference(
        experiment("a"),
        experiment("b", subject=other, workload='{"name":"rag","requests":8,"users":4}'),
    )
    assert [change.key for change in found.subject] == ["machine", "model_path", "model_sha256"]
    assert {change.key for change in found.workload} == {"name", "material", "users", "seed"}
    assert Changed("users", 1, 4) in found.workload
    said = " ".join(found.cautions)
    assert "different machines" in said
    assert "different model files" in said
    assert "different work (name, material, users, seed)" in said
    assert "/elsewhere.gguf" not in said


def test_that_a_hash_that_is_not_known_is_no_other_model() -> None:
    unknown = msgspec.structs.replace(SUBJECT, model_sha256="")
    assert not difference(experiment("a"), experiment("b", subject=unknown)).cautions


def test_that_configurations_of_the_same_name_are_compared() -> None:
    found = difference(sweep("a", cells=3), sweep("b", cells=5))
    assert [pair.first for pair in found.pairs] == ["slots=1", "slots=2", "slots=4"]
    assert all(pair.first == pair.second for pair in found.pairs)
    assert found.cautions == ("2 configurations are in one of them only and not compared.",)


def test_that_the_best_are_compared_where_no_name_is_common() -> None:
    found = difference(
        sweep("a", cells=3), experiment("b", [cell("x", speed=0.5), cell("y", speed=2.0)])
    )
    (pair,) = found.pairs
    assert (pair.first, pair.second) == ("slots=4", "y")
    assert "highest throughput of each" in found.cautions[0]


def test_that_extra_figures_stand_side_by_side_without_a_claim() -> None:
    extra = {"mean_kld": 0.1, "mean_kld_error": 0.01}
    one = experiment("a", [cell("q", runs=0, extra=extra)], kind=Kind.QUALITY)
    two = experiment("b", [cell("q", runs=0, extra={"mean_kld": 0.2, "p99": 1.0})])
    found = difference(one, two)
    told = [(f.key, f.first, f.first_spread, f.second, f.sentence) for f in found.pairs[0].figures]
    assert told == [
        ("mean_kld", 0.1, 0.01, 0.2, ""),
        ("p99", None, None, 1.0, ""),
    ]
    text = "\n".join(difference_lines(one, two, found))
    assert "Mean KLD  0.1 ± 0.01  0.2" in text


def test_that_nothing_measured_is_a_sentence() -> None:
    found = difference(experiment("a", []), experiment("b"))
    assert not found.pairs
    assert "nothing was measured" in found.cautions[0]


def test_that_disturbed_runs_are_a_caution() -> None:
    noisy = cell("", disturbed=("", "Other programs took 40 % of the cores.", "", "", ""))
    assert (
        "1 run was disturbed" in difference(experiment("a", [noisy]), experiment("b")).cautions[0]
    )


def test_that_a_workload_of_another_shape_is_compared_as_text() -> None:
    found = difference(experiment("a", workload="[1]"), experiment("b", workload="{nonsense"))
    assert found.workload == (Changed("workload", "[1]", "{nonsense"),)


def test_that_the_comparison_fits_a_terminal() -> None:
    first = experiment("20261130-110036-3f9a2c", [cell("", {"slots": 1})])
    second = experiment(
        "20261130-110036-4f9a2c",
        [cell("", {"slots": 4, "override_tensor": ("blk.*=CPU",) * 9}, speed=1.4)],
        subject=msgspec.structs.replace(SUBJECT, machine="Apple M4, 16 GiB, macOS 15.1"),
        workload='{"name":"rag","prompt_tok":{"type":"fixed","tok":512}}',
    )
    lines = difference_lines(first, second, difference(first, second))
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(lines)
    assert "slots" in text
    assert "40\u202f% faster" in text
    assert SUBJECT.model_path not in text
