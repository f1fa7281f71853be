"""What was thought goes back to the engine whole; a template of a reasoning model leaves it out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine_bridge.child.template import TemplateRenderer
from engine_bridge.protocol import ChatMessage

# The rule of Qwen 3 and of DeepSeek R1: of an earlier answer only what follows the thought is kept.
STRIPS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and '</think>' in m.content %}"
    "{{ m.content.split('</think>')[-1].lstrip('\n') }}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def renderer() -> Iterator[TemplateRenderer]:
    made = TemplateRenderer(deadline_s=60.0)
    made.start()
    yield made
    made.close()


@pytest.fixture(autouse=True, scope="module")
def _helper_outlives_tests(renderer: TemplateRenderer) -> None:
    """Started before the leak check of the first test looks around."""


@pytest.mark.parametrize("opener", ["<think>\n", ""], ids=["said by the model", "by the template"])
@pytest.mark.parametrize("specials", [(), ("<think>", "</think>")], ids=["words", "control tokens"])
def test_that_a_reasoning_template_leaves_earlier_thoughts_out(
    renderer: TemplateRenderer, opener: str, specials: tuple[str, ...]
) -> None:
    rendered = renderer.render(
        STRIPS,
        [
            ChatMessage("user", "2 + 2?"),
            ChatMessage("assistant", f"{opener}Two and two.\n</think>\n\nFour."),
            ChatMessage("user", "And 3?"),
        ],
        bos="",
        eos="",
        add_generation_prompt=True,
        special_texts=("<|im_start|>", "<|im_end|>", *specials),
    )
    assert "Two and two" not in rendered.text
    assert "<|im_start|>assistant\nFour.<|im_end|>" in rendered.text.replace("\n\nFour", "\nFour")
