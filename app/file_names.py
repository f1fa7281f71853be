"""A file name out of words that a person wrote, for every file system there is. Pure."""

from __future__ import annotations

import re

_MOST_CHARACTERS = 80
# ext4 and APFS take 255 bytes; an ending and a number that a dialog adds must fit as well.
_MOST_BYTES = 200
# Of Windows and of paths; also what cannot be seen, and what turns the direction of writing.
_UNSAFE = re.compile(
    r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+'
)
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)


def safe_file_name(words: str, otherwise: str) -> str:
    """``words`` as the name of a file without its ending.

    Args:
        words: Of any kind and length.
        otherwise: The name where nothing of ``words`` can be used.
    """
    name = " ".join(_UNSAFE.sub(" ", words).split())[:_MOST_CHARACTERS]
    name = name.encode()[:_MOST_BYTES].decode(errors="ignore")
    # Hidden on some systems at the beginning, dropped by others at the end.
    name = name.strip(" .")
    if not name:
        return otherwise
    return f"_{name}" if _RESERVED.match(name) else name
