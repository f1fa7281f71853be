"""Finding words in what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.conversation import Conversation
from app.storage.conversation_entry import entry_of
from app.storage.conversation_search import find_words, folded, places_of, search_words
from app.storage.conversation_store import ConversationStore


def said(conversation_id: str, question: str, answer: str = "Because.") -> Conversation:
    conversation = Conversation(conversation_id, 1)
    conversation.ask(question)
    conversation.append(answer)
    conversation.finish("end")
    return conversation


def keep(store: ConversationStore, *conversations: Conversation) -> None:
    for conversation in conversations:
        store.keep(conversation)
    store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def store(folder: Path) -> ConversationStore:
    return ConversationStore(folder)


@pytest.fixture
def library(store: ConversationStore, folder: Path) -> ConversationStore:
    keep(
        store,
        said("sky", "Why is the sky blue?", "Rayleigh scattering, " * 50 + "said the Straße."),
        said("food", "Crème brûlée", "Sugar and cream."),
        said("code", "Fix it", "def f():\n    return 'SKY'\n"),
    )
    return ConversationStore(folder)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("sky", {"sky", "code"}),
        ("SKY blue", {"sky"}),
        ("blue sky scatt", {"sky"}),
        ("creme BRULEE sugar", {"food"}),
        ("strasse", {"sky"}),
        ("crème", {"food"}),
        ("sky cream", set()),
        ("   ", set()),
    ],
)
def test_that_every_word_must_stand_somewhere(
    library: ConversationStore, words: str, found: set[str]
) -> None:
    assert {hit.entry.id for hit in library.search(words)} == found


def test_that_a_hit_shows_the_text_around_it(library: ConversationStore) -> None:
    (hit,) = library.search("STRASSE")
    assert hit.excerpt[hit.start : hit.end] == "Straße"
    assert hit.excerpt.startswith("…")
    assert hit.excerpt.endswith("said the Straße.")
    assert hit.turn == 2
    (hit,) = library.search("return")
    assert hit.excerpt == "def f(): return 'SKY'"
    assert hit.excerpt[hit.start : hit.end] == "return"


def test_that_a_word_across_the_pieces_of_a_long_text_is_found(
    store: ConversationStore, folder: Path
) -> None:
    keep(store, said("a", "é" * 65_533 + " needle " + "é" * 70_000))
    (hit,) = ConversationStore(folder).search("needle")
    assert hit.excerpt[hit.start : hit.end] == "needle"


def test_that_a_name_counts_as_text(store: ConversationStore, folder: Path) -> None:
    conversation = said("a", "Why?")
    conversation.name = "Physics"
    keep(store, conversation)
    (hit,) = ConversationStore(folder).search("physics because")
    assert hit.excerpt[hit.start : hit.end] == "Because"
    (hit,) = ConversationStore(folder).search("phys")
    assert hit.turn == 0


def test_that_a_search_ends_when_nobody_waits_for_it(library: ConversationStore) -> None:
    asked = []

    def is_cancelled() -> bool:
        asked.append(True)
        return len(asked) > 1

    assert len(library.search("e", is_cancelled)) <= 1
    assert len(asked) == 3  # before a file, in its text, before the next


def test_that_words_not_written_yet_are_found(store: ConversationStore) -> None:
    store.keep(said("a", "Why?"))
    assert len(store.search("why")) == 1


_WORDS = st.text("abcXYZéÅßñ漢字🙂", min_size=1, max_size=8)


@given(st.text(max_size=300), _WORDS, st.text(max_size=300))
def test_that_a_word_is_found_wherever_it_stands(before: str, word: str, after: str) -> None:
    conversation = said("a", "Q", f"{before} {word} {after}")
    hit = find_words(conversation, entry_of(conversation, 0.0, 0), search_words(word))
    assert hit is not None
    assert folded(word) in folded(hit.excerpt)
    assert 0 <= hit.start < hit.end <= len(hit.excerpt)
    assert folded(hit.excerpt[hit.start : hit.end]).startswith(folded(word))
    assert "\n" not in hit.excerpt
    assert len(hit.excerpt) < 200


def test_that_a_pasted_page_is_looked_for_by_its_first_words() -> None:
    words = search_words(" ".join(f"word{number}" for number in range(10_000)))
    assert words[0] == "word0"
    assert len(words) < 100


def test_that_a_search_nobody_waits_for_ends_within_a_long_text() -> None:
    conversation = Conversation("a", 1)
    conversation.ask("long " * 1_000_000 + "needle")
    asked: list[int] = []

    def is_cancelled() -> bool:
        asked.append(1)
        return len(asked) > 3

    entry = entry_of(conversation, 0.0, 0)
    assert find_words(conversation, entry, ("needle",), is_cancelled) is None
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One two ONE", ("one",), ["One", "ONE"]),
        ("Die Größe der größten", ("grosse",), ["Größe"]),
        ("zébra zebra", ("zebra",), ["zébra", "zebra"]),
        ("e\u0301te\u0301", ("ete",), ["e\u0301te"]),
        ("🦓 two one", ("one", "two"), ["two", "one"]),
        ("nothing", ("else",), []),
        ("", ("else",), []),
    ],
)
def test_that_every_place_of_the_words_is_found_as_it_is_written(
    text: str, words: tuple[str, ...], found: list[str]
) -> None:
    assert [text[begin:end] for begin, end in places_of(text, words)] == found
