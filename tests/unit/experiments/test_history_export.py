"""Experiments for other programs: CSV, JSON and Markdown that nobody has to mend."""

from __future__ import annotations

import csv
import io
from typing import Literal

import msgspec
import pytest

from app.experiments.experiment import Experiment, Figures, Kind, State
from app.experiments.history_export import ENDINGS, KINDS, exported, to_csv, to_json, to_markdown
from app.experiments.markdown_text import block, code, line, table
from app.experiments.measures import BY_FIGURE
from app.experiments.run_figures import DEFINITIONS
from app.experiments.scales import label_of
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, sweep


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


# --- CSV --------------------------------------------------------------------------------


def test_that_csv_has_a_line_for_each_run_and_cell() -> None:
    made = experiment(
        cells=[
            cell("slots=1", {"slots": 1}, runs=2, disturbed=("", "Swapping.")),
            cell("slots=64", {"slots": 64, "cache_prompt": False}, runs=0, skipped="Too many."),
            cell("q", {"spec_types": ("draft", "ngram")}, runs=1, extra={"mean_kld": 0.5}),
        ]
    )
    rows = read(to_csv([made]))
    assert [(row["cell"], row["run"]) for row in rows] == [
        ("slots=1", "1"), ("slots=1", "2"), ("slots=64", ""), ("q", "1"),
    ]  # fmt: skip
    assert rows[1]["disturbed"] == "Swapping."
    assert rows[2]["skipped"] == "Too many."
    assert rows[2]["ttft_s"] == ""
    assert (rows[2]["set_cache_prompt"], rows[2]["set_slots"]) == ("off", "64")
    assert rows[3]["set_spec_types"] == "draft,ngram"
    assert (rows[0]["mean_kld"], rows[3]["mean_kld"]) == ("", "0.5")
    assert float(rows[0]["ttft_s"]) == made.cells[0].runs[0].ttft_s
    assert float(rows[0]["mbu_share"]) == made.cells[0].runs[0].mbu
    assert {row["model_sha256"] for row in rows} == {SUBJECT.model_sha256}
    assert SUBJECT.model_path not in to_csv([made])


def test_that_columns_have_their_units_in_their_names() -> None:
    head = to_csv([experiment()]).splitlines()[0].split(",")
    units = ("_s", "_tok_s", "_req_s", "_bytes", "_share", "_tok")
    figures = head[head.index("disturbed") + 1 : head.index("set_slots")]
    assert len(figures) == len(Figures.__struct_fields__) - 1, "all but the detail"
    counts = {"requests", "failed"}
    assert all(name.endswith(units) or name in counts for name in figures), figures


def test_that_several_experiments_share_their_columns() -> None:
    rows = read(to_csv([experiment(), sweep(cells=2)]))
    assert len(rows) == 15
    assert {row["kind"] for row in rows} == {"bench", "sweep"}


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =cmd|' /C calc'!A0", "\r=1", "＝1", "\n+1", "\0=1"],
)
def test_that_no_text_is_taken_for_a_formula(text: str) -> None:
    made = experiment(
        title=text,
        note=text,
        tags=(text,),
        subject=msgspec.structs.replace(SUBJECT, model=text, machine=text),
        cells=[cell(text, {"tensor_split": text}, runs=1, disturbed=(text,), extra={text: 1.0})],
    )
    content = to_csv([made])
    head, row = csv.reader(io.StringIO(content, newline=""))
    assert row.count("'" + text) >= 6
    for value in (*head, *row):
        assert not value.lstrip(" \t\r\n\0").startswith(("=", "+", "-", "@", "＝"))


def test_that_a_number_below_zero_stays_a_number() -> None:
    made = experiment(cells=[cell("a", {"draft_n_min": -1}, runs=1, extra={"gain": -0.5})])
    (row,) = read(to_csv([made]))
    assert (row["set_draft_n_min"], row["gain"]) == ("-1", "-0.5")


def test_that_csv_keeps_commas_quotes_and_line_ends() -> None:
    made = experiment(note='a, "b"\nc', cells=[cell("x,y", runs=1)])
    (row,) = read(to_csv([made]))
    assert row["note"] == 'a, "b"\nc'
    assert row["cell"] == "x,y"


# --- JSON -------------------------------------------------------------------------------


