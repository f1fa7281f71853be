"""The chat template of a session: seen, replaced, tried, and never in the way of an answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from engine_bridge.child.template import TemplateRenderer
from engine_bridge.protocol import (
    ChatMessage,
    CheckTemplate,
    Event,
    Refused,
    SetTemplate,
    TemplateChecked,
    TemplateSet,
)
from tests.engine.harness import InProcess, tiny_config
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine

SAMPLE = (
    ChatMessage("system", "be kind"),
    ChatMessage("user", "hi"),
    ChatMessage("assistant", "yes"),
    ChatMessage("user", "go on"),
)
STRICT = (
    "{% if messages[0].role == 'system' %}\n{{ raise_exception('no system here') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('take turns') }}{% endif %}[{{ m.content }}]{% endfor %}"
)


@pytest.fixture
def trials() -> TemplateRenderer:
    """What renders the samples; patient, as the machine may be loaded."""
    return TemplateRenderer(deadline_s=60.0)


@pytest.fixture
def chat(trials: TemplateRenderer) -> Iterator[InProcess]:
    renderer = TemplateRenderer(deadline_s=60.0)
    with InProcess(renderer) as in_process:
        in_process.loop._templates._make_renderer = lambda: trials
        in_process.loop._templates._emit = partial(_answer, in_process)
        yield in_process
    renderer.close()


def _answer(chat: InProcess, event: Event) -> None:
    """Take an answer of the checker's thread, and wake the loop that sleeps for a second."""
    chat.events.append(event)
    with chat.inbox._filled:
        chat.inbox._filled.notify()


def _checked(chat: InProcess, template: str, **rest: object) -> TemplateChecked:
    number = chat.number()
    messages = rest.pop("messages", SAMPLE)
    chat.send(CheckTemplate(number, template, messages, **rest))  # type: ignore[arg-type]

    def answers() -> list[TemplateChecked]:
        return [event for event in chat.all_of(TemplateChecked) if event.check_id == number]

    chat.until(lambda: bool(answers()))
    return answers()[0]


def _verdicts(answer: TemplateChecked) -> dict[str, str]:
    return {finding.check: finding.verdict for finding in answer.findings}


def _sentence(answer: TemplateChecked, check: str) -> str:
    return next(f.sentence for f in answer.findings if f.check == check)


def _prompt(chat: InProcess, *messages: ChatMessage) -> list[int]:
    request_id = chat.ask(list(messages), max_new_tok=0)
    finished = chat.finished(request_id)
    slot = chat.batcher.slots[chat.started(request_id).slot]
    return [int(token) for token in slot.tokens[: finished.used_tok]]


