"""``tunedeck hub``: models elsewhere, found, judged before a download, and downloaded.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse

# Kept beside the type they stand for by a test.
SORTS = ("downloads", "likes", "updated", "trending")
_REPO_HELP = "a repository, written owner/name"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "hub", help="models on the hub: search, what each would take here, download"
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    search = actions.add_parser("search", help="repositories with GGUF files")
    search.add_argument("words", nargs="*", metavar="WORD", help="that their names have in them")
    search.add_argument("--sort", choices=SORTS, default=SORTS[0], help="what stands first")
    search.add_argument("--most", type=int, default=20, metavar="N", help="%(default)s by default")

    show = actions.add_parser("show", help="the models of a repository, by quantisation")
    show.add_argument("repo", metavar="REPO", help=_REPO_HELP)
    show.add_argument(
        "names", nargs="*", metavar="QUANTISATION",
        help="those to judge: memory on this machine, by the header alone (some MB each)",
    )  # fmt: skip
    show.add_argument("--fit", action="store_true", help="judge all of them")
    show.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )

    download = actions.add_parser(
        "download", help="into the hub's cache; one that was ended goes on where it was"
    )
    download.add_argument("repo", metavar="REPO", help=_REPO_HELP)
    download.add_argument("name", metavar="QUANTISATION", help="such as Q4_K_M")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.library.hub_commands import run_action  # noqa: PLC0415 - its client takes a second

    return run_action(arguments)
