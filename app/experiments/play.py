"""Plays scripts on an engine: simulated users who ask, read, think and ask again.

Closed loop: each user takes the next script as soon as the one before is over. Open loop: scripts
begin when they are due, whatever the engine is doing. Pauses are waits for events; times are the
engine's.

**No run profits from the one before.** Prompts of every run are the same, so that every
configuration does the same work; but an engine keeps what it computed, in slots and in host memory.
Each run therefore names its conversations anew and has them forgotten at its end, upon which
nothing that was computed for them stays. What others left behind (the user's own conversation of
which this is a replay) is told as a disturbance where it spares the first prompt work.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from app.experiments.player import WAIT_S, Player, Progressed, run_name
from app.experiments.port import EngineGoneError, EnginePort, PortError, StoppedError
from app.experiments.run_record import RunRecord
from app.experiments.script import Script
from engine_bridge.protocol import (
    Cancel,
    ChatMessage,
    Forget,
    Generate,
    Refused,
    RequestFinished,
    StepsMeasured,
)

# Below this a text says too little of how many characters a token has.
_LEAST_CHARACTERS = 64
# Steps are reported ten times a second.
_REPORT_S = 0.3


def play(
    port: EnginePort,
    scripts: Sequence[Script],
    users: int = 1,
    *,
    keeps_caches: bool = False,
    progressed: Progressed | None = None,
) -> RunRecord:
    """Play ``scripts`` until the last is over.

    Args:
        port: The engine, which runs a model and has no other request of this port.
        scripts: In the order in which they are taken; those with a ``start_s`` begin by themselves
            when they are due, beside the users.
        users: Simulated users who take the others, at least 1.
        keeps_caches: Whether the next run may find what this one computed.
        progressed: Called after each request that ended.

    Returns:
        What happened. A request that was refused or failed is in it with its sentence; its script
        ends there, the run goes on.

    Raises:
        EngineGoneError: If the engine died; ``record`` is what was measured until then.
        StoppedError: If the user stopped the experiment; the engine is idle then, and ``record``
            is what was measured.
        PortError: If the engine cannot go on with the run, as for a stop.
    """
    if not scripts or users < 1:
        raise ValueError("A run takes at least one script and one user.")
    port.take_disturbances()  # of the time before
    player = Player(port, scripts, users, progressed)
    try:
        player.run()
    except PortError as error:
        if not isinstance(error, EngineGoneError):
            player.abandon()
        error.record = player.record(port.take_disturbances())
        raise
    except BaseException:
        player.abandon()  # whatever it was: the engine may be the user's own
        raise
    disturbances = () if keeps_caches else player.foreign_caches()
    if not keeps_caches:
        player.forget()
    return player.record((*disturbances, *port.take_disturbances()))


def tok_per_char(port: EnginePort, text: str) -> float:
    """Tokens of a character of ``text`` in the model that runs, as its own tokeniser counts them.

    Args:
        port: The engine; it reads the text and answers with one token.
        text: Some hundred characters or more; only its beginning is read where a slot is smaller.

    Raises:
        PortError: If the engine refuses even a short text, dies or is stopped.
    """
    refusal = "There is no text to count tokens of."
    length = len(text)
    while length >= min(_LEAST_CHARACTERS, max(1, len(text))):
        counted = _count(port, text[:length])
        if isinstance(counted, int):
            return counted / length
        refusal = counted
        length //= 2
    raise PortError(refusal)


def _count(port: EnginePort, text: str) -> int | str:
    """The tokens of ``text``; the sentence with which it was refused."""
    number, name = port.next_id(), run_name()
    message = ChatMessage("user", text)
    port.send(Generate(number, name, (message,), as_completion=True, max_new_tok=1))
    try:
        counted = _counted(port, number)
        if isinstance(counted, int):
            _await_report(port)
    except StoppedError:
        with contextlib.suppress(PortError):
            port.send(Cancel(number))
        raise
    finally:
        with contextlib.suppress(PortError):
            port.send(Forget(name))
    return counted


def _counted(port: EnginePort, number: int) -> int | str:
    """What ``_count`` says of a request that was sent."""
    while True:
        event = port.next_event(WAIT_S)
        if getattr(event, "request_id", None) != number:
            continue
        match event:
            case RequestFinished():
                return event.timing.prompt_tok
            case Refused(command="generate"):
                return event.problem.message
            case _:
                pass


def _await_report(port: EnginePort) -> None:
    """Have the step reported now: it must not count as one of the run that follows."""
    deadline_ns = port.now_ns + round(_REPORT_S * 1e9)
    while (left_ns := deadline_ns - port.now_ns) > 0:
        if isinstance(port.next_event(left_ns / 1e9), StepsMeasured):
            return
