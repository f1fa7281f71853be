"""Turns of a conversation, asked of the desk and of llama-server: how much of each is computed."""

from __future__ import annotations

import json
import string
import urllib.request
from collections.abc import Callable

import numpy as np

from engine_bridge.protocol import ChatMessage
from tests.engine.harness import InProcess

NEW_TOK = 12
Talk = tuple[ChatMessage, ...]
# Tokens computed of the prompt of a talk.
Asked = Callable[[Talk], int]


def words(count: int, seed: int) -> str:
    """As many letters, two tokens each."""
    drawn = np.random.default_rng(seed).integers(0, 26, count)
    return " ".join(string.ascii_lowercase[letter] for letter in drawn)


def talk(*texts: str) -> Talk:
    """A system prompt, then user and assistant in turns."""
    said = [ChatMessage("system", texts[0])]
    for number, text in enumerate(texts[1:]):
        said.append(ChatMessage("assistant" if number % 2 else "user", text))
    return tuple(said)


SYSTEM, OPENING, ANSWERS = words(60, 1), words(80, 2), [words(6, seed) for seed in (3, 4, 5)]
FIRST = talk(SYSTEM, OPENING)
SECOND = talk(SYSTEM, OPENING, ANSWERS[0], words(40, 6))
THIRD = talk(SYSTEM, OPENING, ANSWERS[0], words(40, 6), ANSWERS[1], words(100, 7))
# What is said in turn: each is asked after all those before it.
TURNS: dict[str, Talk] = {
    "first turn": FIRST,
    "next turn": SECOND,
    "turn after it": THIRD,
    "same question again": THIRD,
    "last message edited": (*THIRD[:-1], ChatMessage("user", words(30, 8))),
    "message before it edited": (*SECOND[:-1], ChatMessage("user", words(30, 9))),
    "first message edited": (FIRST[0], ChatMessage("user", words(70, 10))),
}
# What is said to an engine that knows nothing yet.
REOPENED: dict[str, Talk] = {
    "opened again": THIRD,
    "its last message edited": (*THIRD[:-1], ChatMessage("user", words(30, 11))),
    "its first message edited": (FIRST[0], ChatMessage("user", words(70, 12))),
}


def _conversation(name: str, turns: int) -> Talk:
    """One of several with the same system prompt."""
    seed, texts = ord(name), [SYSTEM]
    for turn in range(turns):
        texts.append(words(60 + seed % 10 + 5 * turn, seed * 100 + turn))
        if turn < turns - 1:
            texts.append(words(6, seed * 100 + 50 + turn))
    return talk(*texts)


# Three conversations by turns on two slots; at last two of them are edited, and one goes back.
BY_TURNS: dict[str, Talk] = {
    f"{name}, turn {turn}": _conversation(name, turn)
    for turn, names in enumerate(("abc", "abc", "acb"), 1)
    for name in names
} | {
    "a, edited": (*_conversation("a", 3)[:-1], ChatMessage("user", words(33, 99))),
    "b, edited earlier": (*_conversation("b", 2)[:-1], ChatMessage("user", words(33, 98))),
    "b, as it was": _conversation("b", 3),
}


def our_way(desk: InProcess, conversation: str = "") -> Asked:
    """The desk, to which all is one conversation, or all with the same opening."""

    def ask(said: Talk) -> int:
        name = conversation or said[1].content
        request_id = desk.ask(said, conversation=name, max_new_tok=NEW_TOK, ignore_eog=True)
        desk.finished(request_id)
        started = desk.started(request_id)
        return started.prompt_tok - started.reused_tok

    return ask


def their_way(port: int) -> Asked:
    """llama-server behind a port."""

    def ask(said: Talk) -> int:
        body = {
            "messages": [{"role": m.role, "content": m.content} for m in said],
            "max_tokens": NEW_TOK,
            "ignore_eos": True,
            "temperature": 0,
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(json.load(answer)["timings"]["prompt_n"])

    return ask


def computed(ask: Asked, turns: dict[str, Talk]) -> dict[str, int]:
    """Tokens computed for each of ``turns``, asked one after the other."""
    return {name: ask(said) for name, said in turns.items()}


def server_flags(path: object, ctx_tok: int, slots: int = 1) -> list[str]:
    """A llama-server with small batches, and ``ctx_tok`` for each slot."""
    flags = ["-m", str(path), "-c", str(slots * ctx_tok), "-np", str(slots), "-t", "1", "-tb", "1"]
    return [*flags, "--no-kv-unified", "-b", "128", "-ub", "64", "-fit", "off", "--jinja"]
