"""What the system lacks is one sentence with the package's name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.arguments import COMMANDS, TARGET_NAMES, parse_arguments
from app.cli import _RUNS, main
from app.export.targets import TARGETS
from bootstrap import packages, system
from bootstrap.say import SetupError
from bootstrap.system import (
    ENGINE_LIBRARIES,
    QT_LIBRARIES,
    X11_LIBRARIES,
    Missing,
    missing_for_build,
    missing_for_qt,
    missing_for_venv,
    missing_libraries,
    refuse_if_missing,
    refuse_without_display,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def on_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "manager_here", lambda: packages.APT)


def _bootstrap(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables}
    return subprocess.run(
        # As the system's own Python, which has nothing that was installed for us.
        [sys.executable, "-S", "-m", "bootstrap", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_that_a_missing_library_is_named_with_its_package() -> None:
    def load(name: str) -> None:
        if name in ("libEGL.so.1", "libxcb-cursor.so.0"):
            raise OSError(f"{name}: cannot open shared object file")

    found = missing_libraries((*QT_LIBRARIES, *X11_LIBRARIES), load)
    assert [missing.package for missing in found] == ["libegl1", "libxcb-cursor0"]
    with pytest.raises(SetupError) as caught:
        refuse_if_missing(found, "TuneDeck")
    sentence = str(caught.value)
    assert "libEGL.so.1 and libxcb-cursor.so.0" in sentence
    assert "apt-get install libegl1 libxcb-cursor0" in sentence
    assert "\n" not in sentence


def test_that_the_real_loader_is_asked() -> None:
    ours, fantasy = ("libc.so.6", "libc6"), ("libtunedeck-fantasy.so.9", "fantasy9")
    if sys.platform != "linux":
        pytest.skip("libc.so.6 is Linux's name")
    assert missing_libraries([ours, fantasy]) == [Missing(*fantasy)]


def test_that_nothing_missing_is_no_error() -> None:
    refuse_if_missing([], "TuneDeck")


def test_that_libraries_of_the_window_system_count_only_where_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def missing(libraries: tuple[tuple[str, str], ...]) -> list[Missing]:
        asked.extend(name for name, _ in libraries)
        return []

    monkeypatch.setattr(system, "missing_libraries", missing)
    monkeypatch.setattr(sys, "platform", "linux")
    for environment, has_xcb in (
        ({"DISPLAY": ":0"}, True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "QT_QPA_PLATFORM": "xcb"}, True),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({}, False),
    ):
        asked.clear()
        missing_for_qt(environment, with_window=True)
        assert "libEGL.so.1" in asked
        assert ("libxcb-cursor.so.0" in asked) is has_xcb, environment
    asked.clear()
    missing_for_qt({"DISPLAY": ":0"}, with_window=False)
    assert "libxcb-cursor.so.0" not in asked


def test_that_a_compiler_and_cmake_are_asked_for() -> None:
    packages = [missing.package for missing in missing_for_build({}, lambda _: None)]
    assert packages == ["build-essential", "cmake"]
    assert missing_for_build({}, lambda name: f"/bin/{name}") == []
    only_clang = {"CC": "clang -m64", "CXX": "clang++"}
    found = missing_for_build(only_clang, lambda name: "x" if name != "cc" else None)
    assert found == []


def test_that_debian_s_split_of_venv_is_known() -> None:
    (missing,) = missing_for_venv(lambda name: None if name == "ensurepip" else object())
    assert missing.package.startswith("python3.")
    assert missing.package.endswith("-venv")
    assert missing_for_venv(lambda _: object()) == []


def test_that_fonts_are_looked_for(tmp_path: Path) -> None:
    assert not system.has_fonts([str(tmp_path), str(tmp_path / "absent")])
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Sans.ttf").touch()
    assert system.has_fonts([str(tmp_path)])


@pytest.mark.parametrize(
    ("environment", "is_refused"),
    [
        ({}, True),
        ({"DISPLAY": ""}, True),
        ({"DISPLAY": ":0"}, False),
        ({"WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"QT_QPA_PLATFORM": "offscreen"}, False),
    ],
)
def test_that_a_missing_display_is_said(environment: dict[str, str], is_refused: bool) -> None:
    if is_refused:
        with pytest.raises(SetupError, match="xvfb-run"):
            refuse_without_display(environment, "linux")
    else:
        refuse_without_display(environment, "linux")
    refuse_without_display(environment, "darwin")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plam"], "There is no command 'plam'. Did you mean 'plan'?"),
        (["bogus"], "There is no command 'bogus'. `tunedeck --help`"),
        (["--bogus"], "--bogus"),
        (["--theme", "pink"], "'pink'"),
        (["plan"], "model"),
    ],
)
def test_that_a_wrong_word_is_refused_before_a_display_is_missed(
    words: list[str], said: str
) -> None:
    done = _bootstrap("run", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "display" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("bogus=1", "There is no setting 'bogus'."),
        ("slot=2", "There is no setting 'slot'. Did you mean 'slots'?"),
        ("slots=many", "(slots):"),
        ("slots", "--set takes key=value; 'slots' has no '='."),
    ],
)
@pytest.mark.parametrize("command", [[], ["plan", "a.gguf"]])
def test_that_a_wrong_setting_is_refused_before_a_display_is_missed_or_anything_set_up(
    command: list[str], word: str, said: str
) -> None:
    done = _bootstrap("run", *command, "--set", word)
    assert done.returncode == 1
    assert said in done.stderr
    assert "display" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


def test_that_a_wrong_setting_is_refused_before_qt_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "app.main", None)  # as where a library of Qt is missing
    assert main(["--set", "bogus=1"]) == 1
    assert "There is no setting 'bogus'." in capsys.readouterr().err


def test_that_help_needs_neither_a_display_nor_a_set_up() -> None:
    done = _bootstrap("run", "--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], None),
        (["--model", "settings"], None),
        (["tour", "--out", "pictures"], "tour"),
        (["plan", "a.gguf"], "plan"),
        (["export", "a.gguf", "--to", "llama-server"], "export"),
        (["diagnostics", "--json"], "diagnostics"),
    ],
)
def test_that_only_a_line_without_a_command_opens_the_window(
    words: list[str], command: str | None
) -> None:
    assert parse_arguments(words).command == command


def test_that_the_command_line_knows_every_command_and_every_engine() -> None:
    assert set(_RUNS) == {None, *COMMANDS}
    assert tuple(TARGETS) == TARGET_NAMES
    for command in COMMANDS:
        with_model = (
            "plan", "export", "bench", "sweep", "compare", "quality", "users", "tune", "drafts",
            "inspect",
        )  # fmt: skip
        needed = {key: ["a.gguf"] for key in with_model}
        needed |= {"tour": ["--out", "pictures"], "probe": ["localhost:8080"]}
        needed |= {"import": ["-"], "hub": ["search", "gemma"]}
        assert parse_arguments([command, *needed.get(command, [])]).command == command


def test_that_the_engine_s_libraries_are_those_this_machine_runs_with() -> None:
    if sys.platform != "linux":
        pytest.skip("sonames are Linux's")
    assert missing_libraries(ENGINE_LIBRARIES) == []


def test_that_make_run_without_a_display_ends_in_one_sentence() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux can be without a display")
    done = _bootstrap("run")
    assert done.returncode == 1
    assert "xvfb-run -a make run" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


def test_that_an_unknown_gpu_ends_in_one_sentence() -> None:
    done = _bootstrap("--gpu", "opencl", "gpu")
    assert done.returncode == 1
    assert done.stderr.startswith("GPU=opencl is none of auto, none, metal")
    assert len(done.stderr.strip().splitlines()) == 1


def test_that_an_old_python_is_told_so() -> None:
    code = "import sys; sys.version_info = (3, 10, 12); import bootstrap"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("TuneDeck needs Python 3.11 or newer")
    assert "Traceback" not in done.stderr