def test_that_a_sample_is_shown_with_its_control_tokens_and_its_count(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    chat.load(tiny_config(tiny_chat_path))
    answer = _checked(chat, CHATML)
    assert not answer.error
    text = "".join(piece.text for piece in answer.pieces)
    assert text.startswith("<s><|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhi")
    controls = [piece.text for piece in answer.pieces if piece.kind == "control"]
    assert controls == ["<s>", *["<|im_start|>", "<|im_end|>"] * 4, "<|im_start|>"]
    assert answer.tokens_tok == len(_prompt(chat, *SAMPLE))
    assert set(_verdicts(answer).values()) == {"good"}


def test_that_the_sample_can_do_without_the_generation_prompt(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    chat.load(tiny_config(tiny_chat_path))
    answer = _checked(chat, CHATML, add_generation_prompt=False)
    assert "".join(piece.text for piece in answer.pieces).endswith("go on<|im_end|>\n")


def test_that_typed_special_text_is_told_from_the_template_s_own(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    """S23."""
    chat.load(tiny_config(tiny_chat_path))
    answer = _checked(chat, CHATML, messages=(ChatMessage("user", "a <|im_end|> b"),))
    kinds = [piece.kind for piece in answer.pieces if piece.text == "<|im_end|>"]
    assert kinds == ["typed", "control"]
    assert _verdicts(answer)["typed"] == "good"
    leaky = "{% for m in messages %}{% for c in m.content %}{{ c }}{{ '' }}{% endfor %}{% endfor %}"
    assert _verdicts(_checked(chat, leaky))["typed"] == "good"  # marks come through one by one
    rebuilt = "{{ messages[0].content.replace('\ufdd0', '').replace('\ufdd1', '') }}"
    assert _verdicts(_checked(chat, rebuilt))["typed"] == "bad"


def test_that_a_begin_of_text_token_too_many_is_found(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    """S21."""
    chat.load(tiny_config(tiny_chat_path))
    once = _checked(chat, "{{ bos_token }}" + CHATML)
    assert _verdicts(once)["bos"] == "good"
    assert [piece.text for piece in once.pieces].count("<s>") == 1
    twice = _checked(chat, "{{ bos_token }}{{ bos_token }}" + CHATML)
    assert _verdicts(twice)["bos"] == "bad"
    assert "2 times" in _sentence(twice, "bos")


def test_that_what_a_template_refuses_is_said_in_its_own_words(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    """S19."""
    chat.load(tiny_config(tiny_chat_path))
    answer = _checked(chat, STRICT)
    assert "".join(piece.text for piece in answer.pieces) == "<s>[be kind\nhi][yes][go on]"
    assert "system prompt" in answer.note
    assert _verdicts(answer)["system"] == _verdicts(answer)["two_users"] == "note"
    assert "no system here" in _sentence(answer, "system")
    assert "take turns" in _sentence(answer, "two_users")


def test_that_an_error_has_words_and_the_line_it_comes_from(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    chat.load(tiny_config(tiny_chat_path))
    refused = _checked(chat, "a\nb\n{{ raise_exception('only poems') }}")
    assert "only poems" in refused.error
    assert refused.line == 3
    broken = _checked(chat, "a\n{% for %}")
    assert "line 2" in broken.error
    assert broken.line == 2
    failing = _checked(chat, "a\n\n{{ nothing.at.all }}")
    assert "line 3" in failing.error
    assert failing.findings == ()
    macro = "{% macro m() %}\n{{ raise_exception('deep') }}{% endmacro %}\n\n{{ m() }}"
    assert _checked(chat, macro).line == 2


def test_that_a_thinking_switch_is_tried(chat: InProcess, tiny_chat_path: Path) -> None:
    chat.load(tiny_config(tiny_chat_path))
    thinking = CHATML + "{% if not enable_thinking %}<think></think>{% endif %}"
    answer = _checked(chat, thinking)
    assert answer.has_thinking
    assert "works" in _sentence(answer, "thinking")
    off = _checked(chat, thinking, enable_thinking=False)
    assert "".join(piece.text for piece in off.pieces).endswith("<think></think>")
    idle = _checked(chat, CHATML + "{# enable_thinking #}")
    assert _verdicts(idle)["thinking"] == "note"
    assert not _checked(chat, CHATML).has_thinking


def test_that_an_endless_template_is_stopped_and_the_next_one_tried(
    chat: InProcess, tiny_chat_path: Path, trials: TemplateRenderer
) -> None:
    chat.load(tiny_config(tiny_chat_path))
    trials._deadline_s = 1.0
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    answer = _checked(chat, endless)
    assert "did not finish" in answer.error
    assert answer.pieces == ()
    trials._deadline_s = 60.0
    assert not _checked(chat, CHATML).error


def test_that_a_long_sample_is_cut_but_counted_whole(chat: InProcess, tiny_chat_path: Path) -> None:
    chat.load(tiny_config(tiny_chat_path))
    answer = _checked(chat, CHATML, messages=(ChatMessage("user", "a " * 40_000),))
    assert answer.is_cut
    assert sum(len(piece.text) for piece in answer.pieces) == 40_000
    assert answer.tokens_tok > 40_000
    typed = _checked(chat, CHATML, messages=(ChatMessage("user", "</s>" * 5_000),))
    assert typed.is_cut
    assert len(typed.pieces) == 2_000


def test_that_a_check_without_a_model_is_answered(chat: InProcess) -> None:
    assert "No model" in _checked(chat, CHATML).error


def test_that_prompts_are_made_with_the_edited_template_until_it_is_reset(
    chat: InProcess, tiny_chat_path: Path
) -> None:
    chat.load(tiny_config(tiny_chat_path))
    hi = ChatMessage("user", "hi")
    own = _prompt(chat, hi)
    chat.send(SetTemplate("Q: {{ messages[-1].content }} A:"))
    model = chat.batcher.context.model
    assert _prompt(chat, hi) == model.tokenize("Q: hi A:", add_special=True, parse_special=True)
    chat.send(SetTemplate(""))
    assert _prompt(chat, hi) == own
    assert [event.is_edited for event in chat.all_of(TemplateSet)] == [True, False]


def test_that_an_edited_template_outlives_a_reload_but_not_another_model(
    chat: InProcess, tiny_chat_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(tiny_chat_path)
    chat.load(config)
    hi = ChatMessage("user", "hi")
    chat.send(SetTemplate("Q: {{ messages[-1].content }} A:"))
    edited = _prompt(chat, hi)
    chat.load(config)
    assert _prompt(chat, hi) == edited
    shape = TinyLlama(vocab_tok=512, chat_template=CHATML + "{# other #}")
    chat.load(tiny_config(write_tiny_llama(tmp_path / "other.gguf", shape)))
    chat.load(config)
    assert _prompt(chat, hi) != edited


def test_that_a_template_for_no_model_is_refused(chat: InProcess) -> None:
    chat.send(SetTemplate("x"))
    chat.until(lambda: bool(chat.all_of(Refused)))
    assert chat.all_of(Refused)[0].command == "set_template"
