"""What commands write to a terminal: control characters, closed and full streams."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app.plain_output import is_of_stream, printable, without_controls

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


def in_shell(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program in a shell; ``words`` follow ``python -m app`` and may redirect."""
    return subprocess.run(
        ["/bin/sh", "-c", f"exec '{sys.executable}' -m app {words}"],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


def test_that_a_control_character_is_spelt_out() -> None:
    assert printable("a\x1b[31mred\x07\x9b\x7f") == "a\\x1b[31mred\\x07\\x9b\\x7f"
    assert printable("over\rwritten") == "over\\x0dwritten"


def test_that_a_mark_that_turns_words_round_is_spelt_out() -> None:
    assert printable("a\u202egguf\u2066") == "a\\u202egguf\\u2066"


def test_that_line_ends_tabs_and_all_languages_stay() -> None:
    text = "Größe\t1,5\r\n中文 👩\u200d💻\n"
    assert printable(text) == text
    assert without_controls(text) == text


def test_that_only_a_stream_has_an_error_without_a_file() -> None:
    assert is_of_stream(OSError(errno.ENOSPC, "No space left on device"))
    assert not is_of_stream(OSError(errno.ENOSPC, "No space left on device", "some.file"))
    assert not is_of_stream(OSError(errno.ECONNRESET, "Connection reset by peer"))


@posix
def test_that_a_closed_output_is_no_fault() -> None:
    done = in_shell("settings >&-")
    assert (done.returncode, done.stderr) == (0, "")


@posix
def test_that_a_closed_error_stream_is_no_fault() -> None:
    done = in_shell("settings 2>&-")
    assert done.returncode == 0
    assert "ctx_per_slot_tok" in done.stdout


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_that_a_full_disk_behind_the_output_is_a_sentence(unbuffered: str) -> None:
    done = in_shell("settings >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr == (
        "The output could not be written: No space left on device. Write it elsewhere.\n"
    )


@posix
def test_that_a_sign_the_terminal_lacks_is_written_plainly() -> None:
    done = in_shell("settings", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ctx_per_slot_tok" in done.stdout
    assert "\\u" not in done.stdout


@posix
def test_that_a_character_the_terminal_lacks_is_spelt_out() -> None:
    asked = "plan '中±.gguf'"
    done = in_shell(asked, PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert "\\u4e2d+-.gguf" in done.stderr


@posix
def test_that_an_interrupt_while_the_program_is_read_is_no_traceback(tmp_path: Path) -> None:
    # An import that is interrupted, at a moment of the test's choosing.
    (tmp_path / "msgspec.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), signal.{signal.SIGINT.name})\n"
    )
    done = in_shell("settings", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


@posix
def test_that_an_interrupt_while_the_script_reads_the_program_is_no_traceback(
    tmp_path: Path,
) -> None:
    # What the script of the package does, whose name is in pyproject.toml.
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = scripts["scripts"]["tunedeck"].partition(":")
    (tmp_path / "msgspec.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), signal.{signal.SIGINT.name})\n"
    )
    script = tmp_path / "tunedeck"
    script.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    done = subprocess.run(
        [sys.executable, str(script), "settings"], capture_output=True, text=True, timeout=60,
        check=False, env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


@posix
def test_that_an_interrupt_while_a_command_reads_its_part_is_no_traceback(tmp_path: Path) -> None:
    # Read by a command behind its words only; an exception in it could be a crash.
    (tmp_path / "numpy.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), signal.{signal.SIGINT.name})\n"
    )
    done = in_shell("tune none.gguf --budget 40", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


@posix
def test_that_an_interrupt_at_any_moment_of_the_start_is_told_and_ends_it() -> None:
    # From the first line of the program on: each sends itself the signal after so many files read.
    for files in (0, 1, 2, 5, 20, 80):
        listener = (
            "import os, runpy, signal, sys\n"
            "left = [0]\n"
            "def told(event, words):\n"
            "    if event == 'exec' and 'app.entry' in sys.modules:\n"
            "        left[0] += 1\n"
            f"        if left[0] == {files} + 2:\n"
            "            os.kill(os.getpid(), signal.SIGINT)\n"
            "sys.addaudithook(told)\n"
            "sys.argv = ['tunedeck', 'tune', 'none.gguf', '--budget', '40']\n"
            "runpy.run_module('app', run_name='__main__', alter_sys=True)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", listener], cwd=ROOT, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (130, "Stopped.\n"), files
