"""Two experiments side by side, as plain data: words and figures ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparisonRow:
    """A line of a table.

    Attributes:
        name: Of the setting or the figure.
        first: What A has.
        second: What B has.
        unit: Behind both; may be empty.
        outcome: What is claimed of B: ``better``, ``worse``, ``none``, ``unknown``; empty for
            settings.
        sentence: The claim with its interval; may be empty.
        change: How much more or less B has, in per cent with its sign; may be empty.
    """

    name: str
    first: str
    second: str
    unit: str = ""
    outcome: str = ""
    sentence: str = ""
    change: str = ""


@dataclass(frozen=True)
class ComparisonPair:
    """A configuration of A and one of B.

    Attributes:
        name: What the choice of pairs calls it.
        settings: What differs between them; empty where nothing does.
        figures: Side by side.
        about: Which configurations of both they are, in sentences; empty where that is plain.
        sentences: What is to be said of all figures at once, such as that the runs are too few.
    """

    name: str
    settings: tuple[ComparisonRow, ...]
    figures: tuple[ComparisonRow, ...]
    sentences: tuple[str, ...] = ()
    about: str = ""


@dataclass(frozen=True)
class ComparisonSheet:
    """Two experiments.

    Attributes:
        first_key: Of A.
        second_key: Of B.
        first: Title of A.
        second: Title of B.
        first_when: Kind and model of A, and when it began.
        second_when: The same of B.
        cautions: Why figures may not be comparable.
        about: What differs in machine, engine, model and work.
        pairs: Configurations that are compared.
    """

    first_key: str
    second_key: str
    first: str
    second: str
    first_when: str
    second_when: str
    cautions: tuple[str, ...]
    about: tuple[ComparisonRow, ...]
    pairs: tuple[ComparisonPair, ...]
