"""What an answer waits for, in words."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel


class ActivityLine(QLabel):
    """A line below the messages, for what no message says itself."""

    def __init__(self) -> None:
        """Say nothing yet."""
        super().__init__()
        self.queue_position: int | None = None
        self.reading = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "hint")
        self.hide()

    def words(self) -> str:
        """What is waited for; empty for nothing worth a word."""
        position = self.queue_position
        if position is None:
            return self.reading
        ahead = "next in line" if position <= 1 else f"{position - 1} ahead of it"
        return f"Waiting for a free slot · {ahead}"

    def show_words(self, words: str) -> None:
        """Show ``words`` in this line, or nothing."""
        self.setText(words)
        self.setVisible(bool(words))


def reading_words(done_tok: int, goal_tok: int, *, is_again: bool) -> str:
    """How far a prompt is read.

    Args:
        done_tok: Tokens of it that are in the slot.
        goal_tok: Tokens of the whole prompt.
        is_again: The answer has begun already; what the slot held is made anew.
    """
    what = "Reading the conversation again" if is_again else "Reading the prompt"
    return f"{what} · {done_tok:,} of {goal_tok:,} tok"
