"""``tunedeck hub``: models elsewhere, found, judged before a download, and downloaded.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from typing import Any

from app.library.parameter_counts import parameters_text, parse_parameters

# Kept beside the type they stand for by a test.
SORTS = ("downloads", "likes", "updated", "trending", "smallest", "largest")
_REPO_HELP = "a repository, written owner/name"


class _Bound(argparse.Action):
    """One end of a range, which must not lie beyond the other."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,  # noqa: ANN401 - as its type made it
        option_string: str | None = None,
    ) -> None:
        """Keep it."""
        setattr(namespace, self.dest, values)
        least, most = namespace.min_parameters, namespace.max_parameters
        if 0 < most < least:
            words = f"no number is from {parameters_text(least)} to {parameters_text(most)}"
            raise argparse.ArgumentError(self, words)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "hub", help="models on the hub: search, what each would take here, download"
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    search = actions.add_parser("search", help="repositories with GGUF files")
    search.add_argument("words", nargs="*", metavar="WORD", help="that their names have in them")
    search.add_argument(
        "--sort",
        choices=SORTS,
        default=SORTS[0],
        help="what stands first; smallest and largest order those downloaded most",
    )
    search.add_argument(
        "--architecture",
        default="",
        metavar="NAME",
        help="as GGUF files say it, such as qwen3, or 'qwen*' for all that begin so",
    )
    search.add_argument(
        "--quantisation",
        default="",
        metavar="NAME",
        help="that a repository must hold, such as Q4_K_M, or 'Q4*' for all that begin so",
    )
    for bound, what in (("min", "at least"), ("max", "at most")):
        search.add_argument(
            f"--{bound}-parameters",
            action=_Bound,
            type=_parameters,
            default=0,
            metavar="COUNT",
            help=f"{what} so many weights, written 7B, 1.5B or 500M",
        )
    search.add_argument("--most", type=int, default=20, metavar="N", help="%(default)s by default")
    search.epilog = (
        "Architecture and quantisation are compared here, among at most 1,000 repositories that "
        "the hub tells of; how many were looked through is said at the end."
    )

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

    drafts = actions.add_parser(
        "drafts",
        help="what can draft for a model on this machine, checked by headers before a download",
        description="Looks for smaller relatives of MODEL and for heads made for it, reads the "
        "header of each, some MB, and compares its vocabulary with the model's as llama.cpp does. "
        "`tunedeck drafts MODEL` says the same of the models on this machine.",
    )
    drafts.add_argument("model", metavar="MODEL", help="the GGUF file that is drafted for")
    drafts.add_argument(
        "--most", type=int, default=8, metavar="N",
        help="how many repositories are looked into, %(default)s by default",
    )  # fmt: skip

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


def _parameters(text: str) -> int:
    """A number of weights, or a sentence for the person who wrote it."""
    try:
        return parse_parameters(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
