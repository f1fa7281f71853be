"""The project's virtual environment: made, filled, and left alone while nothing changed.

A stamp inside it says what it was made from. The stamp is removed before anything is touched and
written when all is done, so an interrupted set-up is repaired by the next one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from bootstrap import amx
from bootstrap.gpu import Choice
from bootstrap.lock import only_one
from bootstrap.process import output_of, run_whole
from bootstrap.say import Progress, SetupError, faults_of, say
from bootstrap.system import missing_for_venv, refuse_if_missing
from bootstrap.wheel import key_of, machine_facts, wheel_for

ENGINE = "llama-cpp-python"


@dataclass(frozen=True)
class Stamp:
    """What an environment was made from.

    Attributes:
        project: Hash of ``pyproject.toml``.
        engine: Key of the engine's options, version and machine.
        extras: Extras installed, sorted.
    """

    project: str
    engine: str
    extras: tuple[str, ...]

    def covers(self, wanted: Stamp) -> bool:
        """Whether an environment of this stamp has all of ``wanted``."""
        same = (self.project, self.engine) == (wanted.project, wanted.engine)
        return same and set(wanted.extras) <= set(self.extras)


class Environment:
    """``.venv`` in the project's folder."""

    def __init__(self, root: Path, cache: Path) -> None:
        """Look at the environment of the project in ``root``; ``cache`` is TuneDeck's own."""
        self._root = root
        self._cache = cache
        self._folder = root / ".venv"
        self._stamp_path = self._folder / "tunedeck-stamp.json"
        self.python = python_in(self._folder)

    def ensure(self, extras: tuple[str, ...], choice: Choice) -> None:
        """Make the environment have ``extras`` and an engine as ``choice`` says.

        Raises:
            SetupError: If that cannot be done, with the reason.
        """
        project = (self._root / "pyproject.toml").read_bytes()
        version = engine_version(project.decode())
        wishes = os.environ.get("CMAKE_ARGS", "").split()
        options = (*choice.cmake_options, *amx.options_here(), *wishes)
        engine = key_of(machine_facts(version, options))
        wanted = Stamp(hashlib.sha256(project).hexdigest(), engine, tuple(sorted(extras)))
        if self._covers(wanted):
            return
        with only_one(self._cache / "setup.lock"):
            if self._covers(wanted):
                return
            for sentence in (*choice.sentences, *((amx.SENTENCE,) if amx.has_amx() else ())):
                say(sentence)
            old = self._stamp()
            self._stamp_path.unlink(missing_ok=True)
            self._make()
            if old is None or old.engine != engine:
                wheel = wheel_for(self.python, version, options, choice.backend, self._cache)
                self._pip("installing the engine", "--no-deps", "--force-reinstall", str(wheel))
            kept = set(old.extras) if old is not None else set()
            all_extras = tuple(sorted(kept | set(extras)))
            what = f"installing the packages of pyproject.toml [{', '.join(all_extras)}]"
            self._pip(what, "--editable", f".[{','.join(all_extras)}]")
            self._prove()
            stamp = Stamp(wanted.project, engine, all_extras)
            self._stamp_path.write_text(json.dumps(asdict(stamp), indent=1))
            say("Set-up done.")

    def _covers(self, wanted: Stamp) -> bool:
        stamp = self._stamp()
        return stamp is not None and stamp.covers(wanted)

    def _stamp(self) -> Stamp | None:
        """The stamp of a whole environment whose interpreter still runs, else None."""
        try:
            stored = json.loads(self._stamp_path.read_text())
            stamp = Stamp(stored["project"], stored["engine"], tuple(stored["extras"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return stamp if self._is_whole() else None

    def _is_whole(self) -> bool:
        answer = output_of(
            [str(self.python), "-c", "import pip, sys; print(*sys.version_info[:2])"]
        )
        return answer is not None and answer.split() == [str(part) for part in sys.version_info[:2]]

    def _make(self) -> None:
        """Make the environment if there is none, or anew if it is broken or of another Python."""
        if self._is_whole():
            return
        refuse_if_missing(missing_for_venv(), "The set-up")
        say(f"Making a virtual environment with Python {sys.version.split()[0]} in .venv.")
        command = [sys.executable, "-m", "venv", "--clear", str(self._folder)]
        if run_whole(command) or not self._is_whole():
            raise SetupError(
                f"Python could not make a virtual environment in {self._folder}; its own words are "
                "above. Is the disk full or the folder read-only?"
            )

    def _pip(self, what: str, *arguments: str) -> None:
        progress = Progress(what)
        lines: list[str] = []
        how_far = "asking the registry"

        def hear(line: str) -> None:
            nonlocal how_far
            lines.append(line)
            how_far = pip_step_text(line) or how_far
            progress.show(how_far)

        command = [str(self.python), "-m", "pip", "install", "--disable-pip-version-check"]
        if run_whole([*command, "--no-input", *arguments], hear, folder=self._root):
            progress.end("failed")
            raise SetupError(
                f"pip could not install what TuneDeck needs: {faults_of(lines)}\nCheck the network "
                "and run the same command again: what is there already is kept."
            )
        progress.end("done")

    def _prove(self) -> None:
        """Import what has native parts, so that a missing library is found here.

        Raises:
            SetupError: With the loader's own words.
        """
        lines: list[str] = []
        code = "import PySide6.QtWidgets, llama_cpp"
        if run_whole([str(self.python), "-c", code], lines.append):
            raise SetupError(
                f"The packages are installed but cannot be loaded: {lines[-1] if lines else '?'}. "
                "The package of that library is missing on this system."
            )


def python_in(folder: Path, platform: str = sys.platform) -> Path:
    """The interpreter of the virtual environment in ``folder``."""
    if platform == "win32":
        return folder / "Scripts" / "python.exe"
    return folder / "bin" / "python"


def pip_step_text(line: str) -> str:
    """What pip is at, by a line of its output; empty for a line that says nothing of that."""
    words = line.split()
    if len(words) > 1 and words[0] in ("Collecting", "Downloading", "Processing"):
        return f"{words[0].lower()} {' '.join([words[1].rpartition('/')[2], *words[2:4]])}"
    return "unpacking" if line.startswith("Installing collected") else ""


def engine_version(project: str) -> str:
    """The pinned version of llama-cpp-python in the text of ``pyproject.toml``.

    Raises:
        SetupError: If it is not pinned there.
    """
    for requirement in tomllib.loads(project)["project"]["dependencies"]:
        name, pinned, version = requirement.partition("==")
        if name.strip() == ENGINE and pinned:
            return str(version.strip())
    raise SetupError(f"pyproject.toml pins no version of {ENGINE}.")
