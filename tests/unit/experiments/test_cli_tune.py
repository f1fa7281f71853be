"""The command line of ``tune``: words that are wrong, and the goal they come to."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from app.experiments import cli_tune, tune_files
from app.experiments.tune_goal import Purpose, TuneGoal


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli_tune.add_parser(parser.add_subparsers(dest="command"))
    return parser.parse_args(["tune", "/m.gguf", *words])


def goal_of(*words: str) -> TuneGoal:
    return cli_tune.goal_in(parsed(*words))


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def conduct(*_: object, **__: object) -> int:
        raise AssertionError("an engine would have been started")

    monkeypatch.setattr(cli_tune, "conduct_on_own_engine", conduct)
    # Words alone are looked at here; files are in test_tune_files.
    monkeypatch.setattr(tune_files, "refuse_files", lambda *_: None)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--budget", "0"], "A tuner takes 4 to 2,000 runs; got 0."),
        (["--kv-floor", "q9"], "The KV floor is one of f16"),
        (["--users", "3"], "Chat is tuned for one person; got 3."),
        (["--for", "users", "--users", "0"], "Users must be 1 or more"),
        (["--for", "users", "--workload", "batch"], "this workload has none. Set --ttft or --tpot"),
        (["--seconds", "-1"], "The limit of seconds must be 0 or more; got -1."),
        (["--seconds", "nan"], "The limit of seconds must be 0 or more; got nan."),
        (["--margin", "-1"], "must be 0 or more"),
        (["--context", "-1"], "must be 0 or more"),
        (["--keep", ""], "--keep takes keys of settings"),
        (["--keep", "slots,"], "--keep takes keys of settings"),
        (["--keep", "slotz"], "There is no setting 'slotz'."),
        (["--set", "slots=0"], "0 is outside 1 to 256"),
        (["--workload", "no-such"], "no-such"),
        (["--ttft", "0"], "ttft_slo_s"),
    ],
)
def test_that_wrong_words_are_a_sentence_before_any_engine_starts(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_tune.run(parsed(*words)) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.out == ""


def test_that_words_become_a_goal() -> None:
    goal = goal_of(
        "--for", "users", "--users", "6", "--ttft", "2", "--tpot", "0.2", "--context", "3000",
        "--margin", "100", "--kv-floor", "q4_0", "--keep", "threads,slots", "--keep", "threads",
        "--draft", "d.gguf", "--budget", "33", "--seconds", "90",
    )  # fmt: skip
    assert goal.purpose is Purpose.USERS
    assert (goal.workload.ttft_slo_s, goal.workload.tpot_slo_s) == (2.0, 0.2)
    assert (goal.users, goal.ctx_needed_tok, goal.margin_bytes) == (6, 3000, 100 << 20)
    assert (goal.kv_floor, goal.kept, goal.measurements) == ("q4_0", ("threads", "slots"), 33)
    assert goal.seconds == 90
    assert goal.drafts == (str(Path("d.gguf").absolute()),)


def test_that_twenty_minutes_are_the_limit_unless_another_or_none_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert goal_of().seconds == 1_200
    assert goal_of("--seconds", "0").seconds == 0
    assert cli_tune.run(parsed("--plan")) == 0
    assert "at most 80 runs within 20 min of" in " ".join(capsys.readouterr().out.split())
    assert cli_tune.run(parsed("--plan", "--seconds", "0")) == 0
    assert "at most 80 runs of" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--ttft", "1"], "--ttft counts with --for users only"),
        (["--for", "batch", "--ttft", "1", "--tpot", "1"], "--ttft and --tpot count with --for"),
        (["--for", "users", "--ttft", "1"], ""),
        (["--workload", "rag"], ""),
    ],
)
def test_that_limits_that_do_not_count_are_said_to(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_tune.run(parsed("--plan", *words)) == 0
    said = capsys.readouterr().err
    assert sentence in said if sentence else not said


def test_that_users_are_what_the_purpose_or_the_workload_says() -> None:
    assert goal_of().users == 1
    assert goal_of("--for", "users").users == 4
    assert goal_of("--for", "batch").users == 8
    assert goal_of("--for", "batch", "--workload", "batch").users == 4
    assert goal_of("--workload", "batch").users == 1
