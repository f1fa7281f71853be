"""A list of free texts as the value of a setting, each text read by a check of its own.

Knows how such a list is written in one line; what an item may say is ``placement_items``'s.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass

from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted

# More than any line of a person holds; bounds what a file may ask for.
MOST_ITEMS = 64
LONGEST_ITEM = 1024


@dataclass(frozen=True)
class ItemsDomain:
    """Several texts in order, none twice unless ``repeats``.

    Attributes:
        item: What one item is, in words: ``a device``.
        check_item: Returns the item as it is kept, or raises ``DomainError`` with a sentence.
        examples: Items that may be set, for the field and for tests.
        empty: The word for the empty list.
        repeats: Whether an item may stand twice.
    """

    item: str
    check_item: Callable[[str], str]
    examples: tuple[str, ...]
    empty: str = "none"
    repeats: bool = False

    def check(self, value: object) -> tuple[str, ...]:
        """Return ``value`` as a tuple if every item is allowed; numbers count as their text.

        Raises:
            DomainError: If it is no list, too long, or an item is not allowed.
        """
        if isinstance(value, str) or not isinstance(value, (tuple, list)):
            raise DomainError(f"{quoted(value)} is not a list of which each item is {self.item}.")
        if len(value) > MOST_ITEMS:
            raise DomainError(f"{len(value)} items are too many; {MOST_ITEMS} is the most.")
        items = tuple(self._checked(item) for item in value)
        if not self.repeats and len(set(items)) != len(items):
            raise DomainError(f"{self.format(items)} names one twice.")
        return items

    def _checked(self, item: object) -> str:
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            item = f"{item:g}"
        if not isinstance(item, str):
            raise DomainError(f"{quoted(item)} is not {self.item}.")
        text = item.strip()
        if len(text) > LONGEST_ITEM:
            raise DomainError(f"{quoted(text)} is too long; {LONGEST_ITEM} characters is the most.")
        if not text or text == self.empty:
            raise DomainError(f"{quoted(item)} is not {self.item}.")
        if any(not character.isprintable() for character in text):
            raise DomainError(f"{quoted(text)} holds characters that cannot be written in a line.")
        return self.check_item(text)

    def parse(self, text: str) -> tuple[str, ...]:
        """Read items separated by commas; an item that holds one stands in double quotes.

        Raises:
            DomainError: If an item is not allowed.
        """
        cleaned = text.strip()
        if not cleaned or cleaned.lower() == self.empty:
            return ()
        if "\n" in cleaned or "\r" in cleaned:
            raise DomainError("A list stands in one line, its items separated by commas.")
        try:
            items = next(csv.reader([cleaned], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise DomainError(f"{quoted(text)} cannot be read as a list ({error}).") from None
        return self.check(tuple(items))

    def format(self, value: object) -> str:
        """The value as ``parse`` reads it."""
        if not isinstance(value, tuple) or not value:
            return self.empty
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        return line.getvalue()

    def describe(self) -> str:
        """What may be set, in words."""
        return f"{self.empty}, or several separated by commas, each {self.item}"
