"""What an experiment's command says of what it is going to do, and ``--plan``, which only says it.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.planned import Planned


def add_plan_option(parser: argparse.ArgumentParser) -> None:
    """Let a command take ``--plan``."""
    parser.add_argument(
        "--plan", action="store_true", help="say what would be measured, and measure nothing"
    )


def tell_plan(planned: Planned, arguments: argparse.Namespace) -> bool:
    """Say what is going to be done; gives whether that is all that was asked for.

    With ``--plan`` it is the output, as one JSON object with ``--json``; else it stands above the
    progress, on the error stream.
    """
    from app.experiments.text_layout import wrapped  # noqa: PLC0415
    from app.json_output import write_json  # noqa: PLC0415
    from app.plain_output import printable  # noqa: PLC0415

    if not arguments.plan:
        sys.stderr.write(f"{printable(planned.sentence)}\n")
    elif arguments.json:
        write_json(planned, sys.stdout)
    else:
        lines = wrapped(planned.sentence)
        for name, reason in planned.left_out.items():
            lines += wrapped(f"{name}: {reason}", mark="left out ")
        sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return bool(arguments.plan)
