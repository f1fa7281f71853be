"""``tunedeck import``: settings from a command line or a file of another program.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse

COMMAND = "import"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        COMMAND, help="settings from another program's command line or file"
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a text with commands, or a compose, systemd, YAML, INI, Modelfile or .kcpps file; "
        "“-” reads it from the input",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.importing.import_command import run_import  # noqa: PLC0415

    return run_import(arguments.file, as_json=arguments.json)
