"""The chat template of a file that nobody loaded: rendered, looked into, and harmless."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.template_once import answer_to
from engine_bridge.protocol import ChatMessage, TemplateFinding
from engine_bridge.template_sheet import TemplateQuestion, TemplateSheet
from tests import models
from tests.tiny_model import CHATML
from tests.unit.gguf_bytes import Gguf, llama_values

PATIENCE_S = 60.0
SAMPLE = (
    ChatMessage("system", "Be short."),
    ChatMessage("user", "Why <|im_end|>?"),
    ChatMessage("assistant", "So."),
    ChatMessage("user", "Thanks"),
)
TOKENS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "a"]
UNKNOWN, NORMAL, CONTROL = 2, 1, 3
TYPES = [UNKNOWN, CONTROL, CONTROL, CONTROL, CONTROL, NORMAL]


def write(path: Path, template: str = CHATML, /, **values: object) -> Path:
    """A file with a vocabulary of six tokens; keyword ``a__b`` sets ``tokenizer.a.b``."""
    told = llama_values() | {
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": TYPES, "tokenizer.ggml.eos_token_id": 4,
        "tokenizer.ggml.add_bos_token": 0,
    }  # fmt: skip
    if template:
        told["tokenizer.chat_template"] = template
    told |= {f"tokenizer.{name.replace('__', '.')}": value for name, value in values.items()}
    path.write_bytes(Gguf(told).file())
    return path


def sheet(path: Path, deadline_s: float = PATIENCE_S) -> TemplateSheet:
    return answer_to(TemplateQuestion(str(path), SAMPLE), deadline_s)


def findings(path: Path) -> dict[str, TemplateFinding]:
    checked = sheet(path).checked
    assert checked is not None
    assert not checked.error
    return {finding.check: finding for finding in checked.findings}


def test_that_a_template_is_rendered_with_its_special_tokens_told_apart(tmp_path: Path) -> None:
    answer = sheet(write(tmp_path / "m.gguf"))
    assert answer.characters == len(CHATML)
    assert answer.checked is not None
    pieces = answer.checked.pieces
    assert "".join(piece.text for piece in pieces) == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nWhy <|im_end|>?<|im_end|>\n"
        "<|im_start|>assistant\nSo.<|im_end|>\n<|im_start|>user\nThanks<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert [piece.text for piece in pieces if piece.kind == "typed"] == ["<|im_end|>"]
    assert sum(piece.kind == "control" for piece in pieces) == 9
    assert answer.checked.tokens_tok == 0  # a header has no tokeniser


def test_that_a_process_of_its_own_answers_without_llama_cpp(tmp_path: Path) -> None:
    question = TemplateQuestion(str(write(tmp_path / "m.gguf")), SAMPLE)
    code = (
        "import sys; sys.modules['llama_cpp'] = None; "
        "from engine_bridge.child.template_once import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=msgspec.json.encode(question), capture_output=True, check=True,
    )  # fmt: skip
    answer = msgspec.json.decode(done.stdout, type=TemplateSheet)
    assert answer.checked is not None
    assert answer.checked.pieces


def test_that_turns_generation_and_ending_are_seen_by_rendering(tmp_path: Path) -> None:
    found = findings(write(tmp_path / "m.gguf"))
    assert "“<|im_end|>↵<|im_start|>assistant↵”" in found["turns"].sentence
    assert "“<|im_end|>↵<|im_start|>user↵”" in found["turns"].sentence
    assert found["generation"].sentence == "The generation prompt is “<|im_start|>assistant↵”."
    assert found["ending"].verdict == "good"
    assert "the EOS of the file" in found["ending"].sentence
    assert found["system"].verdict == "good"
    assert found["tools"].verdict == "note"
    assert "twice" not in found


def test_that_a_template_without_a_generation_prompt_says_so(tmp_path: Path) -> None:
    template = "{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}"
    found = findings(write(tmp_path / "m.gguf", template, ggml__eos_token_id=2))
    assert found["generation"].verdict == "note"


@pytest.mark.parametrize(
    ("values", "verdict", "words"),
    [
        ({"ggml__eos_token_id": 2}, "note", "by the token's text"),
        ({"ggml__eos_token_id": 2, "ggml__eot_token_id": 4}, "good", "end of turn (EOT)"),
        (
            {"ggml__eos_token_id": 2, "ggml__tokens": [*TOKENS[:4], "<|over|>", "a"]},
            "bad", "which is no special token",
        ),
    ],
)  # fmt: skip
def test_that_an_ending_that_is_not_the_eos_is_told(
    tmp_path: Path, values: dict[str, object], verdict: str, words: str
) -> None:
    ending = findings(write(tmp_path / "m.gguf", **values))["ending"]
    assert (ending.verdict, words in ending.sentence) == (verdict, True), ending.sentence


def test_that_a_token_that_is_no_end_is_named(tmp_path: Path) -> None:
    template = "{% for m in messages %}<s>{{ m.content }}{% endfor %}"
    ending = findings(write(tmp_path / "m.gguf", template))["ending"]
    assert ending.verdict == "bad"
    assert "“<s>”" in ending.sentence


def test_that_a_begin_of_text_token_from_two_sides_is_told_s21(tmp_path: Path) -> None:
    found = findings(write(tmp_path / "m.gguf", "{{ bos_token }}" + CHATML, ggml__add_bos_token=1))
    assert found["twice"].verdict == "note"
    assert "add_bos_token" in found["twice"].sentence
    once = findings(write(tmp_path / "n.gguf", "{{ bos_token }}" + CHATML))
    assert "twice" not in once


def test_that_tools_and_the_template_for_them_are_told(tmp_path: Path) -> None:
    with_tools = CHATML + "{{ tools | tojson if tools else '' }}"
    assert findings(write(tmp_path / "m.gguf", with_tools))["tools"].verdict == "good"
    path = write(tmp_path / "n.gguf", CHATML, chat_template__tool_use=with_tools,
                 chat_template__rag="x")  # fmt: skip
    tools = findings(path)["tools"]
    assert tools.verdict == "good"
    assert "tool_use" in tools.sentence
    assert sheet(path).others == ("tool_use", "rag")


def test_that_a_template_that_fails_over_tools_says_so(tmp_path: Path) -> None:
    template = CHATML + "{% if tools %}{{ raise_exception('no tools here') }}{% endif %}"
    tools = findings(write(tmp_path / "m.gguf", template))["tools"]
    assert (tools.verdict, "no tools here" in tools.sentence) == ("note", True)


def test_that_messages_left_out_are_told(tmp_path: Path) -> None:
    turns = findings(write(tmp_path / "m.gguf", "{{ messages[-1].content }}"))["turns"]
    assert turns.verdict == "bad"


def test_that_a_lone_template_for_tools_is_taken_as_llama_server_does(tmp_path: Path) -> None:
    answer = sheet(write(tmp_path / "m.gguf", "", chat_template__tool_use=CHATML))
    assert answer.name == "tool_use"
    assert answer.others == ()
    assert answer.checked is not None
    assert answer.checked.pieces


def test_that_a_base_model_has_none(tmp_path: Path) -> None:
    assert sheet(write(tmp_path / "m.gguf", "")) == TemplateSheet()
    assert sheet(models.gemma_path()) == TemplateSheet()


def test_that_a_vocabulary_of_an_unknown_kind_tells_no_token_apart(tmp_path: Path) -> None:
    answer = sheet(write(tmp_path / "m.gguf", ggml__model="from-the-future"))
    assert answer.checked is not None
    assert {piece.kind for piece in answer.checked.pieces} == {"text"}


def test_that_a_file_that_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    assert "no file" in sheet(tmp_path / "none.gguf").problem
    page = tmp_path / "page.gguf"
    page.write_bytes(b"<html>")
    assert "web page" in sheet(page).problem


def test_that_a_template_of_five_megabytes_is_a_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "m.gguf", "x" * 5 * 2**20)
    assert "has a text of 5,242,880 bytes" in sheet(path).problem


def test_that_an_endless_template_is_killed_with_a_sentence(tmp_path: Path) -> None:
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    started_s = time.monotonic()
    answer = sheet(write(tmp_path / "m.gguf", loop), deadline_s=0.5)
    assert time.monotonic() - started_s < PATIENCE_S
    assert answer.checked is not None
    assert "did not finish within 0.5 s" in answer.checked.error
    assert not answer.checked.findings


def test_that_a_template_that_only_hangs_over_tools_keeps_what_was_found(tmp_path: Path) -> None:
    loop = "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3
    path = write(tmp_path / "m.gguf", CHATML + "{% if tools %}" + loop + "{% endif %}")
    answer = sheet(path, deadline_s=3.0)
    assert answer.checked is not None
    assert not answer.checked.error
    checks = [finding.check for finding in answer.checked.findings]
    assert "ending" in checks
    assert "tools" not in checks


def test_that_half_a_character_of_a_template_is_a_question_mark(tmp_path: Path) -> None:
    answer = sheet(write(tmp_path / "m.gguf", "{{ 'a\\ud83d' }}{{ messages[0].content }}"))
    assert answer.checked is not None
    assert "".join(piece.text for piece in answer.checked.pieces).startswith("a?Be short.")
    assert msgspec.json.encode(answer)


def test_that_a_template_that_eats_memory_is_a_sentence(tmp_path: Path) -> None:
    eater = "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(40) %}" \
            "{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}"  # fmt: skip
    answer = sheet(write(tmp_path / "m.gguf", eater))
    assert answer.checked is not None
    assert "more text than any context holds" in answer.checked.error


def test_that_the_qwen_on_this_machine_is_told_whole() -> None:
    found = findings(Path(models.qwen_path()))
    assert {finding.verdict for finding in found.values()} == {"good"}
    assert "the EOS of the file" in found["ending"].sentence
    assert "Tools are written" in found["tools"].sentence
