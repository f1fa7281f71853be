"""The options by which every command of experiments takes its workload.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.workload import Workload

# Told in the help before anything else is imported; a test compares it with the presets.
PRESET_NAMES = ("chat", "rag", "coding-agent", "batch")


def add_workload_options(parser: argparse.ArgumentParser) -> None:
    """Let a command take ``--workload`` and ``--set-workload``."""
    parser.add_argument(
        "--workload",
        default=PRESET_NAMES[0],
        metavar="NAME|FILE",
        help=f"{', '.join(PRESET_NAMES)} (%(default)s by default), a workload in a JSON file, or "
        "a conversation exported as JSON, which is replayed",
    )
    parser.add_argument(
        "--set-workload",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a value of the workload, such as users=4, prompt_tok=uniform:100:400, seed=2 or "
        "text_path=FILE for a text of your own; repeatable",
    )


def workload_in(arguments: argparse.Namespace) -> Workload:
    """The workload that a command line asks for.

    Raises:
        WorkloadError: If there is no such workload, or it cannot be used.
    """
    from app.experiments.workload_words import workload_of  # noqa: PLC0415

    return workload_of([arguments.workload, *arguments.set_workload])
