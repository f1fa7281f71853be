"""What stands in the form of a new experiment, as it was typed. Data alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CONVERSATION, FILE = "conversation", "file"
"""Sources of the work beside the presets, which go by their own names."""

YES = "yes"
"""What a switch that is on says; one that is off says nothing."""


@dataclass(frozen=True)
class AxisValues:
    """A setting to vary.

    Attributes:
        key: Of the setting; several that change together are joined by ``+``.
        values: What to try, as typed, separated by commas.
    """

    key: str
    values: str


@dataclass(frozen=True)
class FormValues:
    """All of the form; an empty text stands for what the field offers by itself.

    Attributes:
        kind: Of the experiment (``sweep``).
        source: What is asked of the engine: a preset, ``CONVERSATION`` or ``FILE``.
        texts: What stands in the fields, by their names; of a choice the key that is chosen.
        axes: Settings to vary.
        drafts: Paths of the draft models that may be tried.
    """

    kind: str
    source: str = "chat"
    texts: Mapping[str, str] = field(default_factory=dict)
    axes: tuple[AxisValues, ...] = ()
    drafts: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """What stands in a field, without blanks around it; empty where nothing does."""
        return self.texts.get(name, "").strip()

    def is_on(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.text(name) == YES
