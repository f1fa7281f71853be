"""What one row of the settings table says.

Knows the shape of a row; the rows themselves stand in ``table``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine_bridge.settings.domain import Domain, Value
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.text_domain import TextDomain, WordsDomain

# No published model was trained for more; also bounds what a dry run may be asked to build.
MAX_CONTEXT_TOK = 10_485_760


class Applies(StrEnum):
    """What it costs to change a setting while a model is loaded."""

    LIVE = "live"
    CONTEXT = "new context"
    RELOAD = "reload"

    @property
    def rank(self) -> int:
        """Order of cost, 0 (live) to 2 (reload)."""
        return list(Applies).index(self)


class Group(StrEnum):
    """Where the tune column shows a setting."""

    MODEL = "Model"
    MAIN = "Main"
    NGRAM = "N-gram drafts"
    DRAFT = "Draft model"
    CACHE = "Caches"
    PLACEMENT = "Placement"
    EXTRAS = "Adapters and metadata"
    BATCH = "Batch and threads"
    SAMPLING = "Sampling"
    MORE_SAMPLING = "More sampling"


@dataclass(frozen=True)
class Setting:
    """One thing that can be tuned; everything shown, checked or exported derives from it.

    Attributes:
        key: Name for outsiders: profiles, ``--set key=value``, the field of ``EngineConfig``.
        label: Name in the window, sentence case.
        domain: What values it may take.
        default: Value of a new desk; inside the domain.
        applies: What a change costs.
        affects_memory: Whether the planner has to be asked again.
        group: Section of the tune column.
        help: What it does and when to move it, one or two sentences.
        unit: Unit behind the number, or the empty string.
    """

    key: str
    label: str
    domain: Domain | ItemsDomain | TextDomain | WordsDomain
    default: Value
    applies: Applies
    affects_memory: bool
    group: Group
    help: str
    unit: str = ""
