"""What the inspector finds odd in a header, and that it says nothing of sound ones."""

from __future__ import annotations

import pytest

from engine_bridge.gguf_file import read_model
from engine_bridge.gguf_header import ArrayFacts, Header, TensorFacts
from engine_bridge.header_oddities import embeddings_words, oddities
from engine_bridge.model_facts import ModelFacts
from tests import models
from tests.unit.fake_client import model_facts


def header(**values: object) -> Header:
    told = {key.replace("__", "."): value for key, value in values.items()}
    return Header("/m.gguf", told, (), 0, 0, False)  # type: ignore[arg-type]


def small(**changes: object) -> ModelFacts:
    return model_facts(**({"layers": 1} | changes))


def table(kind: str = "Q6_K", rows: int = 100, size: int = 800) -> TensorFacts:
    return TensorFacts("token_embd.weight", kind, (64, rows), size, 0)


def matrix(kind: str = "Q4_K", name: str = "blk.0.attn_q.weight", size: int = 200) -> TensorFacts:
    return TensorFacts(name, kind, (64, 64), size, 0)


def said(*tensors: TensorFacts, facts: ModelFacts | None = None, **values: object) -> str:
    found = oddities(header(**values), facts or small(), tensors or (table(), matrix()))
    assert len(found) <= 1, found
    return "".join(found)


def test_that_a_model_without_oddities_has_none() -> None:
    assert said() == ""


def test_that_embeddings_left_unquantised_are_told_with_their_share() -> None:
    sentence = said(table("F16"), matrix())
    assert "F16" in sentence
    assert "80\u202f%" in sentence
    assert said(table("F16", size=10), matrix()) == ""
    assert said(table("F16"), matrix("F16"), facts=small(quantisation="F16")) == ""


def test_that_a_context_that_is_not_said_is_told() -> None:
    assert "what context" in said(facts=small(ctx_train_tok=0))


@pytest.mark.parametrize(
    ("values", "is_odd"),
    [
        ({"llama__rope__scaling__type": "yarn"}, True),
        ({"llama__rope__scaling__type": "linear"}, False),
        (
            {
                "llama__rope__scaling__type": "yarn",
                "llama__rope__scaling__original_context_length": 8_192,
            },
            False,
        ),
    ],
)
def test_that_a_scaled_rope_without_its_origin_is_told(
    values: dict[str, object], is_odd: bool
) -> None:
    assert ("32,768 tokens it was trained for" in said(**values)) is is_odd  # type: ignore[arg-type]


def test_that_a_chat_model_without_a_template_is_told() -> None:
    assert "no chat template" in said(facts=small(name="Toy 7B Instruct"))
    assert "no chat template" in said(general__finetune="Instruct-GGUF")
    assert said(facts=small(name="Toy 7B Instruct", chat_template="x")) == ""
    assert said(facts=small(name="Italian 7B")) == ""


def test_that_tokens_that_do_not_add_up_are_told() -> None:
    tokens = {"tokenizer__ggml__tokens": ArrayFacts(100)}
    assert said(**tokens) == ""  # type: ignore[arg-type]
    beyond = said(**tokens, tokenizer__ggml__eos_token_id=100)  # type: ignore[arg-type]
    assert "EOS token is number 100" in beyond
    none = said(**tokens, tokenizer__ggml__model="gpt2")  # type: ignore[arg-type]
    assert "names no EOS token" in none
    more = said(**tokens, llama__vocab_size=128)  # type: ignore[arg-type]
    assert "a vocabulary of 128, and lists 100 tokens" in more
    types = said(**tokens, tokenizer__ggml__token_type=ArrayFacts(99))  # type: ignore[arg-type]
    assert "99 types" in types
    rows = said(table(rows=128), matrix(), **tokens)  # type: ignore[arg-type]
    assert "128 rows for 100 tokens" in rows


def test_that_embeddings_of_another_width_are_told() -> None:
    assert "128 values in a row, and its embeddings have 64" in said(llama__embedding_length=128)
    assert said(llama__embedding_length=64) == ""


def test_that_layers_that_do_not_add_up_are_told() -> None:
    assert "3 of them have no tensors" in said(facts=small(layers=4))
    further = said(table(), matrix(), matrix(name="blk.1.attn_q.weight"), llama__block_count=1)
    assert "1 more" in further
    guessing = small(layers=1, nextn_blocks=1)  # the layer that guesses may be left out
    assert said(facts=guessing, llama__block_count=2) == ""


def test_that_experts_that_do_not_add_up_are_told() -> None:
    experts = TensorFacts("blk.0.ffn_up_exps.weight", "Q4_K", (64, 64, 8), 900, 0)
    assert "16 experts a layer, and its tensors hold 8" in said(
        table(), experts, facts=small(experts=16, experts_used=2)
    )
    assert said(table(), experts, facts=small(experts=8, experts_used=2)) == ""


def test_that_a_name_that_the_layers_do_not_bear_out_is_told() -> None:
    tensors = (table(), matrix("Q5_0", size=900), matrix("Q4_K", "blk.0.attn_k.weight", 100))
    facts = small(quantisation="Q4_K_M")
    sentence = said(*tensors, facts=facts, llama__embedding_length=64)
    assert "10\u202f% of its layers' bytes are Q4_K and most are Q5_0" in sentence
    assert "64 values do not divide into its blocks of 256" in sentence
    assert "divide" not in said(
        TensorFacts("token_embd.weight", "Q6_K", (256, 100), 800, 0), *tensors[1:],
        facts=facts, llama__embedding_length=256,
    )  # fmt: skip
    mixed = small(quantisation="IQ3_M")  # named after no type
    assert said(*tensors, facts=mixed) == ""


def test_that_both_ends_of_a_model_are_told() -> None:
    assert embeddings_words((table(), matrix())) == "Q6_K, also the output (tied)"
    output = TensorFacts("output.weight", "Q8_0", (64, 100), 10, 0)
    assert embeddings_words((table(), output)) == "Q6_K, output Q8_0"
    assert embeddings_words((matrix(),)) == ""


def test_that_the_models_on_this_machine_are_told_as_they_are() -> None:
    for path in (models.qwen_path(), models.gemma_path()):
        model = read_model(path)
        (found,) = oddities(model.header, model.facts, model.tensors)
        assert "do not divide into its blocks" in found
    large = read_model(models.qwen_large_path())
    assert oddities(large.header, large.facts, large.tensors) == ()
