"""``tunedeck history``: every action, for people and as JSON, and every mistake as a sentence."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.cli import main
from app.experiments import cli_history
from app.experiments.cli_history import EXPORTS, KINDS, ORDERS, STATES
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.history_export import KINDS as EXPORT_KINDS
from app.experiments.history_query import Order
from app.experiments.history_store import HistoryStore
from app.experiments.quality_words import quality_lines
from app.experiments.sweep_table import sweep_lines
from app.experiments.text_layout import WIDTH
from app.storage.folders import own_folders
from tests.unit.experiments.made_experiments import SUBJECT, cell, experiment, sweep

ROOT = Path(__file__).resolve().parents[3]
OLD, NEW, SWEEP = "20261101-080000-000001", "20261130-110036-3f9a2c", "20261130-120000-aa00aa"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three experiments in a history of this test alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    store = HistoryStore(own_folders().history)
    store.keep(
        experiment(
            OLD,
            [cell("", {"slots": 1, "cache_type_k": "q8_0"}, speed=1.3)],
            begun_at="2026-11-01T08:00:00+00:00",
            title="Bench with the rag workload",
            subject=msgspec.structs.replace(SUBJECT, model="Qwen3 4B Q8_0"),
            tags=("night",),
        )
    )
    store.keep(experiment(NEW, state=State.STOPPED))
    store.keep(sweep(SWEEP))
    store.close()


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What it prints; it must succeed and complain of nothing."""
    status = main(["history", *words])
    said = capsys.readouterr()
    assert (status, said.err) == (0, "")
    return said.out


def keys_of(text: str) -> list[str]:
    return [row["key"] for row in json.loads(text)["experiments"]]


def test_that_the_words_of_the_command_are_those_of_the_program() -> None:
    assert tuple(Kind) == KINDS
    assert tuple(State) == STATES
    assert set(ORDERS.values()) == {str(order) for order in Order}
    assert (*EXPORT_KINDS, "card") == EXPORTS


def test_that_the_parser_needs_the_standard_library_alone() -> None:
    lines = Path(cli_history.__file__).read_text(encoding="utf-8").split("def add_parser")[0]
    names = [line.split()[1] for line in lines.splitlines() if line.startswith(("from", "import"))]
    assert all(name.partition(".")[0] in sys.stdlib_module_names for name in names), names


# --- list -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("list",)])
def test_that_the_list_tells_key_title_and_figures(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    text = run(capsys, *words)
    lines = text.splitlines()
    assert lines[0].startswith(f"{SWEEP}  sweep  Slots from 1 up")
    assert "fastest of 6 configurations, 30 runs" in text
    assert f"{NEW}  bench · stopped  " in text
    assert any(line.startswith("    TTFT ") and line.endswith(" ·") for line in lines)
    assert "#night" in text
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ((), [SWEEP, NEW, OLD]),
        (("list", "rag"), [OLD]),
        (("list", "slots=32", "gemma"), [SWEEP]),
        (("--kind", "sweep"), [SWEEP]),
        (("--kind", "sweep", "--kind", "bench"), [SWEEP, NEW, OLD]),
        (("--state", "stopped"), [NEW]),
        (("--model", "QWEN"), [OLD]),
        (("--model", "qwen 4b", "--model", "gemma"), [SWEEP, NEW, OLD]),
        (("--model", "llama"), []),
        (("--tag", "Night"), [OLD]),
        (("--order", "throughput", "--ascending"), [NEW, OLD, SWEEP]),
        (("--ascending", "list", "--kind", "bench"), [OLD, NEW]),
        (("list", "--limit", "1"), [SWEEP]),
        (("list", "--limit", "0"), [SWEEP, NEW, OLD]),
        (("--deleted",), []),
    ],
)
def test_that_filters_of_the_list_work_before_and_behind_the_word(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], keys: list[str]
) -> None:
    main(["history", *words, "--json"])
    assert keys_of(capsys.readouterr().out) == keys


def test_that_days_are_those_of_the_clock_on_the_wall(capsys: pytest.CaptureFixture[str]) -> None:
    day = datetime.fromisoformat("2026-11-01T08:00:00+00:00").astimezone().date().isoformat()
    assert keys_of(run(capsys, "--since", day, "--until", day, "--json")) == [OLD]
    assert keys_of(run(capsys, "--until", "2026-10-30", "--json")) == []
    assert OLD not in keys_of(run(capsys, "--since", "2026-11-03", "--json"))


