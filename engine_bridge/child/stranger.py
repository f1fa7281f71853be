"""Looking at a file that was never loaded, in a process that may die of it.

A damaged vocabulary makes llama.cpp abort, and with it the model that runs. Knows the throwaway
process; what it does is ``plan_once``'s.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

import engine_bridge
from engine_bridge.child.plan_once import Request, read_look
from engine_bridge.gguf_window import shown_name
from engine_bridge.own_failure import end_of, innocent_sentence, overdue_sentence
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem

# A look takes a second; a machine under load may be twenty times slower.
_PATIENCE_S = 60.0

Stamp: TypeAlias = tuple[str, int, int]


def stamp_of(path: str) -> Stamp:
    """What tells whether a file is still the one that was loaded: path, bytes, change time.

    Raises:
        OSError: If the file is gone.
    """
    state = Path(path).stat()
    return path, state.st_size, state.st_mtime_ns


class Look:
    """One throwaway process that does all of a load but the weights; stop it from any thread."""

    def __init__(self) -> None:
        """Nothing is looked at yet."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End the process; ``problem_of`` then finds nothing."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()

    def problem_of(self, config: EngineConfig) -> Problem | None:
        """Why ``config.model_path`` must not come near a running model, or None.

        What llama.cpp refuses in words is no reason: it does so in the engine as well.
        """
        with tempfile.TemporaryFile() as errors:
            process = self._started(errors)
            if process is None:
                return None
            request, is_late = msgspec.json.encode(Request(config, only_look=True)), False
            try:
                answer, _ = process.communicate(request, timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                is_late = True
                process.kill()
                answer, _ = process.communicate()
            said = end_of(errors)
        with self._lock:
            self._process = None
            if self._is_stopped or _is_answer(answer):
                return None
        name = shown_name(config.model_path)
        if is_late:
            return Problem(("model_path",), overdue_sentence(name))
        if sentence := innocent_sentence(process.returncode, said, name):
            return Problem((), sentence)
        if config.override_kv:
            return of_overrides(config, process.returncode)
        return Problem(
            ("model_path",),
            f"llama.cpp ended (status {process.returncode}) when it was tried on {name} apart from "
            "the running model, which goes on: the file is damaged, or of a kind llama.cpp does "
            "not support. Download it again, or choose another file.",
        )

    def _started(self, errors: IO[bytes]) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._is_stopped:
                return None
            self._process = subprocess.Popen(
                [sys.executable, "-m", "engine_bridge.child.plan_once"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"GGML_NO_BACKTRACE": "1"},
                cwd=Path(engine_bridge.__file__).parent.parent,
            )
            return self._process


def of_overrides(config: EngineConfig, status: int) -> Problem:
    """What is said where a process ended over a file whose metadata was overridden."""
    return Problem(
        ("override_kv",),
        f"llama.cpp ended (status {status}) when it was tried on {shown_name(config.model_path)} "
        f"with {', '.join(config.override_kv)}. Take the overrides out.",
        {"override_kv": ()},
    )


def _is_answer(answer: bytes) -> bool:
    try:
        read_look(answer)
    except msgspec.DecodeError:
        return False
    return True
