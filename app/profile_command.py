"""``tunedeck profile``: settings saved under a name, without the window.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from pathlib import Path

_MODEL_HELP = "the GGUF file that it is for; without one it is for all models"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "profile", help="settings saved under a name: list, show, save, export, import, delete"
    )
    # Without an action all are listed.
    parser.set_defaults(json=False, model=None)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")

    listing = actions.add_parser("list", help="a line for each")
    listing.add_argument("--model", metavar="FILE", help="only those that this GGUF file can have")

    _with_name(actions, "show", "the settings of one, and what of it has no effect here")

    save = _with_name(actions, "save", "keep settings under a new name")
    save.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )

    export = _with_name(actions, "export", "write one to a file")
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file")
    export.add_argument(
        "--force", action="store_true", help="replace the file if there is one of that name"
    )

    bring = actions.add_parser("import", help="keep what another machine exported")
    bring.add_argument("files", nargs="+", type=Path, metavar="FILE")
    bring.set_defaults(model=None)

    _with_name(actions, "delete", "take one away; its file is kept for 30 days")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.profile_deeds import run_action  # noqa: PLC0415

    return run_action(arguments)


def _with_name(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--model", metavar="FILE", help=_MODEL_HELP)
    return parser
