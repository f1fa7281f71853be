"""Settings as words of a command line: ``--set key=value``.

Only the standard library, so that a wrong word is refused before anything is set up for it.
"""

from __future__ import annotations

import difflib

from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.table import BY_KEY
from engine_bridge.typed_text import quoted


def parse_assignments(assignments: list[str]) -> dict[str, object]:
    """Read ``key=value`` words as ``--set`` takes them.

    Raises:
        DomainError: For a word without ``=``, an unknown key or a value outside its domain.
    """
    values: dict[str, object] = {}
    for word in assignments:
        key, found, text = word.partition("=")
        if not found:
            raise DomainError(f"--set takes key=value; {quoted(word)} has no '='.")
        setting = BY_KEY.get(key.strip())
        if setting is None:
            raise DomainError(unknown_key_sentence(key.strip()))
        try:
            values[setting.key] = setting.domain.parse(text)
        except DomainError as error:
            raise DomainError(f"{setting.label} ({setting.key}): {error}") from None
    return values


def unknown_key_sentence(key: str) -> str:
    """What to tell somebody who asks for a setting that there is none of."""
    near = difflib.get_close_matches(key, BY_KEY, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else " `tunedeck settings` lists them."
    return f"There is no setting {quoted(key)}.{hint}"
