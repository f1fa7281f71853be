"""What was tried of one kind, what of it was survived, and the line that says so."""

from __future__ import annotations

import msgspec

_NAME_WIDTH = 34
# Above the lines of all kinds.
HEADING = f"{'':<{_NAME_WIDTH}} {'tried':>6} {'survived':>9} {'lost':>5} {'seconds':>8}"


class Tally(msgspec.Struct, forbid_unknown_fields=True):
    """The count of one kind.

    Attributes:
        name: What is tried, in a few words.
        tried: How often it was.
        losses: What went wrong, a sentence each; one a try at most.
        seconds: How long it took.
        notes: Figures worth a look, in a few words each.
    """

    name: str
    tried: int = 0
    losses: list[str] = []
    seconds: float = 0.0
    notes: list[str] = []

    @property
    def survived(self) -> int:
        """Tries without a loss."""
        return self.tried - len(self.losses)

    def note(self, loss: str) -> None:
        """Count one try; ``loss`` says what went wrong, empty for nothing."""
        self.tried += 1
        if loss:
            self.losses.append(loss)

    def line(self) -> str:
        """One line for a person."""
        figures = f"{self.tried:6,} {self.survived:9,} {len(self.losses):5,} {self.seconds:8.0f}"
        return f"{self.name:<{_NAME_WIDTH}} {figures}  {'; '.join(self.notes)}".rstrip()
