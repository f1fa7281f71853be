"""``tunedeck inspect``: everything that a model's file says of itself, without loading it.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "inspect", help="what a model's file says of itself: shape, cache, tokens, oddities"
    )
    parser.add_argument("model", metavar="FILE", help="GGUF file; of a split model any part")
    parser.add_argument(
        "--template",
        action="store_true",
        help="its chat template on a sample, and what clients run into with it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.inspecting import inspect  # noqa: PLC0415

    return inspect(arguments)
