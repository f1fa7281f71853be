"""The virtual environment is filled once, refilled when something changed, and repaired."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bootstrap import environment
from bootstrap.environment import Environment, engine_version, pip_step_text
from bootstrap.gpu import Choice
from bootstrap.say import SetupError

_CPU = Choice("none", ("GPU: none.",))
_CUDA = Choice("cuda", ("GPU: CUDA.",))
_PROJECT = '[project]\ndependencies = ["numpy==2.4.6", "llama-cpp-python==0.3.36"]\n'


class _World:
    """Stands for python, pip and the wheel builder; keeps what they were told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.root = root
        self.done: list[str] = []
        self.interrupted_at = ""
        self._is_whole = False
        (root / "pyproject.toml").write_text(_PROJECT)
        monkeypatch.setattr(environment, "run_whole", self._run)
        monkeypatch.setattr(environment, "output_of", self._version)
        monkeypatch.setattr(environment, "wheel_for", self._wheel)

    def ensure(self, *extras: str, choice: Choice = _CPU) -> list[str]:
        """What one set-up did."""
        self.done.clear()
        Environment(self.root, self.root / "cache").ensure(extras, choice)
        return list(self.done)

    def break_python(self) -> None:
        self._is_whole = False

    def _version(self, _: Sequence[str]) -> str | None:
        return f"{sys.version_info.major} {sys.version_info.minor}" if self._is_whole else None

    def _wheel(self, *words: object) -> Path:
        self.done.append(f"wheel {words[3]}")
        return Path("engine.whl")

    def _run(
        self,
        command: Sequence[str],
        on_line: Callable[[str], None] | None = None,
        *,
        folder: Path | None = None,
    ) -> int:
        words = " ".join(command)
        step = next(
            name
            for name, sign in (
                ("venv", "-m venv"),
                ("engine", "engine.whl"),
                ("packages", "--editable"),
                ("proof", "import PySide6"),
            )
            if sign in words
        )
        if step == "packages":
            step += words[words.index("[") :]
        self.done.append(step)
        if self.interrupted_at and step.startswith(self.interrupted_at):
            raise KeyboardInterrupt
        if step == "venv":
            (self.root / ".venv").mkdir(exist_ok=True)
            self._is_whole = True
        return 0


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> _World:
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    return _World(monkeypatch, tmp_path)


def test_that_a_first_set_up_does_everything_and_a_second_nothing(world: _World) -> None:
    assert world.ensure("demo") == ["venv", "wheel none", "engine", "packages[demo]", "proof"]
    assert world.ensure("demo") == []


def test_that_more_extras_bring_packages_only_and_stay(world: _World) -> None:
    world.ensure("demo")
    assert world.ensure("demo", "test") == ["packages[demo,test]", "proof"]
    assert world.ensure("demo") == []
    assert world.ensure("test") == []


def test_that_another_gpu_brings_another_engine(world: _World) -> None:
    world.ensure("demo")
    assert world.ensure("demo", choice=_CUDA)[:2] == ["wheel cuda", "engine"]
    assert world.ensure("demo", choice=_CUDA) == []


def test_that_cmake_args_bring_another_engine(
    world: _World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.ensure("demo")
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_NATIVE=OFF")
    assert "engine" in world.ensure("demo")


def test_that_a_changed_project_brings_packages_only(world: _World) -> None:
    world.ensure("demo")
    (world.root / "pyproject.toml").write_text(_PROJECT + "# changed\n")
    assert world.ensure("demo") == ["packages[demo]", "proof"]


def test_that_another_engine_version_is_installed(world: _World) -> None:
    world.ensure("demo")
    (world.root / "pyproject.toml").write_text(_PROJECT.replace("0.3.36", "0.3.37"))
    assert "engine" in world.ensure("demo")


@pytest.mark.parametrize("step", ["venv", "engine", "packages", "proof"])
def test_that_an_interrupted_set_up_is_taken_up_again(world: _World, step: str) -> None:
    world.interrupted_at = step
    with pytest.raises(KeyboardInterrupt):
        world.ensure("demo")
    world.interrupted_at = ""
    assert step in [name.partition("[")[0] for name in world.ensure("demo")]
    assert world.ensure("demo") == []


def test_that_a_broken_environment_is_made_anew(world: _World) -> None:
    world.ensure("demo", "test")
    world.break_python()
    assert world.ensure("demo")[:3] == ["venv", "wheel none", "engine"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("  Downloading PySide6_Essentials-6.11.3-cp310-abi3-linux.whl (80.1 MB)",
         "downloading PySide6_Essentials-6.11.3-cp310-abi3-linux.whl (80.1 MB)"),
        ("Collecting numpy==2.4.6", "collecting numpy==2.4.6"),
        ("Processing /opt/wheels/idna-3.20-py3-none-any.whl",
         "processing idna-3.20-py3-none-any.whl"),
        ("Installing collected packages: numpy, idna", "unpacking"),
        ("WARNING: something else", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_that_pip_s_lines_become_a_step(line: str, text: str) -> None:
    assert pip_step_text(line) == text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"project": 1}', "\0"])
def test_that_a_damaged_stamp_is_no_stamp(world: _World, text: str) -> None:
    world.ensure("demo")
    (world.root / ".venv" / "tunedeck-stamp.json").write_text(text)
    assert "proof" in world.ensure("demo")


def test_that_the_engine_s_version_stands_in_the_project() -> None:
    assert engine_version(_PROJECT) == "0.3.36"
    with pytest.raises(SetupError, match="pins no version"):
        engine_version('[project]\ndependencies = ["llama-cpp-python>=0.3"]\n')
