"""Where messages of the user begin, by what a template writes in front of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engine_bridge.child.message_starts import opening_of, starts_of
from engine_bridge.protocol import ChatMessage

Messages = Sequence[ChatMessage]


def chatml(messages: Messages) -> str:
    return "".join(f"<|im_start|>{m.role}\n{m.content}<|im_end|>\n" for m in messages)


def mistral(messages: Messages) -> str:
    said = {"user": "[INST] {}[/INST]", "assistant": " {}</s>"}
    return "<s>" + "".join(said[m.role].format(m.content) for m in messages)


def llama2(messages: Messages) -> str:
    said = {"user": "<s>[INST] {} [/INST]", "assistant": " {} </s>"}
    return "".join(said[m.role].format(m.content) for m in messages)


def thinks_in_its_last_answer(messages: Messages) -> str:
    if messages[-1].role == "user":
        return chatml(messages)
    last = ChatMessage("assistant", f"<think></think>{messages[-1].content}")
    return chatml([*messages[:-1], last])


def silent(messages: Messages) -> str:
    return "nothing"


def always_opens_an_answer(messages: Messages) -> str:
    return chatml(messages) + "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("template", "opening"),
    [
        (chatml, "<|im_start|>user"),
        (mistral, "[INST]"),
        (llama2, "<s>[INST]"),
        (thinks_in_its_last_answer, "<|im_start|>user"),
        (silent, ""),
        (always_opens_an_answer, ""),
    ],
)
def test_that_what_stands_before_a_message_is_found(
    template: Callable[[Messages], str], opening: str
) -> None:
    assert opening_of(template) == opening


def test_that_every_place_of_it_is_found() -> None:
    prompt = np.array([1, 7, 8, 3, 7, 7, 8, 7], np.int32)
    assert starts_of(prompt, [7, 8]) == (1, 5)
    assert starts_of(prompt, [9]) == ()
    assert starts_of(prompt, []) == ()
    assert starts_of(prompt[:1], [1, 7]) == ()