def test_that_json_is_the_experiment() -> None:
    made = sweep()
    content = to_json(made)
    assert msgspec.json.decode(content, type=Experiment) == made
    assert content.endswith(b"}\n")
    assert b'\n  "kind": "sweep"' in content


# --- Markdown ---------------------------------------------------------------------------


def test_that_markdown_says_figures_subject_work_and_definitions() -> None:
    text = to_markdown(experiment(note="On battery.\nLid closed.", tags=("laptop",)))
    assert text.startswith("# Bench with the chat workload\n")
    assert "| 5 runs | median | ± | lowest | highest |  |" in text
    assert "| TTFT | " in text
    assert SUBJECT.machine in text
    assert SUBJECT.model_sha256 in text
    assert "llama.cpp b7540" in text
    assert "`slots=1`" in text
    assert '"requests": 8' in text
    assert "> On battery.\n> Lid closed." in text
    for key in ("ttft_s", "tpot_s", "total_tok_s", "mbu"):
        assert f"* **{label_of(BY_FIGURE[key])}**: {line(DEFINITIONS[key])}" in text
    assert "goodput" not in text.lower()
    assert SUBJECT.model_path not in text


def test_that_markdown_of_several_cells_has_a_line_for_each() -> None:
    made = sweep(cells=3)
    noisy = msgspec.structs.replace(made.cells[1], disturbed=("", "", "Swapping.", "", ""))
    text = to_markdown(
        msgspec.structs.replace(
            made, cells=(made.cells[0], noisy, cell("slots=99", runs=0, skipped="It does not fit."))
        )
    )
    rows = [row for row in text.splitlines() if row.startswith("| slots=")]
    assert len(rows) == 2
    assert all(row.endswith("| 5 |") for row in rows)
    assert " ± " in rows[0]
    assert "* slots=2: run 3: Swapping." in text
    assert "* slots=99: It does not fit." in text
    widths = {row.count("|") for row in text.splitlines() if row.startswith("|")}
    assert len(widths) == 1


def test_that_a_failed_experiment_without_figures_is_told_as_such() -> None:
    text = to_markdown(
        experiment(cells=[], state=State.FAILED, failure="The engine died: out of memory.")
    )
    assert "Nothing was measured." in text
    assert "Failed: The engine died: out of memory." in text


def test_that_one_run_shows_no_spread() -> None:
    text = to_markdown(experiment(cells=[cell("", runs=1)]))
    assert "|  | value |  |" in text
    assert "A single run shows no spread" in text


def test_that_quality_is_told_by_its_own_figures() -> None:
    made = experiment(
        kind=Kind.QUALITY,
        cells=[
            cell("q8_0", runs=0, extra={"mean_kld": 0.0006, "same_top_share": 0.99}),
            cell("q4_0", runs=0, extra={"mean_kld": 0.02}),
        ],
    )
    text = to_markdown(made)
    assert "| configuration | Mean KLD | Same top |" in text
    assert "| q8\\_0 | 0.0006 | 99 % |" in text
    assert "| q4\\_0 | 0.02 | – |" in text


def test_that_words_of_others_are_no_markup() -> None:
    text = to_markdown(
        experiment(title="a | b <script> [x](y) # `c`", conclusion=("1 | 2\n\n# Head",))
    )
    assert text.startswith("# a \\| b \\<script\\> \\[x\\](y) \\# \\`c\\`\n")
    assert "1 \\| 2 \\# Head" in text


def test_that_a_block_cannot_be_left_from_within() -> None:
    assert block("a\n````\nb") == "`````\na\n````\nb\n`````"
    assert code("a `` b`") == "``` a `` b` ```"
    assert code(" \n ") == ""
    assert table(("a", "b"), [["|", "*"]]) == "| a | b |\n| --- | ---: |\n| \\| | \\* |"


# --- All --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_that_every_kind_can_be_encoded(kind: Literal["csv", "json", "markdown"]) -> None:
    # JSON is made of what the store gave back, which holds no halves of characters.
    note = "∞" if kind == "json" else "\ud800 ∞"
    assert "∞" in exported(experiment(note=note), kind).decode()


def test_that_endings_name_every_kind() -> None:
    assert set(ENDINGS.values()) == set(KINDS)
