"""What is asked of the process that tries a file's chat template, and what its end means. No Qt."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec

from app.sample_conversation import sample_messages
from engine_bridge.engine_process import WITHHELD_VARIABLES, added_variables
from engine_bridge.gguf_window import shown_name
from engine_bridge.own_failure import innocent_sentence, last_line, last_words
from engine_bridge.template_sheet import TemplateQuestion, TemplateSheet

MODULE = "engine_bridge.child.template_once"
# A header takes 50 ms, each rendering 2 s at most, and the first that takes them is the last.
TIMEOUT_S = 30


def template_on_a_sample(path: str) -> TemplateSheet:
    """Try the chat template of the file at ``path``; waits for the process that does it."""
    withheld = dict.fromkeys(WITHHELD_VARIABLES)
    kept = {name: value for name, value in os.environ.items() if name not in withheld}
    try:
        done = subprocess.run(
            [sys.executable, "-m", MODULE],
            input=question_about(path),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            env=kept | added_variables(os.environ.get("PYTHONPATH", "")),
            cwd=Path(__file__).resolve().parents[1],
        )
    except subprocess.TimeoutExpired:
        return sheet_of_silence(path)
    if done.stdout:
        return sheet_in(done.stdout)
    return sheet_of_end(done.returncode, last_line(done.stderr.decode(errors="replace")), path)


def question_about(path: str) -> bytes:
    """What the process is asked of the file at ``path``."""
    return msgspec.json.encode(TemplateQuestion(path, sample_messages(has_system=True)))


def sheet_in(line: bytes) -> TemplateSheet:
    """The answer of the process; a sheet that says so where it cannot be read."""
    try:
        return msgspec.json.decode(line, type=TemplateSheet)
    except msgspec.MsgspecError as error:
        return TemplateSheet(
            problem=f"What came of the template cannot be read ({error}). Install TuneDeck anew."
        )


def sheet_of_end(exit_code: int, last_line: str, path: str) -> TemplateSheet:
    """What is said where the process ended without an answer.

    Args:
        exit_code: Its exit status, negative for a signal.
        last_line: The last line it wrote for people.
        path: The file.
    """
    name = shown_name(path)
    sentence = innocent_sentence(exit_code, last_line.encode(), name)
    return TemplateSheet(
        problem=sentence
        or f"The process that tried the chat template of {name} ended (status {exit_code}); the "
        f"file may be damaged.{last_words(last_line)}"
    )


def sheet_of_silence(path: str) -> TemplateSheet:
    """What is said where the process came to no end in time and was killed."""
    return TemplateSheet(
        problem=f"The chat template of {shown_name(path)} could not be tried within {TIMEOUT_S} s, "
        "and that was given up: the machine is very busy, or the file's drive is slow or gone."
    )
