"""``python3 -m bootstrap COMMAND``: what ``make`` calls."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from app.arguments import parse_arguments
from bootstrap.environment import Environment
from bootstrap.gpu import REQUESTS, TOOLCHAIN_FOLDERS, choice_for
from bootstrap.process import run_whole
from bootstrap.say import SetupError, say
from bootstrap.system import (
    Missing,
    missing_for_build,
    missing_for_qt,
    missing_for_venv,
    refuse_if_missing,
    refuse_without_display,
)
from bootstrap.wheel import user_cache_folder
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.domain import DomainError

ROOT = Path(__file__).resolve().parent.parent
_INTERRUPTED = 130


def main() -> int:
    """Do one command; returns the exit status."""
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # not for the make that cmake may call
        os.environ.pop(name, None)
    found = [folder for folder in TOOLCHAIN_FOLDERS if Path(folder).is_dir()]
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), *found])
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "run": _run,
        "test": _test,
        "check": _check,
        "bench": _bench,
        "bench-gauges": _bench_gauges,
        "bench-quality": _bench_quality,
        "bench-tuner": _bench_tuner,
        "chaos": _chaos,
        "gpu-proof": _gpu_proof,
        "setup": _set_up_only,
        "gpu": _say_gpu,
        "missing-packages": _say_missing,
    }
    try:
        return commands[arguments.command](arguments)
    except SetupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; the same command goes on from here.\n")
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m bootstrap", description=__doc__)
    names = [
        "run",
        "test",
        "check",
        "bench",
        "bench-gauges",
        "bench-quality",
        "bench-tuner",
        "chaos",
        "gpu-proof",
        "setup",
        "gpu",
        "missing-packages",
    ]
    parser.add_argument("command", choices=names)
    parser.add_argument("--gpu", default="auto", help=f"one of {', '.join(REQUESTS)}")
    parser.add_argument(
        "rest", nargs=argparse.REMAINDER, help="arguments of tunedeck, pytest, the benches or chaos"
    )
    return parser


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _set_up(gpu: str, extras: tuple[str, ...], *, with_window: bool) -> Environment:
    cache = user_cache_folder()
    missing = missing_for_qt(os.environ, with_window=with_window)
    if not (ROOT / ".venv").exists():  # all at once, not one more at each try
        missing += missing_for_venv()
    if not any((cache / "wheels").glob("*/*.whl")):
        missing += missing_for_build(os.environ)
    refuse_if_missing(missing, "TuneDeck")
    environment = Environment(ROOT, cache)
    environment.ensure(extras, choice_for(gpu, os.environ))
    return environment


def _run(arguments: argparse.Namespace) -> int:
    # A wrong word is refused before a display is missed or anything is built.
    asked = parse_arguments(arguments.rest)
    try:
        parse_assignments(asked.set)
    except DomainError as error:
        raise SetupError(str(error)) from None
    has_window = asked.command is None
    if has_window:
        refuse_without_display()
    environment = _set_up(arguments.gpu, ("demo",), with_window=has_window)
    if not arguments.rest:
        say("Looking for the demo model.")
        # Without one the window still opens, and offers to open a file.
        run_whole([str(environment.python), "-m", "app.library.demo_model"], folder=ROOT)
        say("Opening the window.")
    return _become(environment, ["-m", "app", *arguments.rest])


def _test(arguments: argparse.Namespace) -> int:
    environment = _set_up(arguments.gpu, ("demo", "test"), with_window=False)
    return _become(environment, ["-m", "pytest", "-m", "not bench", *arguments.rest])


def _check(arguments: argparse.Namespace) -> int:
    environment = _set_up(arguments.gpu, ("demo", "test"), with_window=False)
    binaries = environment.python.parent
    steps = [
        [str(binaries / "ruff"), "check", "."],
        [str(binaries / "ruff"), "format", "--check", "."],
        [str(environment.python), "-m", "mypy"],
        [str(binaries / "lint-imports")],
        [str(environment.python), "-m", "pytest", "-q", "tests/unit", *arguments.rest],
    ]
    failed = [_step_text(step) for step in steps if _step(step)]
    if failed:
        say(f"make check failed: {'; '.join(failed)}")
    return 1 if failed else 0


def _step(command: list[str]) -> int:
    say(f"$ {_step_text(command)}")
    return run_whole(command, folder=ROOT)


def _step_text(command: list[str]) -> str:
    return " ".join([Path(command[0]).name, *command[1:]])


def _bench(arguments: argparse.Namespace) -> int:
    return _become_bench(arguments, "tests.bench")


def _bench_gauges(arguments: argparse.Namespace) -> int:
    return _become_bench(arguments, "tests.bench.gauges")


def _bench_quality(arguments: argparse.Namespace) -> int:
    return _become_bench(arguments, "tests.bench.quality")


def _bench_tuner(arguments: argparse.Namespace) -> int:
    return _become_bench(arguments, "tests.bench.tuner")


def _become_bench(arguments: argparse.Namespace, module: str) -> int:
    environment = _set_up(arguments.gpu, ("demo", "test", "bench"), with_window=False)
    os.environ["TUNEDECK_FETCH"] = "1"
    return _become(environment, ["-m", module, *arguments.rest])


def _gpu_proof(arguments: argparse.Namespace) -> int:
    """Pack what a GPU machine needs; without a GPU (``GPU=none``) do there what it would do."""
    environment = _set_up(arguments.gpu, ("demo", "test", "bench"), with_window=False)
    is_tried_here = ["--run"] if arguments.gpu == "none" else []
    return _become(environment, ["-m", "tests.proof.pack", *is_tried_here, *arguments.rest])


def _chaos(arguments: argparse.Namespace) -> int:
    environment = _set_up(arguments.gpu, ("demo", "test"), with_window=False)
    return _become(environment, ["-m", "tests.chaos", *arguments.rest])


def _set_up_only(arguments: argparse.Namespace) -> int:
    _set_up(arguments.gpu, ("demo", "test", "bench"), with_window=False)
    return 0


def _say_gpu(arguments: argparse.Namespace) -> int:
    choice = choice_for(arguments.gpu, os.environ)
    for sentence in (*choice.sentences, f"cmake options: {' '.join(choice.cmake_options)}"):
        say(sentence)
    return 0


def _say_missing(_: argparse.Namespace) -> int:
    """Debian's names of the packages that tests would miss here, one a line."""
    found: list[Missing] = [
        *missing_for_venv(),
        *missing_for_build(os.environ),
        *missing_for_qt({"DISPLAY": ":0"}, with_window=True),
    ]
    for package in dict.fromkeys(missing.package for missing in found):
        say(package)
    return 0


def _become(environment: Environment, arguments: list[str]) -> int:  # noqa: RET503
    """Replace this process, so that signals and the exit status need no passing on."""
    os.chdir(ROOT)
    if sys.platform == "win32":  # there a process cannot be replaced, only left
        return subprocess.call([str(environment.python), *arguments])
    os.execv(environment.python, [str(environment.python), *arguments])


if __name__ == "__main__":
    sys.exit(main())
