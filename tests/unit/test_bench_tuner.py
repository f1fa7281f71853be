"""The tuner's bench: its parts, what it keeps, and how drafts are judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from app.experiments.port import PortError
from app.experiments.tune_result import KEPT
from bootstrap import __main__ as bootstrap
from engine_bridge.settings.domain import Value
from tests import models
from tests.bench import tuner, tuner_drafts, tuner_recording, tuner_replay
from tests.bench.tuner_table import TableError


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tuner, "OUT", tmp_path)
    monkeypatch.setenv("TUNEDECK_FETCH", "")
    return tmp_path


def _let_parts_be(monkeypatch: pytest.MonkeyPatch, **parts: dict[str, Any]) -> None:
    fakes = {name: lambda _, figures=part: figures for name, part in parts.items()}
    monkeypatch.setattr(tuner, "PARTS", fakes)


# --- Parts ----------------------------------------------------------------------------------


def test_that_all_parts_are_measured_unless_some_are_named() -> None:
    assert tuner.parse([]).only == ["table", "replay", "live", "drafts"]
    assert tuner.parse(["--only", "live", "replay"]).only == ["replay", "live"]


def test_that_quick_is_few_configurations_and_no_large_model() -> None:
    quick = tuner.parse(["--quick"])
    assert quick.only == ["table", "replay", "live"]
    assert (quick.rounds, quick.seeds) == (tuner.QUICK_ROUNDS, tuner.QUICK_SEEDS)
    assert tuner.table_path(quick) != tuner.table_path(tuner.parse([]))
    whole = tuner.parse([])
    assert (whole.rounds, whole.seeds) == (tuner_recording.ROUNDS, tuner_replay.SEEDS)


def test_that_two_rounds_are_refused_since_they_say_nothing_of_the_spread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        tuner.parse(["--rounds", "2"])
    assert "spread" in capsys.readouterr().err


def test_that_a_part_alone_leaves_the_figures_of_the_others(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_parts_be(monkeypatch, replay={"replays": [1], "replay": 1}, live={"live": "slow"})
    assert tuner.main([]) == 0
    _let_parts_be(monkeypatch, replay={"replays": [2], "replay": 2}, live={"live": "fast"})
    assert tuner.main(["--only", "replay"]) == 0
    content = json.loads((out / "tuner.json").read_text())
    assert (content["replays"], content["replay"], content["live"]) == ([2], 2, "slow")
    assert set(content["measured"]) == {"replay", "live"}


def test_that_a_part_that_fails_says_why_and_the_others_are_measured(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> dict[str, Any]:
        raise PortError("The engine is gone.")

    monkeypatch.setattr(tuner, "PARTS", {"live": fail, "replay": lambda _: {"replays": []}})
    assert tuner.main([]) == 1
    assert "live: The engine is gone." in capsys.readouterr().err
    assert list(json.loads((out / "tuner.json").read_text())["measured"]) == ["replay"]


def test_that_a_replay_without_a_table_says_what_records_it(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tuner.main(["--only", "replay"]) == 1
    assert "--only table records it" in capsys.readouterr().err
    assert not (out / "tuner.json").exists()


def test_that_figures_of_another_machine_are_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "tuner.json"
    path.write_text('{"machine": "another", "measured": {}, "live": {}}')
    assert tuner.content_of(path, "this one") == {"machine": "this one", "measured": {}}
    assert "live" in tuner.content_of(path, "another")


@pytest.mark.parametrize("damage", ["", "[1, 2", "[1, 2]", '{"machine": "here", "measured": 3}'])
def test_that_a_damaged_file_is_begun_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tuner.json"
    path.write_text(damage)
    assert tuner.content_of(path, "here") == {"machine": "here", "measured": {}}


def test_that_drafts_are_skipped_with_the_reason_where_the_models_are_missing(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> Path:
        raise models.ModelMissingError("it is not in the cache folder")

    monkeypatch.setattr(models, "find_packaged", missing)
    assert tuner.main(["--only", "drafts"]) == 0
    drafts = json.loads((out / "tuner.json").read_text())["drafts"]
    assert drafts == {"skipped": "it is not in the cache folder"}


def test_that_make_bench_tuner_hands_its_arguments_to_the_bench(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[list[str]] = []

    def become(_: object, line: list[str]) -> int:
        calls.append(line)
        return 0

    monkeypatch.setattr(bootstrap, "_set_up", lambda *_, **__: None)
    monkeypatch.setattr(bootstrap, "_become", become)
    monkeypatch.setenv("TUNEDECK_FETCH", "")
    monkeypatch.setattr("sys.argv", ["bootstrap", "bench-tuner", "--only", "table", "--record"])
    assert bootstrap.main() == 0
    assert calls == [["-m", "tests.bench.tuner", "--only", "table", "--record"]]


def test_that_a_table_of_another_machine_says_which_is_which() -> None:
    here, there = Subject(machine="this one"), Subject(machine="another")
    with pytest.raises(TableError, match="another machine: another, and this is this one"):
        _refuse(there, here)
    _refuse(here, here)


def _refuse(there: Subject, here: Subject) -> None:
    from tests.bench.tuner_live import refuse_other_table  # noqa: PLC0415
    from tests.bench.tuner_table import Table  # noqa: PLC0415

    refuse_other_table(Table({}, _experiment([], there)), here)


# --- Drafts ---------------------------------------------------------------------------------


def _experiment(cells: Sequence[Cell], subject: Subject | None = None) -> Experiment:
    return Experiment(
        key="k", kind=Kind.TUNE, begun_at="2026-11-30", state=State.DONE, title="t",
        subject=subject or Subject(model_path="/m.gguf"), cells=tuple(cells),
    )  # fmt: skip


def _cell(*kinds: str, tok_s: Sequence[float], kept: int = 0) -> Cell:
    config: dict[str, Value] = {"slots": 1}
    config |= {"spec_types": kinds} if kinds else {}
    config |= {"draft_model_path": "/models/d.gguf"} if "draft-simple" in kinds else {}
    runs = tuple(Figures(user_tok_s=value, ttft_s=0.5, requests=1) for value in tok_s)
    return Cell(
        ", ".join(kinds) or "defaults", config=config, runs=runs, disturbed=("",) * len(runs),
        extra={KEPT: float(kept)} if kept else {},
    )  # fmt: skip


def test_that_a_slower_draft_that_was_left_out_is_what_is_wanted() -> None:
    tried = _experiment([_cell(tok_s=[9.0, 9.2], kept=1), _cell("draft-simple", tok_s=[6.0, 6.4])])
    figures = tuner_drafts.draft_dropped(tried)
    assert figures["is_met"]
    assert figures["best_speed_with_draft_share"] == pytest.approx(6.2 / 9.1)


def test_that_a_draft_nobody_measured_proves_nothing() -> None:
    untried = _experiment([_cell(tok_s=[9.0], kept=1), _cell("ngram-mod", tok_s=[8.0])])
    assert not tuner_drafts.draft_dropped(untried)["is_met"]


def test_that_a_slower_draft_that_was_kept_is_a_miss() -> None:
    kept = _experiment([_cell(tok_s=[9.0], kept=1), _cell("draft-simple", tok_s=[6.0], kept=2)])
    assert not tuner_drafts.draft_dropped(kept)["is_met"]


def test_that_a_quicker_lookup_that_was_kept_is_what_is_wanted() -> None:
    kept = _experiment([_cell(tok_s=[9.0], kept=1), _cell("ngram-simple", tok_s=[14.4], kept=2)])
    figures = tuner_drafts.lookup_kept(kept)
    assert figures == {"found_speed_share": pytest.approx(1.6), "is_met": True}


@pytest.mark.parametrize(
    "cells",
    [
        [_cell(tok_s=[9.0], kept=1), _cell("ngram-simple", tok_s=[14.0])],  # dropped
        [_cell(tok_s=[9.0], kept=1), _cell("ngram-simple", tok_s=[8.0], kept=2)],  # slower
        [_cell(tok_s=[9.0], kept=1), _cell("draft-simple", tok_s=[14.0], kept=2)],  # no lookup
        [_cell("ngram-simple", tok_s=[14.0], kept=1)],  # against nothing
    ],
)
def test_that_a_lookup_that_is_not_kept_or_not_quicker_is_a_miss(cells: list[Cell]) -> None:
    assert not tuner_drafts.lookup_kept(_experiment(cells))["is_met"]


def test_that_both_verdicts_are_told_with_their_figures() -> None:
    slow = _experiment([_cell(tok_s=[9.0], kept=1), _cell("draft-simple", tok_s=[6.0])])
    figures = {
        "draft_model": tuner_drafts.draft_dropped(slow) | tuner_drafts.told(slow),
        "prompt_lookup": tuner_drafts.lookup_kept(slow) | tuner_drafts.told(slow),
    }
    text = "\n".join(tuner_drafts.lines(figures))
    assert (
        "6.00 tok/s, TTFT 0.50 s, 1 runs, spec_types=draft-simple, draft_model_path=d.gguf" in text
    )
    assert "found: no drafts" in text
    assert "measured and dropped: met" in text
    assert "is quicker: MISSED" in text


def test_that_only_drafts_may_change_and_the_draft_model_is_offered() -> None:
    goal = tuner_drafts.goal_of(tuner_drafts.CHAT, (Path("/d.gguf"),), 30)
    goal.check()
    assert goal.drafts == ("/d.gguf",)
    assert {"slots", "threads", "flash_attn", "cache_type_k"} <= set(goal.kept)
    assert not {"spec_types", "draft_model_path", "draft_n_max", "ngram_size_n"} & set(goal.kept)