def test_that_a_long_list_ends_after_a_screen_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = HistoryStore(own_folders().history)
    for number in range(30):
        store.keep(experiment(f"2026120{number // 10}-0000{number:02}-000000", []))
    store.close()
    assert main(["history"]) == 0
    said = capsys.readouterr()
    assert "13 more; --limit 0 shows all." in said.err
    assert said.out.count("  bench  ") == 20
    assert len(keys_of(run(capsys, "--json"))) == 33


def test_that_an_empty_history_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert run(capsys) == "No experiments.\n"


# --- show and compare -------------------------------------------------------------------


def test_that_one_is_shown_by_a_part_of_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "show", "3f9a2c")
    assert text.startswith(f"{NEW} · bench · stopped · ")
    assert "Total throughput" in text
    assert "slots=1" in text
    assert "Time to first token" not in text
    assert "Time to first token" in run(capsys, "show", NEW, "--explain")
    whole = msgspec.json.decode(run(capsys, "show", "3f9a2c", "--json"), type=Experiment)
    assert whole == experiment(NEW, state=State.STOPPED)


def test_that_each_kind_is_shown_as_its_own_command_shows_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = HistoryStore(own_folders().history)
    quality = experiment(
        "20261202-000000-cccccc",
        [
            cell("f16", runs=0, extra={"ppl": 21.0, "ppl_error": 0.3}),
            cell("q8_0", runs=0, extra={"mean_kld": 0.0006, "mean_kld_error": 0.00002}),
        ],
        kind=Kind.QUALITY,
    )
    store.keep(quality)
    store.keep(experiment("20261203-000000-dddddd", [], state=State.FAILED, failure="It died."))
    store.close()
    assert "\n".join(sweep_lines(sweep(SWEEP))) in run(capsys, "show", SWEEP)
    assert "\n".join(quality_lines(quality)) in run(capsys, "show", "cccccc")
    assert "failed     It died.\n" in run(capsys, "show", "dddddd")
    assert "nothing was measured" in run(capsys)


def test_that_a_sweep_is_shown_with_the_figure_that_it_was_chosen_by(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = HistoryStore(own_folders().history)
    usual, by_ttft = sweep("20261204-000000-eeeeee"), sweep("20261205-000000-ffffff")
    store.keep(usual)
    store.keep(msgspec.structs.replace(by_ttft, asked={"rounds": 5, "measure": "ttft_s"}))
    store.close()
    assert "TTFT ms" not in run(capsys, "show", "eeeeee")
    assert "TTFT ms" in run(capsys, "show", "ffffff")


def test_that_two_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "compare", NEW, OLD)
    assert "cache_type_k" in text
    assert "30\u202f% faster" in text
    assert "different models" in text
    found = json.loads(run(capsys, "compare", NEW, OLD, "--json"))
    assert found["pairs"][0]["settings"] == [
        {"key": "cache_type_k", "first": "f16", "second": "q8_0"}
    ]


# --- export -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        ((), "# Bench with the chat workload"),
        (("--as", "csv"), "key,kind,begun_at"),
        (("--as", "json"), "{\n  "),
        (("--as", "markdown"), "# Bench"),
    ],
)
def test_that_an_export_goes_to_the_terminal(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], begins: str
) -> None:
    assert run(capsys, "export", NEW, *words).startswith(begins)


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.csv", b"key,"), ("a.json", b"{"), ("a.md", b"# "), ("a", b"# ")],
)
def test_that_an_export_is_what_the_file_s_ending_asks_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, begins: bytes
) -> None:
    assert run(capsys, "export", NEW, "--out", str(tmp_path / name)) == ""
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_that_a_card_is_painted_without_a_display(tmp_path: Path) -> None:
    bare = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    bare.pop("QT_QPA_PLATFORM", None)
    for theme in ("dark", "light"):
        done = subprocess.run(
            [sys.executable, "-m", "app.cli", "history", "export", "3f9a2c", "--json",
             "--theme", theme, "--out", str(tmp_path / f"{theme}.png")],
            cwd=ROOT, env=bare, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["as"] == "card"
    dark, light = ((tmp_path / f"{theme}.png").read_bytes() for theme in ("dark", "light"))
    assert dark.startswith(b"\x89PNG")
    assert dark != light


def test_that_a_card_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "export", NEW, "--as", "card"]) == 1
    assert "add --out card.png" in capsys.readouterr().err


def test_that_a_file_is_replaced_only_when_that_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "a.csv"
    out.write_text("mine", encoding="utf-8")
    assert main(["history", "export", NEW, "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"There is a file {out} already; --force replaces it.\n"
    assert out.read_text(encoding="utf-8") == "mine"
    run(capsys, "export", NEW, "--out", str(out), "--force")
    assert out.read_bytes().startswith(b"key,")


def test_that_a_name_no_file_can_have_is_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["history", "export", NEW, "--out", str(tmp_path / ("n" * 300))]) == 1
    assert "The experiment could not be exported: " in capsys.readouterr().err


def test_that_an_export_that_cannot_be_written_is_a_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["history", "export", NEW, "--out", str(tmp_path / "file" / "a.csv")]) == 1
    assert "The experiment could not be exported: " in capsys.readouterr().err


