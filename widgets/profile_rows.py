"""What is shown of profiles: one row in the menu and in the list, and two side by side. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# In the place of a profile's id: the settings as they stand now.
NOW = "now"


@dataclass(frozen=True)
class ProfileRow:
    """One profile.

    Attributes:
        id: Its identity.
        name: As a person gave it.
        group: The heading that it stands under.
        cost: What switching costs, e.g. ``new context 0.3 s``; empty for nothing.
        tip: What it is, sentences.
        why_not: Why it cannot be switched to now; empty where it can.
        is_chosen: Whether it is the one in use.
        is_built_in: Whether nobody can change it.
    """

    id: str
    name: str
    group: str
    cost: str = ""
    tip: str = ""
    why_not: str = ""
    is_chosen: bool = False
    is_built_in: bool = False


@dataclass(frozen=True)
class ComparedSetting:
    """One setting in which two configurations differ.

    Attributes:
        key: For outsiders.
        label: For people.
        before: Its value in the first, with its unit.
        after: Its value in the second, with its unit.
        cost: What the change of this setting costs.
    """

    key: str
    label: str
    before: str
    after: str
    cost: str


@dataclass(frozen=True)
class ProfileSheet:
    """A profile beside something else.

    Attributes:
        id: Of the profile.
        title: Its name.
        about: Whom it is for, when it was saved, where it comes from; sentences.
        caution: What of it has no effect here; empty where all has.
        other: Id of what it is compared with, or ``NOW``.
        before: Name of that, over the column of its values.
        settings: What differs.
        total: What going from the other to the profile costs, a sentence.
    """

    id: str
    title: str
    about: str
    caution: str
    other: str
    before: str
    settings: Sequence[ComparedSetting]
    total: str
