"""Lines that people posted, and what has to be recovered from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.importing.found_json import as_json
from app.importing.importer import import_text
from engine_bridge.settings.config import EngineConfig

# A neighbour of the checkout, not a part of it.
CASES = Path(__file__).resolve().parents[3].parent / "shared" / "cases" / "commands.jsonl"


def _cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


NONE: Any = pytest.param({}, marks=pytest.mark.skip(reason=f"there is no {CASES}"))
every_case = pytest.mark.parametrize(
    "case",
    [*_cases()] or [NONE],
    ids=lambda case: case.get("id", "none"),
)


def found_in(case: dict[str, Any]) -> dict[str, Any]:
    """What is found first, as other programs are told it."""
    found = as_json(import_text(case["text"])[0])
    told: dict[str, Any] = json.loads(json.dumps(found))
    return told


@every_case
def test_that_settings_are_recovered(case: dict[str, Any]) -> None:
    found, expected = found_in(case)["settings"], case["expect"]["settings"]
    may_be_missing = set(case["expect"]["derived"])
    for key, value in expected.items():
        if key not in found and key in may_be_missing:
            continue
        assert found.get(key, "nothing") == value, key
    # What is no setting of the desk may stand among the settings all the same; else nothing may.
    beside = {key.partition(".")[2] or key for key in case["expect"]["other"]}
    more = set(found) - set(expected) - beside - set(found_in(case)["derived"])
    assert more <= {"mirostat_lr", "mirostat_ent"}


@every_case
def test_that_problems_are_told_by_their_codes(case: dict[str, Any]) -> None:
    told = {problem.partition(":")[0] for problem in found_in(case)["problems"]}
    assert told == {problem.partition(":")[0] for problem in case["expect"]["problems"]}


@every_case
def test_that_words_and_variables_survive(case: dict[str, Any]) -> None:
    found, expected = found_in(case), case["expect"]
    assert found["passthrough"] == expected["passthrough"]
    assert found["env"] == expected["env"]


@every_case
def test_that_what_is_no_setting_is_kept(case: dict[str, Any]) -> None:
    found = found_in(case)
    kept = found["other"] | found["settings"]
    for key, value in case["expect"]["other"].items():
        name = {"sampling.mirostat_tau": "mirostat_ent", "sampling.mirostat_eta": "mirostat_lr"}
        assert kept.get(name.get(key, key.partition(".")[2] or key), "nothing") == value, key


@every_case
def test_that_what_the_desk_takes_can_be_set(case: dict[str, Any]) -> None:
    usable = found_in(case)["usable"]
    EngineConfig().with_values(usable["values"])
    assert all(why.endswith(".") for why in usable["left_out"].values())
