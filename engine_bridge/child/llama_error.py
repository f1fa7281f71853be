"""What llama.cpp refuses, as exceptions."""

from __future__ import annotations

from collections.abc import Sequence

from engine_bridge.memory_fault import fault_in


class LlamaError(RuntimeError):
    """llama.cpp refused; the message is a sentence that holds its own words.

    Attributes:
        fault: The allocation that failed, None where it refused for another reason.
    """

    def __init__(self, message: str, lines: Sequence[str] = ()) -> None:
        """Refused with ``message``; ``lines`` are all that it said of it."""
        super().__init__(message)
        self.fault = fault_in(lines)


class LoadCancelledError(LlamaError):
    """The progress callback asked to stop."""
