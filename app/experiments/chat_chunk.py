"""One chunk of a streamed chat completion, as servers send it, in what a measurement needs. Pure.

Servers differ in what they leave out and add, so nothing is taken for granted: a field of another
shape is one that was not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

_SHOWN = 160
# Where servers put what a model thinks: llama-server, vLLM and SGLang; Ollama and routers.
_THOUGHTS = ("reasoning_content", "reasoning")


class ChunkError(ValueError):
    """The server failed in the middle, or sent nonsense; the message is a sentence."""


@dataclass(frozen=True)
class Usage:
    """What a server counted.

    Attributes:
        prompt_tok: Tokens of the prompt; None if not told.
        cached_tok: Of them not computed; None if not told.
        new_tok: Tokens of the answer, thoughts included; None if not told.
    """

    prompt_tok: int | None = None
    cached_tok: int | None = None
    new_tok: int | None = None


@dataclass(frozen=True)
class OwnTimings:
    """What llama-server says of a request by its own clock.

    Attributes:
        tpot_s: Time per token after the first; None below two.
        prefill_tok_s: Prompt tokens computed / time; None if none was.
        new_tok: Tokens of the answer.
    """

    tpot_s: float | None
    prefill_tok_s: float | None
    new_tok: int


@dataclass(frozen=True)
class Chunk:
    """What one chunk brings.

    Attributes:
        text: Part of the answer.
        is_thought: Whether it brings a part of what the model thinks.
        is_output: Whether it brings anything that was generated.
        finish: Why the answer ended (``stop``, ``length``); empty if it goes on.
        usage: What was counted; None if it is not in this chunk.
        timings: The server's own; None if not in this chunk.
        build: What the server calls its build; empty if not told.
    """

    text: str = ""
    is_thought: bool = False
    is_output: bool = False
    finish: str = ""
    usage: Usage | None = None
    timings: OwnTimings | None = None
    build: str = ""


def chunk_of(data: bytes) -> Chunk:
    """Read a chunk.

    Raises:
        ChunkError: If it is an error or no JSON object.
    """
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise ChunkError(f"The server sent what is no JSON: {shown(data)}") from None
    if not isinstance(value, dict):
        raise ChunkError(f"The server sent what is no chunk of an answer: {shown(data)}")
    if value.get("error") or value.get("object") == "error":
        raise ChunkError(f"The server broke the answer off: {error_message(value)}")
    choices = value.get("choices")
    choice = _object(choices[0] if isinstance(choices, list) and choices else None)
    delta = _object(choice.get("delta"))
    text = _text(delta.get("content"))
    is_thought = any(_text(delta.get(name)) for name in _THOUGHTS)
    return Chunk(
        text=text,
        is_thought=is_thought,
        is_output=bool(text or is_thought or delta.get("tool_calls")),
        finish=_text(choice.get("finish_reason")),
        usage=_usage(value.get("usage")),
        timings=_timings(value.get("timings")),
        build=shown(_text(value.get("system_fingerprint"))),
    )


def error_message(value: object) -> str:
    """What a server says is wrong, from whatever shape it says it in, with a stop behind it."""
    found: object = value
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    if not isinstance(found, str):
        found = msgspec.json.encode(found).decode() if found else "it does not say why"
    text = shown(found)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def shown(text: str | bytes) -> str:
    """A server's words on one line, without control characters, cut where they are long."""
    if isinstance(text, bytes):
        text = text[: 4 * _SHOWN].decode(errors="replace")
    plain = "".join(c if c.isprintable() else " " for c in text[: 4 * _SHOWN])
    plain = " ".join(plain.split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


# --- Inside -----------------------------------------------------------------------------


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return 0.0


def _usage(value: object) -> Usage | None:
    told = _object(value)
    if not told:
        return None
    details = _object(told.get("prompt_tokens_details"))
    return Usage(
        prompt_tok=_count(told.get("prompt_tokens")),
        cached_tok=_count(details.get("cached_tokens")),
        new_tok=_count(told.get("completion_tokens")),
    )


def _timings(value: object) -> OwnTimings | None:
    told = _object(value)
    new_tok = _count(told.get("predicted_n"))
    if not new_tok:
        return None
    predicted_s, prompt_s = (_number(told.get(f"{part}_ms")) / 1e3 for part in _PARTS)
    prompt_tok = _count(told.get("prompt_n")) or 0
    return OwnTimings(
        tpot_s=predicted_s / (new_tok - 1) if new_tok > 1 and predicted_s > 0 else None,
        prefill_tok_s=prompt_tok / prompt_s if prompt_tok and prompt_s > 0 else None,
        new_tok=new_tok,
    )


_PARTS = ("predicted", "prompt")
