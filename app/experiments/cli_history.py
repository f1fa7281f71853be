"""``tunedeck history``: experiments listed, shown, compared, exported, tagged, deleted.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

# Kept beside the types they stand for by a test: importing those takes the whole program.
KINDS = ("bench", "sweep", "compare", "users", "tune", "quality", "probe")
STATES = ("running", "done", "stopped", "failed", "cut")
ORDERS = {
    "time": "key", "kind": "kind", "state": "state", "title": "title", "model": "model",
    "ttft": "ttft_s", "tpot": "tpot_s", "prefill": "prefill_tok_s", "throughput": "total_tok_s",
    "goodput": "goodput_req_s", "memory": "owned_bytes",
}  # fmt: skip
EXPORTS = ("csv", "json", "markdown", "card")

_KEY_HELP = "key of an experiment, or so much of its beginning or end that it is the only one"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "history", help="experiments that were done: list, show, compare, export, tag, delete"
    )
    # Without an action the list is shown: its options are taken with and without the word.
    _add_list_options(parser, is_whole=True)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="a line or two for each, newest first")
    _add_list_options(listing, is_whole=False)

    show = _with_key(actions, "show", "all there is to say of one")
    show.add_argument("--explain", action="store_true", help="add what each figure means")

    compare = actions.add_parser(
        "compare", help="which settings of two differ, and whether their figures do"
    )
    compare.add_argument("first", metavar="A", help=_KEY_HELP)
    compare.add_argument("second", metavar="B", help="another one")
    _add_json(compare)

    export = _with_key(actions, "export", "write one as CSV, JSON, Markdown or a picture")
    export.add_argument(
        "--as", dest="form", choices=EXPORTS, help="by the file's ending, or else markdown"
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="the terminal by default")
    export.add_argument(
        "--force", action="store_true", help="replace the file if there is one of that name"
    )
    export.add_argument(
        "--theme", choices=("dark", "light"), default="dark", help="colours of the picture"
    )

    tag = _with_key(actions, "tag", "add tags to one, or show them")
    tag.add_argument("tags", nargs="*", metavar="TAG")
    tag.add_argument("--remove", action="store_true", help="take these tags away instead")

    note = _with_key(actions, "note", "write the note of one, or show it")
    note.add_argument("text", nargs="?", metavar="TEXT", help="“-” reads it from the input")

    for name, text in (
        ("delete", "move some to the bin, for 30 days"),
        ("restore", "bring some back from the bin"),
    ):
        several = actions.add_parser(name, help=text)
        several.add_argument("keys", nargs="+", metavar="KEY", help=_KEY_HELP)
        _add_json(several)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.history_commands import run_action  # noqa: PLC0415

    return run_action(arguments)


def _with_key(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text)
    parser.add_argument("key", metavar="KEY", help=_KEY_HELP)
    _add_json(parser)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    # What stands before the action counts as well.
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object"
    )


def _add_list_options(parser: argparse.ArgumentParser, *, is_whole: bool) -> None:
    """Options of the list.

    Args:
        parser: Of the command, or of its action ``list``.
        is_whole: Whether defaults are set: those of an action would overwrite what stands before
            it.
    """

    def add(flag: str, **options: object) -> None:
        default = options.pop("default", None)
        options["default"] = default if is_whole else argparse.SUPPRESS
        parser.add_argument(flag, **options)  # type: ignore[arg-type]

    if is_whole:
        parser.set_defaults(words=[])
    else:
        parser.add_argument(
            "words", nargs="*", metavar="WORD",
            help="must stand in title, machine, model, settings, tags or note, each of them",
        )  # fmt: skip
    add(
        "--kind",
        action="append",
        choices=KINDS,
        metavar="KIND",
        help=f"{', '.join(KINDS)}; repeatable",
    )
    add(
        "--state",
        action="append",
        choices=STATES,
        metavar="STATE",
        help=f"{', '.join(STATES)}; repeatable",
    )
    add(
        "--model",
        action="append",
        metavar="WORDS",
        help="models with these words in their name; repeatable",
    )
    add("--tag", metavar="TAG", help="only those with this tag")
    add("--since", type=_day, metavar="DATE", help="begun on that day or later, e.g. 2026-11-30")
    add("--until", type=_day, metavar="DATE", help="begun on that day or earlier")
    add(
        "--order",
        choices=tuple(ORDERS),
        default="time",
        metavar="BY",
        help=", ".join(ORDERS),
    )
    add("--ascending", action="store_true", default=False, help="oldest or smallest first")
    add(
        "--limit",
        type=_count,
        metavar="N",
        help="at most so many; 0 for all (20 by default, all with --json)",
    )
    add("--deleted", action="store_true", default=False, help="those in the bin")
    add("--json", action="store_true", default=False, help="print one JSON object")


def _day(text: str) -> date:
    from engine_bridge.typed_text import quoted  # noqa: PLC0415

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no date such as 2026-11-30") from None


def _count(text: str) -> int:
    from engine_bridge.typed_text import quoted, whole_number  # noqa: PLC0415

    try:
        number = whole_number(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no number of experiments")
    return number
