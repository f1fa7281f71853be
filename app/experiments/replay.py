"""A conversation of the window, said again turn by turn."""

from __future__ import annotations

import hashlib

import msgspec

from app.conversation import Conversation
from app.experiments.outline import outlines_of
from app.experiments.recording import Exchange, Recording
from app.experiments.script import Script, Turn
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError


def recording_of(conversation: Conversation) -> Recording:
    """What was said on the path that is shown.

    A question that got no answer is said together with the next one, as the engine was told it.

    Raises:
        WorkloadError: If nothing was asked, or an answer is being written.
    """
    if conversation.is_answering:
        raise WorkloadError(
            f"An answer is being written in “{conversation.title}”. Replay it when it is over, or "
            "stop it."
        )
    said = [each for each in conversation.to_messages() if each.role != "system"]
    exchanges = []
    for number, message in enumerate(said):
        if message.role != "user":
            continue
        answer = said[number + 1].content if number + 1 < len(said) else ""
        exchanges.append(Exchange(message.content, answer))
    if not exchanges:
        raise WorkloadError(
            f"Nothing was asked in “{conversation.title}”, so nothing can be replayed."
        )
    system = conversation.system_prompt if conversation.system_prompt.strip() else ""
    return Recording(conversation.title, tuple(exchanges), system)


def replay_of(conversation: Conversation, users: int = 1) -> Workload:
    """The workload in which ``users`` at a time replay a conversation, each from its beginning.

    Its name tells one recording from another where a history has not kept the words.

    Raises:
        WorkloadError: If nothing was asked, or an answer is being written.
    """
    recording = recording_of(conversation)
    turns = len(recording.exchanges)
    digest = hashlib.sha256(msgspec.json.encode(recording)).hexdigest()
    return Workload(
        name=f"replay-{digest[:8]}",
        material=Material.CONVERSATION,
        turns=turns,
        requests=turns * users,
        users=users,
        recording=recording,
    )


def replayed(workload: Workload, recording: Recording) -> tuple[Script, ...]:
    """The scripts of a recording.

    The recorded answers go into the conversation, so that each turn reads what it read then.
    """
    return tuple(
        Script(
            name=f"{workload.name}-{number:03d}",
            turns=tuple(
                Turn(exchange.question, turn.new_tok, turn.think_s, exchange.answer or None)
                for exchange, turn in zip(recording.exchanges, outline.turns, strict=False)
            ),
            system=recording.system,
            start_s=outline.start_s,
            ends_by_itself=True,
        )
        for number, outline in enumerate(outlines_of(workload), start=1)
    )
