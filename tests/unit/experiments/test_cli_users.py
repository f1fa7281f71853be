"""The command line of ``users``: words that are wrong, and how they are read."""

from __future__ import annotations

import argparse
import json

import pytest

from app.experiments import cli_users
from app.experiments.users_plan import USUAL_MOST, USUAL_SHARE


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli_users.add_parser(parser.add_subparsers(dest="command"))
    return parser.parse_args(["users", "/m.gguf", *words])


@pytest.fixture(autouse=True)
def conducted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What would have been done on an engine."""
    works: list[object] = []

    def conduct(work: object, *_: object, **__: object) -> int:
        works.append(work)
        return 0

    monkeypatch.setattr(cli_users, "conduct_on_own_engine", conduct)
    # Words alone are looked at here; files are in test_cli_engine.
    monkeypatch.setattr(cli_users, "refuse_no_model", lambda _: None)
    return works


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--users", "1,two"], "--users takes numbers such as 1,2,4,8; got '1,two'."),
        (["--users", ""], "--users takes numbers such as 1,2,4,8; got ''."),
        (["--users", "0"], "--users takes 1 to 10,000; got 0."),
        (["--rates", "1,x"], "--rates takes numbers such as 0.5,1,2; got '1,x'."),
        (["--rates", "0"], "--rates takes requests per second, above 0 and at most 10,000; got 0."),
        (["--rates", "nan"], "got nan."),
        (["--rates", "1,-2"], "got -2."),
        (["--resume", "20200101"], "20200101"),
        (["--find", "--share", "2"], "--share takes 0.5 to 0.99; got 2."),
        (["--find", "--workload", "batch"], "There is no limit to keep"),
        (["--find", "--set-workload", "rate_req_s=1"], "requests arrive whoever waits"),
        (["--seconds", "0"], "Users need time; got 0 seconds."),
        (["--requests", "0"], "--requests takes 1 to 10,000; got 0."),
        (["--set", "slotz=1"], "There is no setting 'slotz'."),
        (["--workload", "no-such"], "no-such"),
        (["--long-prompt", "90000"], "than the"),
        (["--set-workload", "text_path=/no/such.txt"], "such.txt"),
    ],
)
def test_that_wrong_words_are_a_sentence_before_any_engine_starts(
    words: list[str],
    sentence: str,
    conducted: list[object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli_users.run(parsed(*words)) == 1
    said = capsys.readouterr()
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert (said.out, conducted) == ("", [])


def test_that_users_who_will_have_to_wait_are_told_before(
    conducted: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_users.run(parsed("--users", "1,8", "--set", "slots=2")) == 0
    assert "8 users share 2 slots: requests wait for one" in capsys.readouterr().err
    assert len(conducted) == 1
    assert cli_users.run(parsed("--find", "--set", "slots=2")) == 0
    assert "Of more users than the 2 slots some wait for one" in capsys.readouterr().err
    assert cli_users.run(parsed("--find", "--set", "slots=2", "--most", "2")) == 0
    (planned,) = capsys.readouterr().err.splitlines()
    assert planned.startswith("Planned: a search among 1 to 2 users")


def test_that_a_list_of_users_excludes_a_search() -> None:
    with pytest.raises(SystemExit):
        parsed("--users", "1,2", "--find")


def test_that_the_words_of_the_help_are_the_plans_own() -> None:
    arguments = parsed("--find")
    assert (arguments.share, arguments.most) == (USUAL_SHARE, USUAL_MOST)


def test_that_rates_and_users_exclude_each_other() -> None:
    with pytest.raises(SystemExit):
        parsed("--users", "1,2", "--rates", "1")
    with pytest.raises(SystemExit):
        parsed("--rates", "1", "--find")


def test_that_the_plan_alone_is_told(
    conducted: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_users.run(parsed("--rates", "0.5,1", "--plan", "--json")) == 0
    said = capsys.readouterr()
    planned = json.loads(said.out)
    assert planned["sentence"].startswith("Planned: 2 runs (0.5 req/s, 1 req/s) of 40 requests")
    assert (planned["runs"], planned["requests"], said.err) == (2, 80, "")
    assert conducted == []
