"""The engine's wheel: one for each set of options and each machine, built whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil
import pytest

from bootstrap import packages, wheel
from bootstrap.process import output_of, run_whole
from bootstrap.say import SetupError
from bootstrap.wheel import cpu_identity, key_of, machine_facts, step_text, wheel_for

_OPTIONS = ("-DGGML_RPC=ON", "-DGGML_CUDA=OFF")
_FACTS = machine_facts("0.3.36", _OPTIONS) | {"compiler": "cc 12"}


@pytest.fixture(autouse=True)
def on_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "manager_here", lambda: packages.APT)


@pytest.mark.parametrize("fact", sorted(_FACTS))
def test_that_every_fact_changes_the_key(fact: str) -> None:
    assert key_of(_FACTS) == key_of(dict(reversed(_FACTS.items())))
    assert key_of({**_FACTS, fact: "another"}) != key_of(_FACTS)


def test_that_another_processor_is_another_machine(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "processor\t: 0\nmodel name\t: Xeon\ncpu MHz\t: 2100.1\nflags\t\t: sse avx2\n\n"
        "processor\t: 1\nmodel name\t: Xeon\n"
    )
    identity = cpu_identity(cpuinfo)
    assert "Xeon" in identity
    assert "avx2" in identity
    assert "MHz" not in identity


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("  [12/340] Building CXX object ggml/src/ggml.cpp.o", "12 of 340 steps"),
        ("[ 42%] Building C object", "42 %"),
        ("[100%] Linking", "100 %"),
        ("-- Configuring done (2.1s)", ""),
        ("*** Building project with Ninja...", ""),
    ],
)
def test_that_progress_is_read_off_the_build(line: str, text: str) -> None:
    assert step_text(line) == text


class _Pip:
    """Stands for pip: fetches and builds by touching files, and keeps what it was told."""

    def __init__(self, *, fails: bool = False, interrupted: bool = False) -> None:
        self.builds: list[str] = []
        self._fails = fails
        self._interrupted = interrupted

    def __call__(
        self,
        command: Sequence[str],
        on_line: Callable[[str], None],
        *,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> int:
        words = list(command)
        if "download" in words:
            folder = Path(words[words.index("--dest") + 1])
            (folder / "llama_cpp_python-0.3.36.tar.gz").touch()
            return 0
        assert "--no-cache-dir" in words
        assert environment is not None
        self.builds.append(environment["CMAKE_ARGS"])
        on_line("  [1/2] Building CXX object a.o")
        folder = Path(words[words.index("--wheel-dir") + 1])
        (folder / "half.txt").touch()
        if self._interrupted:
            raise KeyboardInterrupt
        if self._fails:
            on_line("CMake Error: could NOT find CUDAToolkit")
            return 1
        (folder / "llama_cpp_python-0.3.36-py3-none-any.whl").touch()
        return 0


def _wheel(cache: Path, options: tuple[str, ...] = _OPTIONS, name: str = "none") -> Path:
    return wheel_for(Path(sys.executable), "0.3.36", options, name, cache)


@pytest.fixture
def _has_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "missing_for_build", lambda _: [])


@pytest.mark.usefixtures("_has_compiler")
def test_that_a_wheel_is_built_once_for_each_set_of_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pip = _Pip()
    monkeypatch.setattr(wheel, "run_whole", pip)
    first = _wheel(tmp_path)
    assert _wheel(tmp_path) == first
    assert pip.builds == [" ".join(_OPTIONS)]
    other = ("-DGGML_RPC=ON", "-DGGML_CUDA=ON")
    second = _wheel(tmp_path, other, "cuda")
    assert second.parent != first.parent
    assert pip.builds[1:] == [" ".join(other)]
    monkeypatch.setattr(wheel, "compiler_identity", lambda _: "another compiler")
    assert _wheel(tmp_path).parent not in (first.parent, second.parent)


@pytest.mark.usefixtures("_has_compiler")
@pytest.mark.parametrize("ending", [SetupError, KeyboardInterrupt])
def test_that_a_build_that_ends_early_leaves_nothing_that_is_taken_for_a_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: type[BaseException]
) -> None:
    bad = _Pip(fails=ending is SetupError, interrupted=ending is KeyboardInterrupt)
    monkeypatch.setattr(wheel, "run_whole", bad)
    with pytest.raises(ending) as caught:
        _wheel(tmp_path, name="cuda")
    if ending is SetupError:
        assert "could NOT find CUDAToolkit" in str(caught.value)
        assert "GPU=none" in str(caught.value)
    assert not [path for path in (tmp_path / "wheels").iterdir() if path.is_dir()]
    monkeypatch.setattr(wheel, "run_whole", _Pip())
    assert _wheel(tmp_path).suffix == ".whl"


def test_that_a_missing_compiler_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(SetupError, match="apt-get install build-essential cmake"):
        _wheel(tmp_path)


def test_that_an_interrupt_ends_every_process_below() -> None:
    pids: list[int] = []

    def interrupt(line: str) -> None:
        pids.append(int(line))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_whole(["sh", "-c", "sleep 60 & echo $!; wait"], interrupt)
    gone, alive = psutil.wait_procs(
        [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], timeout=5
    )
    assert pids
    assert not alive, gone


def test_that_output_and_status_come_back(tmp_path: Path) -> None:
    lines: list[str] = []
    log = tmp_path / "log"
    command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert run_whole(command, lines.append, log=log) == 3
    assert lines == ["out", "err"]
    assert log.read_text() == "out\nerr\n"
    assert output_of(["sh", "-c", "echo yes"]) == "yes\n"
    assert output_of(["sh", "-c", "exit 1"]) is None
    assert output_of(["tunedeck-no-such-program"]) is None
    assert output_of(["sleep", "60"], timeout_s=0.05) is None
