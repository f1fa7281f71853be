"""A pasted text on its way to what it means: runs in a thread, and opens nothing. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.import_sheets import MapSettings, Surroundings, Understood, understood
from app.importing.found import Found
from app.importing.text_error import TextError
from widgets.import_sheet import ImportSheet


@dataclass(frozen=True)
class Reader:
    """How a text is read.

    Attributes:
        find: The commands of a text, in its order, of which the second argument says the name of
            its file; raises ``TextError`` where nothing can be read.
        map_settings: Makes valid values of the desk's settings, or says why not.
    """

    find: Callable[[str, str], tuple[Found, ...]]
    map_settings: MapSettings


def read(
    reader: Reader,
    text: str,
    around: Surroundings,
    known: Understood | None = None,
    name: str = "",
) -> Understood:
    """What ``text`` says.

    Args:
        reader: How it is read.
        text: Any text.
        around: What it is held against.
        known: What was understood last; its commands are not read again of the same text.
        name: Of the file that it is from; empty where it was pasted.
    """
    if known is not None and known.text == text:
        found = known.found
    else:
        try:
            found = reader.find(text, name)
        except TextError as error:
            return Understood(text, (), (), ImportSheet(sentence=str(error)))
    return understood(text, found, around, reader.map_settings)
