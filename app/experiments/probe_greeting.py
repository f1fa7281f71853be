"""Getting to know a server before it is measured: its model, what it takes, how it counts."""

from __future__ import annotations

from dataclasses import dataclass

from app.experiments.dialect import DIALECTS
from app.experiments.port import PortError
from app.experiments.probe_port import ServerPort
from app.experiments.server_answer import Answer
from app.experiments.server_failures import AnswerError
from engine_bridge.protocol import ChatMessage

# English; used where a server does not count, and said there.
USUAL_TOK_PER_CHAR = 0.25
# Enough to tell characters per token, and no more than any context holds.
_SAMPLE_CHARACTERS = 2000
_SHORT_CHARACTERS = 40
# What servers answer to a field that they do not know.
_NOT_TAKEN = (400, 422)


@dataclass(frozen=True)
class Greeting:
    """What a server is, by its own words.

    Attributes:
        server: What it calls itself and its build; empty if it says nothing.
        tok_per_char: Tokens of a character of the workload's text, above 0.
        is_counted: Whether the server counted them.
    """

    server: str
    tok_per_char: float
    is_counted: bool


def greet(port: ServerPort, model: str, text: str) -> Greeting:
    """Find the model, what the server takes and how it counts; ``port`` then asks accordingly.

    Args:
        port: To the server.
        model: What requests shall name; empty takes the only one that there is.
        text: Some of the workload's text.

    Raises:
        PortError: If it cannot be measured, in a sentence.
    """
    models = port.models()
    port.model = model or _only_model(port)
    owners = [each.owner for each in models or () if each.name == port.model]
    short = text[:_SHORT_CHARACTERS]
    answer = _first_answer(port, short)
    rate = _counted_rate(port, text, len(short), _prompt_tok(answer))
    return Greeting(
        server=" ".join(filter(None, [*owners[:1], answer.build])),
        tok_per_char=rate or USUAL_TOK_PER_CHAR,
        is_counted=rate is not None,
    )


# --- Inside -----------------------------------------------------------------------------


def _only_model(port: ServerPort) -> str:
    names = [model.name for model in port.known]
    if len(names) == 1:
        return names[0]
    if not names:
        raise PortError(f"{port.address.place} names no model; say which with --model.")
    raise PortError(
        f"{port.address.place} has {len(names)} models; say which with --model: {', '.join(names)}."
    )


def _first_answer(port: ServerPort, text: str) -> Answer:
    """The answer in the first dialect that is taken, which the port speaks from then on."""
    first: AnswerError | None = None
    for dialect in DIALECTS:
        port.dialect = dialect
        try:
            return port.ask_once((ChatMessage("user", text),), 1)
        except AnswerError as error:
            first = first or error
            if error.status not in _NOT_TAKEN:
                raise PortError(str(error)) from None
    raise PortError(str(first))


def _counted_rate(
    port: ServerPort, text: str, short_characters: int, short_tok: int
) -> float | None:
    """Tokens of a character, counted by the server; None if it does not count.

    The difference to a short text leaves out what the template adds.
    """
    length = min(len(text), _SAMPLE_CHARACTERS)
    while short_tok and length > 2 * short_characters:
        try:
            answer = port.ask_once((ChatMessage("user", text[:length]),), 1)
        except AnswerError as error:
            if error.status not in _NOT_TAKEN:
                raise PortError(str(error)) from None
            length //= 2  # longer than its context
            continue
        tok = _prompt_tok(answer) - short_tok
        return tok / (length - short_characters) if 0 < tok <= length else None
    return None


def _prompt_tok(answer: Answer) -> int:
    return (answer.usage.prompt_tok or 0) if answer.usage is not None else 0
