"""Tokens of a thought are counted apart, whoever opened it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine_bridge.child.slot import Slot
from engine_bridge.child.stream import Prepared, Stream
from engine_bridge.child.template import TemplateRenderer
from engine_bridge.protocol import ChatMessage, Generate
from tests.engine.harness import InProcess, tiny_config
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine
# As the templates of reasoning models do it: the thought is open when the model begins.
OPENS = CHATML.replace("assistant\n{% endif %}", "assistant\n<think>\n{% endif %}")
QUESTION = ChatMessage("user", "hi")


def stream(*, starts_in_thought: bool = False) -> Stream:
    command = Generate(1, "c", (QUESTION,))
    prompt = np.zeros(4, np.int32)
    prepared = Prepared(command, prompt, 0, -1, starts_in_thought=starts_in_thought)
    return Stream(prepared, Slot(0, 64, 0), 0, 0)


@pytest.fixture
def thinker(tmp_path: Path) -> Iterator[InProcess]:
    """A tiny model whose template opens the thought itself."""
    renderer = TemplateRenderer(deadline_s=60.0)
    with InProcess(renderer) as in_process:
        path = write_tiny_llama(tmp_path / "t.gguf", TinyLlama(vocab_tok=512, chat_template=OPENS))
        in_process.load(tiny_config(path))
        yield in_process
    renderer.close()


def test_that_a_stream_counts_its_thought_one_by_one_and_in_drafts() -> None:
    under_way = stream()
    pieces = {1: b"<think>", 2: b"Hm", 3: b"</think>", 4: b"\n\n", 5: b"Yes", 6: None}
    under_way.accept_one(pieces[1], 1)
    delivered = under_way.delivered(1)
    assert delivered is not None
    assert delivered.think_tok == 1
    assert under_way.accept([2, 3, 4, 5], pieces.__getitem__, 2) == 4
    under_way.accept_one(pieces[6], 3)
    timing = under_way.timing(4)
    assert (timing.new_tok, timing.think_tok) == (6, 3)


def test_that_a_stream_that_starts_inside_counts_from_its_first_token() -> None:
    under_way = stream(starts_in_thought=True)
    for piece in (b"Hm", b"</think>", b"Yes"):
        under_way.accept_one(piece, 1)
    assert under_way.timing(2).think_tok == 2


def test_that_a_thought_the_template_opened_is_told_and_counted(thinker: InProcess) -> None:
    request = thinker.ask([QUESTION], max_new_tok=12)
    finished = thinker.finished(request)
    assert thinker.started(request).starts_in_thought
    ended = finished.reason == "end"
    assert finished.timing.think_tok == finished.timing.new_tok - ended


def test_that_an_answer_that_was_begun_goes_on_as_an_answer(thinker: InProcess) -> None:
    said = ChatMessage("assistant", "Hm.\n</think>\n\nIt is")
    request = thinker.ask([QUESTION, said], max_new_tok=4, continue_answer=True)
    assert thinker.finished(request).timing.think_tok == 0
    assert not thinker.started(request).starts_in_thought


def test_that_a_thought_that_was_cut_goes_on_as_a_thought(thinker: InProcess) -> None:
    said = ChatMessage("assistant", "Hm, let me")
    request = thinker.ask([QUESTION, said], max_new_tok=4, continue_answer=True)
    finished = thinker.finished(request)
    assert thinker.started(request).starts_in_thought
    assert finished.timing.think_tok == finished.timing.new_tok - (finished.reason == "end")
