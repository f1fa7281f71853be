"""What a process is asked and answers of the chat template in a file that nobody has loaded.

See ``engine_bridge.child.template_once``. Pure values.
"""

from __future__ import annotations

import msgspec

from engine_bridge.protocol import ChatMessage, TemplateChecked


class TemplateQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and what its template is to be tried on.

    Attributes:
        path: The file; of a split model part 1.
        messages: The sample.
    """

    path: str
    messages: tuple[ChatMessage, ...]


class TemplateSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer.

    Attributes:
        characters: Length of the template that was tried; 0 where there is none.
        name: Which one it is of those that have a name; empty for the usual one.
        others: Names of further templates in the file.
        checked: What came of it; None where there is no template.
        problem: Why the file could not be read, in a sentence; empty where it could.
    """

    characters: int = 0
    name: str = ""
    others: tuple[str, ...] = ()
    checked: TemplateChecked | None = None
    problem: str = ""
