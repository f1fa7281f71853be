"""Services of OpenRC: scripts that set variables, by which OpenRC starts a program.

Knows the names of these variables; must not know any program's flags.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.call import Call
from app.importing.programs import family


def service_of(scalars: Mapping[str, str]) -> Call | None:
    """What a file of OpenRC starts, which sets ``command`` and ``command_args`` alone."""
    program = scalars.get("command", "")
    if "command_args" not in scalars or not family(program):
        return None
    return Call((program, *scalars["command_args"].split()), title=scalars.get("name", ""))
