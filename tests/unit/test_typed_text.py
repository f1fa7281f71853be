"""What somebody typed: however much it is, a sentence repeats its beginning only."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from app.arguments import parse_arguments
from app.experiments.lengths import lengths_of
from app.experiments.terminal import SENTENCES
from app.experiments.workload_words import workload_of
from engine_bridge.gguf_file import GgufError, read_model_facts
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.home_path import home_path, whole_path
from engine_bridge.settings.table import SETTINGS
from engine_bridge.typed_text import quoted, whole_number, without_long_words

ROOT = Path(__file__).resolve().parents[2]
LONG = "9" * 30_000
FAR = "~no-such-user/x.gguf"


def test_that_a_short_text_is_quoted_whole_and_a_long_one_begun() -> None:
    assert quoted("a b") == "'a b'"
    assert quoted("x" * 40) == f"'{'x' * 40}'"
    assert quoted("x" * 41) == f"'{'x' * 40}'…"
    assert quoted((1, 2)) == "(1, 2)"
    assert len(quoted(["x" * 100])) == 41


def test_that_only_words_of_no_end_are_cut() -> None:
    assert without_long_words("Choose another file, say /models/a.gguf.").endswith("/a.gguf.")
    assert len(without_long_words(f"got {LONG}.")) < 50


def test_that_a_number_has_a_sensible_length() -> None:
    assert whole_number(" 12 ") == 12
    for text in (LONG, "9" * 5000, "x", ""):
        with pytest.raises(ValueError, match=r"^.{0,120}$"):
            whole_number(text)


@contextmanager
def shortly_refused() -> Iterator[None]:
    """What is refused inside is told in few words."""
    try:
        yield
    except Exception as error:
        if len(str(error)) > 400:
            pytest.fail(f"{len(str(error)):,} signs: {str(error)[:80]}")
        raise


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_that_no_setting_repeats_a_long_text(setting: object) -> None:
    key = setting.key  # type: ignore[attr-defined]
    for text in (LONG, f"{LONG}=x", f"a,{LONG}"):
        with suppress(DomainError), shortly_refused():
            parse_assignments([f"{key}={text}"])


@pytest.mark.parametrize(
    "words",
    [
        [LONG], ["chat", LONG], ["chat", f"{LONG}=1"], ["chat", f"users={LONG}"],
        ["chat", f"prefix_share=x{LONG}"], ["chat", f"material={LONG}"],
        ["chat", f"prompt_tok={LONG}"], ["chat", f"prompt_tok=uniform:1:{LONG}"],
        ["chat", f"answer_tok=lognormal:{LONG}:1"], ["chat", f"seed={'9' * 5000}"],
        ["chat", f"text_path=/{LONG}"], [f"/{LONG}.json"],
    ],
)  # fmt: skip
def test_that_no_workload_repeats_a_long_text(words: list[str]) -> None:
    with pytest.raises(SENTENCES) as found:
        workload_of(words)
    assert len(str(found.value)) < 400


def test_that_no_file_of_a_model_is_told_with_a_name_that_none_can_have() -> None:
    with pytest.raises(GgufError) as found:
        read_model_facts(f"/{LONG}.gguf")
    assert len(str(found.value)) < 400


def test_that_lengths_of_thousands_of_digits_are_refused() -> None:
    with pytest.raises(SENTENCES, match="prompt_tok"):
        lengths_of("prompt_tok", "9" * 5000)


@pytest.mark.parametrize(
    "words",
    [
        ["tune", "m.gguf", "--budget", LONG], ["tune", "m.gguf", "--for", LONG],
        ["bench", "m.gguf", f"--{LONG}"], ["sweep", "m.gguf", "--rounds", "9" * 4000], [LONG],
        ["history", "list", "--limit", "9" * 5000],
    ],
)  # fmt: skip
def test_that_a_wrong_command_line_is_told_shortly(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as found:
        parse_arguments(words)
    assert found.value.code == 2
    assert 20 < len(capsys.readouterr().err) < 400


# --- Home folders -----------------------------------------------------------------------


def test_that_a_home_folder_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    assert home_path("~") == Path.home()
    assert whole_path(str(tmp_path / "m.gguf")) == str(tmp_path / "m.gguf")
    with pytest.raises(DomainError, match="There is no home folder '~no-such-user'"):
        home_path(FAR)


def test_that_a_workload_names_no_home_folder_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text('{"name":"w","material":"file","text_path":"~no-such-user/a.txt"}')
    for words in (["chat", f"text_path={FAR}"], ["~no-such-user/w.json"], [str(path)]):
        with pytest.raises(SENTENCES, match="no home folder"):
            workload_of(words)


@pytest.mark.parametrize(
    "words",
    [
        ["plan", FAR], ["bench", FAR], ["tune", "m.gguf", "--draft", FAR], ["quality", FAR],
        ["bench", "m.gguf", "--workload", "~no-such-user/w.json"], ["--model", FAR],
        ["bench", "m.gguf", "--set-workload", f"text_path={FAR}"],
    ],
)  # fmt: skip
def test_that_a_command_says_it_of_each_path(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", *words], cwd=ROOT, capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("There is no home folder '~no-such-user'.")
