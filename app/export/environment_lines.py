"""Variables for a program, as the lines of a shell or of a file.

Must not know any variable.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.quoting import Shell, quote


def before_program(
    variables: Mapping[str, str],
    program: tuple[str, ...],
    shell: Shell,
    *,
    is_broken: bool = False,
) -> str:
    """What starts ``program`` with ``variables``, without a newline at its end.

    A POSIX shell sets them for the program alone; cmd and PowerShell for all that is started there
    afterwards, with a line for each.

    Args:
        variables: Their values are words of letters, digits and ``_,.:-``.
        program: The program with its words.
        shell: Who will read it.
        is_broken: Whether a line that holds several is to be broken, where that is possible.
    """
    command = quote(program, shell)
    if shell is Shell.POSIX:
        parts = [*(f"{name}={value}" for name, value in variables.items()), command]
        return (" \\\n  " if is_broken else " ").join(parts)
    if shell is Shell.CMD:
        return "\n".join([*(f'set "{name}={value}"' for name, value in variables.items()), command])
    return "\n".join([*(f"$env:{name} = '{value}'" for name, value in variables.items()), command])


def as_file(variables: Mapping[str, str]) -> str:
    """A line ``NAME=value`` for each, as systemd and containers read such files."""
    return "".join(f"{name}={value}\n" for name, value in variables.items())
