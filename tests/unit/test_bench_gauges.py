from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bootstrap import __main__ as bootstrap
from tests.bench import gauges


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(gauges, "OUT", tmp_path)
    return tmp_path


def _let_parts_be(monkeypatch: pytest.MonkeyPatch, **parts: Any) -> None:
    fakes = {name: lambda _, figures=part: figures for name, part in parts.items()}
    monkeypatch.setattr(gauges, "PARTS", fakes)


def test_that_all_parts_are_measured_unless_some_are_named() -> None:
    assert gauges.parse([]).only == ["mbu", "charts", "prediction"]
    # In their own order: the machine is quietest at first.
    assert gauges.parse(["--only", "charts", "mbu"]).only == ["mbu", "charts"]


def test_that_a_part_which_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gauges.parse(["--only", "memory"])
    assert "mbu" in capsys.readouterr().err


def test_that_quick_takes_few_rounds_unless_told_how_many() -> None:
    assert gauges.parse(["--quick"]).rounds == gauges.QUICK_ROUNDS
    assert gauges.parse(["--quick", "--rounds", "4"]).rounds == 4
    assert gauges.parse([]).rounds is None


def test_that_two_rounds_are_refused_since_they_say_nothing_of_the_spread(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        gauges.parse(["--rounds", "2"])
    assert "spread" in capsys.readouterr().err


def test_that_a_part_alone_leaves_the_figures_of_the_others(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_parts_be(monkeypatch, mbu={"mbu": 0.7}, charts={"cost": 12.0})
    assert gauges.main([]) == 0
    _let_parts_be(monkeypatch, mbu={"mbu": 0.6}, charts={"cost": 99.0})
    assert gauges.main(["--only", "mbu"]) == 0
    parts = json.loads((out / "gauges.json").read_text())["parts"]
    assert (parts["mbu"]["mbu"], parts["charts"]["cost"]) == (0.6, 12.0)
    assert all(part["measured_at"] for part in parts.values())


def test_that_quick_figures_do_not_replace_full_ones(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_parts_be(monkeypatch, mbu={"mbu": 0.7})
    gauges.main([])
    _let_parts_be(monkeypatch, mbu={"mbu": 0.1})
    gauges.main(["--quick"])
    assert json.loads((out / "gauges.json").read_text())["parts"]["mbu"]["mbu"] == 0.7


def test_that_a_part_that_fails_says_why_and_the_others_are_measured(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> dict[str, Any]:
        raise gauges.PartError("no such memory")

    monkeypatch.setattr(gauges, "PARTS", {"mbu": fail, "charts": lambda _: {"cost": 12.0}})
    assert gauges.main([]) == 1
    assert "mbu: no such memory" in capsys.readouterr().err
    assert list(json.loads((out / "gauges.json").read_text())["parts"]) == ["charts"]


def test_that_figures_of_another_machine_are_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "gauges.json"
    path.write_text('{"machine": "another", "parts": {"mbu": {}}}')
    assert gauges.content_of(path, "this one") == {"machine": "this one", "parts": {}}
    assert gauges.content_of(path, "another")["parts"] == {"mbu": {}}


@pytest.mark.parametrize("damage", ["", "[1, 2", "[1, 2]", '{"machine": "here", "parts": 3}'])
def test_that_a_damaged_file_is_begun_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "gauges.json"
    path.write_text(damage)
    assert gauges.content_of(path, "here") == {"machine": "here", "parts": {}}


def test_that_a_missing_bench_of_the_prediction_is_said(
    out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gauges, "_PREDICTION", "tests.bench.no_such_bench")
    assert gauges.main(["--only", "prediction"]) == 1
    assert "is not there" in capsys.readouterr().err
    assert not (out / "gauges.json").exists()


def test_that_make_and_bootstrap_know_the_same_commands() -> None:
    makefile = (Path(bootstrap.ROOT) / "Makefile").read_text(encoding="utf-8")
    rule = re.search(r"^(run [\w -]+):$", makefile, re.MULTILINE)
    assert rule is not None
    assert {"bench-gauges", "bench-quality"} <= set(rule[1].split())
    for command in rule[1].split():
        assert f"'make {command} " in makefile or command == "setup"
        assert bootstrap._parser().parse_args([command, "--quick"]).command == command


def test_that_bench_gauges_hands_its_arguments_to_the_bench(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[list[str]] = []

    def become(_: object, line: list[str]) -> int:
        calls.append(line)
        return 0

    monkeypatch.setattr(bootstrap, "_set_up", lambda *_, **__: None)
    monkeypatch.setattr(bootstrap, "_become", become)
    monkeypatch.setenv("TUNEDECK_FETCH", "")
    monkeypatch.setattr("sys.argv", ["bootstrap", "bench-gauges", "--only", "mbu", "--quick"])
    assert bootstrap.main() == 0
    assert calls == [["-m", "tests.bench.gauges", "--only", "mbu", "--quick"]]


def test_that_the_help_says_how_long_the_gauges_take_and_what_they_fetch() -> None:
    makefile = (Path(bootstrap.ROOT) / "Makefile").read_text(encoding="utf-8")
    (line,) = (line for line in makefile.splitlines() if "'make bench-gauges " in line)
    assert "twenty minutes" in line
    assert "1.1 GB" in line
