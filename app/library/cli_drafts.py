"""``tunedeck drafts``: which models on this machine can draft for one, and why others cannot.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "drafts",
        help="which models on this machine can draft for one, and why others cannot",
        description="Compares the vocabulary of each model on this machine with that of MODEL, as "
        "llama.cpp does before it lets one draft for the other. `tunedeck hub drafts MODEL` looks "
        "on the hub.",
    )
    parser.add_argument("model", metavar="MODEL", help="the GGUF file that is drafted for")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.library.draft_commands import tell_local_drafts  # noqa: PLC0415

    return tell_local_drafts(arguments)
