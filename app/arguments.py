"""What may stand on the command line of ``tunedeck``.

Only the standard library, and parts of the program that need no more at import, so that a wrong
word is refused before anything is set up for it. Must not know what the commands do.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from app import inspect_command, profile_command
from app.experiments import (
    cli_bench,
    cli_compare,
    cli_history,
    cli_probe,
    cli_quality,
    cli_sweep,
    cli_tune,
    cli_users,
)
from app.experiments.cli_engine import add_model_options, add_profile_option
from app.importing import cli_import
from app.library import cli_drafts, cli_hub
from app.plain_output import printable
from app.quoting import Shell, own_shell
from engine_bridge.typed_text import quoted, whole_number, without_long_words

# The first one is what the window shows unasked.
TARGET_NAMES = (
    "llama serve", "llama-server", "llama-bench", "llama-preset", "llama-swap", "docker-run",
    "docker-compose", "systemd", "llama-cpp-python", "ollama", "vllm", "sglang", "tensorrt-llm",
    "lmstudio", "koboldcpp",
)  # fmt: skip
_DEFAULT_TARGET = "llama-server"
COMMANDS = (
    "plan",
    "export",
    "settings",
    "diagnostics",
    "tour",
    "bench",
    "sweep",
    "compare",
    "history",
    "quality",
    "probe",
    "users",
    "tune",
    "profile",
    "inspect",
    "import",
    "hub",
    "drafts",
)
# Each adds its own parser.
_EXPERIMENTS = (
    cli_bench, cli_sweep, cli_compare, cli_history, cli_quality, cli_probe, cli_users, cli_tune,
)  # fmt: skip
_COMMAND = "COMMAND"
_MODEL_ENDING = ".gguf"
_WRONG_STATUS = 2
_UNKNOWN_COMMAND = re.compile(rf"argument {_COMMAND}: invalid choice: ['\"](.*?)['\"] ")


class _WrongWordsError(Exception):
    """The command line cannot be read; the message says why, and where the right words are."""


class _Parser(argparse.ArgumentParser):
    """Refuses in a sentence."""

    def __init__(self, *words: Any, **named: Any) -> None:  # noqa: ANN401, those of argparse
        """Read as ``argparse`` does, but for numbers of thousands of digits."""
        super().__init__(*words, **named)
        self.register("type", int, whole_number)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where the right words are told."""
        found = _UNKNOWN_COMMAND.match(message)
        if found is None:
            sentence = without_long_words(f"{message[:1].upper()}{message[1:]}.")
        else:
            sentence = f"There is no command {quoted(found[1])}.{_nearest(found[1])}"
        raise _WrongWordsError(f"{sentence} `{self.prog} --help` says what can be asked for.")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read ``words`` (those of the process by default); ``command`` is None for the window.

    Raises:
        SystemExit: With status 2 where they are wrong, with 0 where help was asked for; it is said.
    """
    told = _with_model_named(sys.argv[1:] if words is None else words)
    try:
        return _parser().parse_args(told)
    except _WrongWordsError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        if "--json" in told:
            sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
            sys.stdout.flush()
        raise SystemExit(_WRONG_STATUS) from None


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="tunedeck",
        description="A mixing desk for a local model. Without a command, the window opens.",
    )
    parser.set_defaults(command=None, model=None, set=[], theme=None)
    _add_window_options(parser)
    commands = parser.add_subparsers(dest="command", metavar=_COMMAND)

    plan = commands.add_parser("plan", help="memory that a model would take with some settings")
    add_model_options(plan)
    plan.add_argument("--json", action="store_true", help="print one JSON object")

    export = commands.add_parser("export", help="the settings as another engine's command line")
    add_model_options(export)
    export.add_argument("--to", choices=TARGET_NAMES, default=_DEFAULT_TARGET)
    export.add_argument(
        "--shell",
        choices=tuple(str(shell) for shell in Shell),
        default=str(own_shell()),
        help="who will read the line (%(default)s by default)",
    )
    export.add_argument("--lines", action="store_true", help="a line for each flag")
    export.add_argument(
        "--out",
        type=_folder,
        metavar="FOLDER",
        help="write the files there, over none that is there",
    )
    export.add_argument("--json", action="store_true", help="print one JSON object")

    settings = commands.add_parser("settings", help="list what can be set")
    settings.add_argument("--json", action="store_true", help="print one JSON list")

    diagnostics = commands.add_parser(
        "diagnostics", help="versions, hardware and settings for whoever helps; no names, no chats"
    )
    diagnostics.add_argument("--json", action="store_true", help="print one JSON object")

    tour = commands.add_parser("tour", help="drive a scripted session and save its pictures")
    tour.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    tour.add_argument("--model", help="GGUF file (the demo model by default)")
    tour.add_argument("--theme", choices=("dark", "light"), default="dark")
    tour.add_argument("--size", default="1440x900", help="width x height of the window")

    profile_command.add_parser(commands)
    inspect_command.add_parser(commands)
    for experiment in _EXPERIMENTS:
        experiment.add_parser(commands)
    cli_import.add_parser(commands)
    cli_hub.add_parser(commands)
    cli_drafts.add_parser(commands)
    return parser


def _with_model_named(words: Sequence[str]) -> Sequence[str]:
    """A model's file in the first place is opened in the window, as by ``--model``."""
    if words and words[0].lower().endswith(_MODEL_ENDING) and not words[0].startswith("-"):
        return ["--model", *words]
    return words


def _add_window_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", help="GGUF file to load at the start; the word is not needed in the first place"
    )
    add_profile_option(parser)
    parser.add_argument(
        "--theme",
        choices=("dark", "light"),
        help="pin the colours; the system's are followed otherwise",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )


def _folder(text: str) -> Path:
    """A folder's name; an empty one, as of a variable that was never set, is no folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a folder's name is empty")
    return Path(text)


def _nearest(word: str) -> str:
    near = difflib.get_close_matches(word, COMMANDS, 1)
    return f" Did you mean {near[0]!r}?" if near else ""
