"""What the window lists of an experiment: a title that tells it from others, one figure."""

from __future__ import annotations

import msgspec
import pytest

from app.comparison_sheets import comparison_of
from app.experiments.experiment import Experiment, Kind, State
from app.history_entries import entry_of, listed, row_of_experiment, title_of
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, sweep
from widgets.experiments.history_entry import HistoryEntry
from widgets.experiments.kind_words import KINDS


def shown(made: Experiment) -> HistoryEntry:
    return entry_of(row_of_experiment(made))


def test_that_every_kind_has_words() -> None:
    assert {kind.key for kind in KINDS} == {str(kind) for kind in Kind}


@pytest.mark.parametrize(
    ("title", "said"),
    [
        (f"{SUBJECT.model}, chat, slots 1/2/4", "chat, slots 1/2/4"),
        (f"{SUBJECT.model}: tuned", "tuned"),
        (SUBJECT.model, SUBJECT.model),
        ("other, chat", "other, chat"),
        ("", ""),
    ],
)
def test_that_a_title_begins_with_what_differs(title: str, said: str) -> None:
    assert title_of(title, SUBJECT.model) == said


def test_that_a_bench_shows_its_throughput_and_runs() -> None:
    entry = shown(experiment())
    assert (entry.figure, entry.figure_label) == ("52.52 tok/s", "Total throughput")
    assert entry.short_figure == "52.52 tok/s in total"
    assert entry.about == "5 runs"
    assert entry.begun_s == pytest.approx(1796036436.0)
    assert not entry.can_resume


def test_that_a_sweep_says_of_which_configuration_the_figure_is() -> None:
    entry = shown(sweep())
    assert entry.about == "fastest of 6 configurations: 32 slots · 30 runs"


def test_that_configurations_that_are_alike_have_no_fastest() -> None:
    cells = [cell(f"slots={n}", {"slots": n}) for n in (1, 2)]
    entry = shown(experiment(cells=cells, kind=Kind.SWEEP))
    assert "not told apart" in entry.about
    assert "fastest" not in entry.about
    loads = shown(experiment(cells=cells, kind=Kind.USERS))
    assert "not told apart" not in loads.about, "loads are no choices"


def test_that_disturbed_runs_are_marked() -> None:
    made = cell("", {"slots": 1}, disturbed=("Other programs used 91 %.", "", "", "", "x"))
    entry = shown(experiment(cells=[made]))
    assert entry.disturbed_runs == 2
    assert entry.about == "5 runs · 2 disturbed"
    assert shown(experiment()).disturbed_runs == 0


def test_that_titles_have_the_words_of_the_window() -> None:
    model = SUBJECT.model
    bench = experiment(title=f"{model}, small, ctx_per_slot_tok=1024, threads=1")
    assert shown(bench).title == "small, Context per slot 1,024 tok, 1 thread"
    swept = experiment(title=f"{model}, small, slots 1/2")
    assert shown(swept).title == "small, slots 1, 2"


def test_that_quality_shows_what_it_is_done_for() -> None:
    entry = shown(
        experiment(cells=[cell("q8_0", runs=0, extra={"mean_kld": 0.0006})], kind=Kind.QUALITY)
    )
    assert entry.figure == "Mean KLD 0.0006"


def test_that_nothing_measured_is_said() -> None:
    entry = shown(experiment(cells=[], state=State.FAILED))
    assert (entry.figure, entry.about, entry.state) == ("", "nothing was measured", "failed")


@pytest.mark.parametrize(
    ("state", "kind", "can_resume"),
    [
        (State.STOPPED, Kind.SWEEP, True),
        (State.CUT, Kind.SWEEP, True),
        (State.DONE, Kind.SWEEP, False),
        (State.RUNNING, Kind.SWEEP, False),
        (State.STOPPED, Kind.BENCH, False),
    ],
)
def test_that_stopped_sweeps_can_go_on(state: State, kind: Kind, can_resume: bool) -> None:
    assert shown(experiment(state=state, kind=kind)).can_resume is can_resume


def test_that_what_is_in_memory_only_comes_first_and_is_marked() -> None:
    kept = [row_of_experiment(experiment(key)) for key in ("c", "b")]
    entries = listed(kept, [experiment("b"), experiment("d")])
    assert entries.keys == ("d", "c", "b")
    assert [entries.at(place).is_unkept for place in range(3)] == [True, False, True]


# --- Comparison -------------------------------------------------------------------------------


def test_that_a_comparison_is_what_the_command_says() -> None:
    sheet = comparison_of(
        experiment("a", [cell("", {"slots": 1})], title="One"),
        experiment("b", [cell("", {"slots": 4}, speed=1.2)], title="Other"),
    )
    assert (sheet.first, sheet.second) == ("One", "Other")
    (pair,) = sheet.pairs
    assert [(row.name, row.first, row.second) for row in pair.settings] == [
        ("Parallel slots", "1", "4")
    ]
    tpot = next(row for row in pair.figures if row.name == "TPOT")
    assert tpot.outcome == "better"
    assert "20\u202f% faster" in tpot.sentence
    assert tpot.unit == "ms"


def test_that_too_few_runs_are_said_once() -> None:
    sheet = comparison_of(
        experiment("a", [cell("", runs=4)]), experiment("b", [cell("", runs=4, speed=2)])
    )
    (pair,) = sheet.pairs
    assert not any(row.sentence for row in pair.figures)
    assert len(pair.sentences) == 1


def test_that_several_configurations_are_pairs_by_name() -> None:
    sheet = comparison_of(sweep("a", 3), sweep("b", 3))
    assert [pair.name for pair in sheet.pairs] == ["1 slot", "2 slots", "4 slots"]


def test_that_other_machines_are_told_in_words() -> None:
    other = msgspec.structs.replace(SUBJECT, machine="Apple M4, 16 GiB")
    sheet = comparison_of(experiment("a"), experiment("b", subject=other))
    assert [row.name for row in sheet.about] == ["Machine"]
    assert "different machines" in sheet.cautions[0]


def test_that_differences_stand_in_per_cent() -> None:
    sheet = comparison_of(experiment("a", [cell("")]), experiment("b", [cell("", speed=1.2)]))
    (pair,) = sheet.pairs
    changes = {row.name: row.change for row in pair.figures}
    assert changes["Total throughput"] == "+20.0 %"
    assert changes["TPOT"] == "−16.7 %"
    assert changes["Memory"] == "0.0 %"
    assert pair.about == ""


def test_that_what_only_one_has_is_not_called_too_few_runs() -> None:
    first = cell("threads=1", runs=2)
    runs = tuple(msgspec.structs.replace(run, mbu=None) for run in first.runs)
    swept = [cell(f"slots={n}", {"slots": n}, runs=2, extra={"pareto": 1.0}) for n in (1, 2)]
    sheet = comparison_of(
        experiment("a", [msgspec.structs.replace(first, runs=runs)]),
        experiment("b", swept, kind=Kind.SWEEP),
    )
    (pair,) = sheet.pairs
    assert "MBU was measured in B only." in pair.sentences
    assert not any("no runs" in sentence for sentence in pair.sentences)
    assert "Pareto" not in [row.name for row in pair.figures]
    assert pair.about.startswith("A: 1 thread. B: ")
    assert "one of 2 configurations." in pair.about
