"""What one simulated user says: a conversation before it takes place.

A workload is made into scripts with a seed; the driver of a run plays them on an engine.
"""

from __future__ import annotations

import msgspec


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question and the answer that is asked for.

    Attributes:
        text: What the user says; not empty.
        new_tok: Tokens of the answer, at least 1. They are generated past the end the model would
            choose, so that every configuration does the same work; of a recorded conversation they
            are a limit.
        think_s: Pause before it is said, from the end of the answer before; 0 or more.
        recorded_answer: What goes into the conversation as the answer, in place of what was
            generated now; None takes what was generated.
    """

    text: str
    new_tok: int
    think_s: float = 0.0
    recorded_answer: str | None = None


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A conversation to be played turn by turn.

    Attributes:
        name: Unique in its workload.
        turns: At least one.
        system: Said before the first turn; empty for none. Scripts with a common prefix begin with
            the same text here.
        start_s: When the first turn is due, from the start of the run (open loop); None as soon as
            a user is free (closed loop).
        ends_by_itself: Answers may end where the model ends them (recorded conversations).
    """

    name: str
    turns: tuple[Turn, ...]
    system: str = ""
    start_s: float | None = None
    ends_by_itself: bool = False
