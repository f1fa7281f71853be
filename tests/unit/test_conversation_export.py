"""Conversations for other programs, and back."""

from __future__ import annotations

import json

import pytest

from app.conversation import Conversation
from app.storage.conversation_export import exported, from_json, to_json, to_markdown
from app.storage.storage_error import StorageError


def talk() -> Conversation:
    conversation = Conversation("a", 1, system_prompt="Be brief.", clock_s=lambda: 86400.0)
    conversation.ask("Why is the sky blue?", "Toy [v1]")
    conversation.append("Rayleigh *scattering*.")
    conversation.finish("token_limit", "20 tok/s", "Cut at the limit.")
    conversation.answer_again(2, "Other")
    conversation.append("Because.")
    conversation.finish("end", "30 tok/s")
    return conversation


def test_that_markdown_tells_the_branch_that_is_shown() -> None:
    assert to_markdown(talk()) == (
        "# Why is the sky blue?\n\n"
        "## System prompt\n\n```\nBe brief.\n```\n\n"
        "## You · 1970-01-02 00:00 UTC\n\nWhy is the sky blue?\n\n"
        "## Assistant · 1970-01-02 00:00 UTC\n\nBecause.\n\n"
        "*Other · 30 tok/s*\n"
    )


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```python\nx = 1", "```python\nx = 1\n```"),
        ("````\n```\nx", "````\n```\nx\n````"),
        ("~~~\n```\nx", "~~~\n```\nx\n~~~"),
        ("```\nx\n```", "```\nx\n```"),
        ("```\nx\n``` y", "```\nx\n``` y\n```"),
        ("    ```", "    ```"),
        ("```a`b``` is no fence", "```a`b``` is no fence"),
    ],
)
def test_that_a_fence_left_open_does_not_swallow_the_rest(text: str, closed: str) -> None:
    conversation = Conversation("a", 1)
    conversation.ask("Q")
    conversation.append(text)
    assert to_markdown(conversation).endswith(f"\n\n{closed}\n")


def test_that_a_system_prompt_with_fences_stays_within_its_own() -> None:
    conversation = Conversation("a", 1, system_prompt="Use\n````\ncode\n````")
    assert "`````\nUse\n````\ncode\n````\n`````" in to_markdown(conversation)


def test_that_names_are_not_read_as_markup() -> None:
    conversation = talk()
    conversation.name = "<b>*bold*</b>\n# not a heading"
    assert to_markdown(conversation).startswith(r"# \<b\>\*bold\*\</b\> # not a heading" + "\n")


def test_that_json_tells_every_branch_in_the_documented_shape() -> None:
    told = json.loads(to_json(talk()))
    assert list(told) == [
        "format", "schema", "id", "title", "name", "system_prompt", "shown", "turns",
    ]  # fmt: skip
    assert (told["format"], told["schema"]) == ("tunedeck-conversation", 1)
    assert told["shown"] == [1, 3]
    assert [turn["parent"] for turn in told["turns"]] == [0, 1, 1]
    assert told["turns"][1] == {
        "id": 2, "parent": 1, "role": "assistant", "made_s": 86400.0,
        "text": "Rayleigh *scattering*.", "end": "token_limit", "model": "Toy [v1]",
        "figures": "20 tok/s", "note": "Cut at the limit.",
    }  # fmt: skip


def test_that_exported_json_comes_back_as_a_conversation_of_its_own() -> None:
    conversation = talk()
    again = from_json(to_json(conversation), 7, 1.0)
    assert again.id != conversation.id
    assert again.number == 7
    assert again.tree == conversation.tree
    assert (again.tip, again.system_prompt) == (3, "Be brief.")
    assert again.next_id == conversation.next_id


def test_that_half_characters_can_be_exported() -> None:
    conversation = Conversation("a", 1, system_prompt="\ud83d", name="\ud83d")
    conversation.ask("\ud83d")
    assert b"\xef\xbf\xbd" in exported(conversation, "markdown")
    assert json.loads(exported(conversation, "json"))["turns"][0]["text"] == "\ufffd"


@pytest.mark.parametrize("made_s", [0.0, 1e300, -1e300, 1e12])
def test_that_a_time_that_cannot_be_is_left_out(made_s: float) -> None:
    conversation = Conversation("a", 1, clock_s=lambda: made_s)
    conversation.ask("Q")
    assert "## You\n" in to_markdown(conversation)


def test_that_an_empty_conversation_can_be_exported() -> None:
    assert to_markdown(Conversation("a", 3)) == "# Chat 3\n"
    assert from_json(to_json(Conversation("a", 3)), 1, 1.0).turns == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no conversation"),
        (b"[1]", "no conversation"),
        (b'{"format":"other"}', "no conversation"),
        (to_json(talk()).replace(b'"schema": 1', b'"schema": 2'), "newer"),
        (to_json(talk()).replace(b'"parent": 1', b'"parent": 9'), "do not follow"),
        (to_json(talk()).replace(b'"id": 3', b'"id": 2'), "do not follow"),
    ],
)
def test_that_a_file_that_is_none_is_refused_with_a_sentence(content: bytes, words: str) -> None:
    with pytest.raises(StorageError, match=words):
        from_json(content, 1, 1.0)