# --- tag, note, delete ------------------------------------------------------------------


def test_that_tags_are_added_and_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "tag", NEW) == "No tags.\n"
    assert run(capsys, "tag", NEW, "fast", "on battery") == "fast, on battery\n"
    assert run(capsys, "tag", NEW, "FAST", "new") == "fast, on battery, new\n"
    assert run(capsys, "tag", NEW, "On  Battery", "--remove") == "fast, new\n"
    assert json.loads(run(capsys, "tag", NEW, "--json")) == {"key": NEW, "tags": ["fast", "new"]}
    assert keys_of(run(capsys, "--tag", "new", "--json")) == [NEW]


def test_that_no_tag_and_no_note_moves_the_terminal_about(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(capsys, "tag", NEW, "\x1b[31mred\x07") == "[31mred\n"
    assert run(capsys, "note", NEW, "\x1b]0;title\x07") == "\\x1b]0;title\\x07\n"
    for words in (["list"], ["show", NEW], ["export", NEW, "--as", "markdown"]):
        assert "\x1b" not in run(capsys, *words)


def test_that_a_key_named_twice_is_deleted_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "delete", NEW, NEW).count("Deleted") == 1


def test_that_a_note_is_written_and_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(capsys, "note", NEW) == "No note.\n"
    assert run(capsys, "note", NEW, "Lid closed.") == "Lid closed.\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("Two\nlines\n"))
    assert run(capsys, "note", NEW, "-") == "Two\nlines\n"
    assert "note       Two\n           lines\n" in run(capsys, "show", NEW)
    assert json.loads(run(capsys, "note", NEW, "", "--json")) == {"key": NEW, "note": ""}


def test_that_what_is_deleted_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "delete", NEW, "aa00aa")
    assert f"`tunedeck history restore {NEW}` brings it back" in text
    assert keys_of(run(capsys, "--json")) == [OLD]
    assert keys_of(run(capsys, "list", "--deleted", "--json")) == [SWEEP, NEW]
    assert json.loads(run(capsys, "restore", "3f9a2c", "--json")) == {"restored": [NEW]}
    assert keys_of(run(capsys, "--json")) == [NEW, OLD]


# --- Mistakes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "nothing"), "No experiment of the history begins or ends with “nothing”"),
        (("show", "2026"), "3 experiments begin or end with “2026”"),
        (("delete", NEW, "nothing"), "No experiment"),
        (("compare", NEW, "x"), "No experiment"),
    ],
)
def test_that_a_wrong_key_is_a_sentence_and_changes_nothing(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert main(["history", *words]) == 1
    output = capsys.readouterr()
    assert said in output.err
    assert len(output.err.splitlines()) == 1
    assert not output.out
    assert len(keys_of(run(capsys, "--json"))) == 3


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "yesterday"),
        ("--limit", "-1"),
        ("--kind", "benches"),
        ("show",),
        ("compare", NEW),
        ("export", NEW, "--as", "pdf"),
        ("remove", NEW),
    ],
)
def test_that_a_wrong_word_is_refused_with_where_the_right_ones_are(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["history", *words])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "--help` says what can be asked for." in said
    assert len(said.splitlines()) == 1


def test_that_a_damaged_history_is_told_and_the_command_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = HistoryStore(own_folders().history).path
    path.write_bytes(b"nothing that a database begins with" * 100)
    assert main(["history"]) == 0
    said = capsys.readouterr()
    assert said.out == "No experiments.\n"
    assert "is set aside as history.damaged-" in said.err


def test_that_a_newer_history_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    path = HistoryStore(own_folders().history).path
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    assert main(["history"]) == 1
    assert "written by a newer TuneDeck" in capsys.readouterr().err


def row(text: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads(text)["experiments"]
    return rows[0]


def test_that_the_list_as_json_has_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    first = row(run(capsys, "--kind", "sweep", "--json"))
    assert first["best"] == "slots=32"
    assert first["total_tok_s"] > 100
    assert first["model_sha256"] == SUBJECT.model_sha256


def test_that_exported_json_stays_json_whatever_its_note_holds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    note = "≤ 1 s, \x9b31m, \x7f, “quoted”"
    run(capsys, "note", NEW, note)
    text = run(capsys, "export", NEW, "--as", "json")
    assert json.loads(text)["note"] == note
    assert "\x9b" not in text
