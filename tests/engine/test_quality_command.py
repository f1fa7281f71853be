"""``tunedeck quality`` as a user calls it, on a tiny model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine

TEXT = "The rain fell on the road and the road was long. Nobody spoke of it. " * 60


@pytest.fixture
def text_path(tmp_path: Path) -> Path:
    path = tmp_path / "rain.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def start(environment: dict[str, str], *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app", "quality", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def call(environment: dict[str, str], *words: object) -> tuple[int, str, str]:
    with start(environment, *words) as process:
        out, err = process.communicate(timeout=150)
    return process.returncode, out, err


def test_that_two_caches_are_compared_and_kept(
    environment: dict[str, str], few_words_path: Path, text_path: Path
) -> None:
    status, out, err = call(
        environment, few_words_path, "--text", text_path, "--ctx", 128, "--chunks", 2, "--recall",
        "--facts", 3, "--recall-ctx", 800, "--json",
    )  # fmt: skip
    assert status == 0, err
    found = json.loads(out)
    assert (found["kind"], found["state"]) == ("quality", "done")
    base, fine, coarse = found["cells"]
    assert [base["name"], fine["name"], coarse["name"]] == ["f16/f16", "q8_0/q8_0", "q4_0/q4_0"]
    assert 0 < fine["extra"]["mean_kld"] < coarse["extra"]["mean_kld"]
    assert fine["extra"]["kv_bytes"] < base["extra"]["kv_bytes"]
    assert fine["extra"]["facts"] == 3
    assert len(found["subject"]["model_sha256"]) == 64
    listed = subprocess.run(
        [sys.executable, "-m", "app", "history", "list"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert found["key"] in listed.stdout


def test_that_a_candidate_that_breaks_a_rule_is_skipped_in_a_sentence(
    environment: dict[str, str], few_words_path: Path, text_path: Path
) -> None:
    status, out, err = call(
        environment, few_words_path, "--text", text_path, "--ctx", 128, "--chunks", 1,
        "--set", "cache_type_v=q8_0", "--set", "flash_attn=off",
    )  # fmt: skip
    assert status == 1
    assert "lash attention" in err
    assert "KLD" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process there")
def test_that_ctrl_c_keeps_what_was_measured(
    environment: dict[str, str], few_words_path: Path, text_path: Path
) -> None:
    text_path.write_text(TEXT * 80, encoding="utf-8")
    words = (few_words_path, "--text", text_path, "--ctx", 128, "--chunks", 10_000)
    with start(environment, *words) as process:
        assert process.stderr is not None
        while "Reading the text" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped" in err


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty"), (b"\x00\x81\x02\xff" * 900, "not a text file"), (b"Few words.", "one chunk")],
)
def test_that_a_text_that_does_not_do_is_a_sentence(
    environment: dict[str, str], few_words_path: Path, text_path: Path, content: bytes, said: str
) -> None:
    text_path.write_bytes(content)
    status, out, err = call(environment, few_words_path, "--text", text_path, "--ctx", 128)
    assert (status, out) == (1, "")
    assert said in err
    assert "Traceback" not in err
