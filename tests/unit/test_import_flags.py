"""Flags of a pasted text that leave as they came: each that does harm waits for a tick."""

from __future__ import annotations

import pytest

from app.import_flags import ANOTHER_MODEL, NO_KEY, STOPS
from app.import_sheets import Surroundings, Understood, understood
from app.importing.found_settings import settings_for
from app.importing.importer import import_text
from engine_bridge.settings.config import EngineConfig
from widgets.import_sheet import ImportProblem, ImportRow

LOADED = "/models/loaded.gguf"
KEY_WORDS = "The key is not taken over: a line with --host 0.0.0.0 and no key serves everybody"


def known_of(text: str, wanted: EngineConfig | None = None, **around: object) -> Understood:
    given: dict[str, object] = {"wanted": wanted or EngineConfig(), **around}
    return understood(text, import_text(text), Surroundings(**given), settings_for)  # type: ignore[arg-type]


def flag_rows(known: Understood) -> dict[str, ImportRow]:
    """Rows of flags by what they say."""
    rows = known.sheet.commands[0].rows
    return {row.then: row for row in rows if row.key.startswith("extra_flags")}


def ticked(known: Understood) -> frozenset[str]:
    rows = known.sheet.commands[0].rows
    return frozenset(row.key for row in rows if row.is_changed and row.is_ticked)


def problem_with(known: Understood, words: str) -> ImportProblem:
    return next(each for each in known.sheet.commands[0].problems if words in each.sentence)


# --- Another model -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("-hf org/name-GGUF:Q4_K_M", "--hf-repo org/name-GGUF:Q4_K_M"),
        ("-mu https://host/a.gguf", "-mu https://host/a.gguf"),
        ("--docker-repo ai/name", "--docker-repo ai/name"),
    ],
)
def test_that_another_model_than_the_loaded_one_waits_for_a_tick(text: str, then: str) -> None:
    known = known_of(f"llama-server {text} --jinja -np 2", running=LOADED)
    rows = flag_rows(known)
    assert (rows[then].is_ticked, rows[then].mark) == (False, ANOTHER_MODEL)
    assert rows["--jinja"].is_ticked
    sentence = f"{then} is not ticked: it names another model than the one that is loaded."
    assert problem_with(known, then).sentence == sentence
    assert known.taken(0, ticked(known), EngineConfig())["extra_flags"] == ("--jinja",)


def test_that_the_file_of_another_repository_waits_as_well() -> None:
    text = "llama-server -hf org/name -hff name-Q4.gguf"
    known = known_of(text, EngineConfig.from_values({"model_path": LOADED}))
    assert {row.mark for row in flag_rows(known).values()} == {ANOTHER_MODEL}
    assert "extra_flags" not in known.taken(0, ticked(known), EngineConfig())
    chosen = known_of(text, paths={"org/name · name-Q4.gguf": "/models/name-Q4.gguf"})
    assert not flag_rows(chosen)


def test_that_a_repository_is_taken_where_no_model_is_loaded() -> None:
    known = known_of("llama-server -hf org/name --jinja")
    assert flag_rows(known)["--hf-repo org/name  --jinja"].is_ticked


# --- Flags that llama.cpp does not know ----------------------------------------------------------


def test_that_an_unknown_flag_is_an_error_and_waits_for_a_tick() -> None:
    known = known_of("llama-server -m a.gguf --foo bar --jinja")
    rows = flag_rows(known)
    assert (rows["--foo bar"].is_ticked, rows["--foo bar"].mark) == (False, STOPS)
    problem = problem_with(known, "--foo bar")
    assert problem.severity == "error"
    assert "llama.cpp stops at it" in problem.sentence
    assert known.sheet.commands[0].problems[0] is problem
    assert known.sheet.commands[0].kept == "--foo bar"
    keys = ticked(known)
    assert known.taken(0, keys, EngineConfig())["extra_flags"] == ("--jinja",)
    keys |= {rows["--foo bar"].key}
    assert known.taken(0, keys, EngineConfig())["extra_flags"] == ("--foo bar", "--jinja")


def test_that_a_flag_ticked_alone_is_added_to_those_that_are_wanted() -> None:
    wanted = EngineConfig.from_values({"extra_flags": ("--metrics",)})
    known = known_of("llama-server -m a.gguf --foo bar --jinja", wanted)
    key = flag_rows(known)["--foo bar"].key
    taken = known.taken(0, frozenset({key}), wanted)
    assert taken == {"extra_flags": ("--metrics", "--foo bar")}


def test_that_a_flag_that_is_wanted_already_waits_for_nothing() -> None:
    wanted = EngineConfig.from_values({"extra_flags": ("--foo bar",)})
    (row,) = flag_rows(known_of("llama-server -m a.gguf --foo bar", wanted)).values()
    assert not row.is_changed
    rows = flag_rows(known_of("llama-server -m a.gguf --foo bar --fee 1", wanted))
    assert rows["--fee 1"].mark == STOPS
    known = known_of("llama-server -m a.gguf --foo bar --fee 1", wanted)
    taken = known.taken(0, frozenset({rows["--fee 1"].key}), wanted)
    assert taken == {"extra_flags": ("--foo bar", "--fee 1")}


@pytest.mark.parametrize("words", ["--ngl 20", "--ctx-size=4096", "--n_ctx 4096"])
def test_that_a_repaired_flag_is_information(words: str) -> None:
    known = known_of(f"llama-server -m a.gguf {words}")
    assert problem_with(known, words.split(maxsplit=1)[0]).severity == "note"
    assert not flag_rows(known)


# --- An open address without its key -------------------------------------------------------------


def test_that_an_open_address_waits_where_its_key_stays_behind() -> None:
    known = known_of("llama-server -m a.gguf --host 0.0.0.0 --port 8081 --api-key topsecretvalue")
    command = known.sheet.commands[0]
    assert command.warning.startswith(KEY_WORDS)
    row = flag_rows(known)["--host 0.0.0.0"]
    assert (row.is_ticked, row.mark) == (False, NO_KEY)
    assert known.taken(0, ticked(known), EngineConfig())["extra_flags"] == ("--port 8081",)
    assert "topsecretvalue" not in repr(known.sheet)


@pytest.mark.parametrize(
    "words",
    [
        "--host 127.0.0.1 --api-key topsecretvalue",
        "--host 0.0.0.0 --api-key-file /etc/keys",
        "--port 8081 --api-key topsecretvalue",
    ],
)
def test_that_no_key_is_missed_where_none_is_needed(words: str) -> None:
    known = known_of(f"llama-server -m a.gguf {words}")
    assert known.sheet.commands[0].warning == ""
    assert all(row.is_ticked for row in flag_rows(known).values())


# --- As they were pasted -------------------------------------------------------------------------


def test_that_what_is_no_setting_is_shown_as_it_was_pasted() -> None:
    known = known_of("llama-server -m a.gguf -to 900 --no-jinja")
    assert known.sheet.commands[0].others == (("-to", "900"), ("--no-jinja", ""))


def test_that_what_follows_from_rules_says_whose_they_are() -> None:
    rows = known_of("llama-server -m a.gguf -c 8192").sheet.commands[0].rows
    assert {row.mark for row in rows if row.is_derived} == {"Follows from llama.cpp's rules"}
