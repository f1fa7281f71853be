"""Operations of steps, roofs, and what is fitted through measured steps."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine_bridge.gguf_file import guess_reads, read_model, weight_reads
from engine_bridge.gguf_header import TensorFacts
from engine_bridge.metrics.bandwidth import WeightReads
from engine_bridge.metrics.roofline import (
    Attention,
    attention_of,
    fitted_step,
    looks_back,
    ridge_operations_per_byte,
    roof_operations_per_s,
)
from engine_bridge.model_facts import ModelFacts

FACTS = ModelFacts("m.gguf", "M", "llama", "F16", 1, 1, 1, 1, 4096, 100, 8, 2, (64,), (64,))


@pytest.mark.parametrize(
    ("depth", "tokens", "window"),
    [(0, 1, 0), (10, 1, 0), (10, 7, 0), (3, 9, 5), (0, 3, 8), (20, 4, 8), (7, 2, 8), (8, 1, 8)],
)
def test_that_each_token_looks_at_those_before_it_and_itself(
    depth: int, tokens: int, window: int
) -> None:
    each = [depth + number + 1 for number in range(tokens)]
    counted = sum(min(look, window) if window else look for look in each)
    assert looks_back(depth, tokens, window) == counted


def test_that_attention_costs_four_operations_a_head_and_value() -> None:
    facts = msgspec.structs.replace(
        FACTS,
        layers=3,
        heads=8,
        kv_heads=2,
        bytes_per_token_f16=3 * 2 * (64 + 64) * 2,
        window_k_values=2 * 64,
        window_v_values=2 * 64,
        window_tok=512,
        is_mla=False,
    )
    attention = attention_of(facts)
    # 4 × heads × head dimension, in two layers that see all and one with the window.
    assert attention.full == 2 * 4 * 8 * 64
    assert attention.window == 1 * 4 * 8 * 64
    assert attention.window_tok == 512
    assert attention.operations(10, 5) == 10 * attention.full + 5 * attention.window


def test_that_a_model_without_attention_looks_at_nothing() -> None:
    facts = msgspec.structs.replace(FACTS, heads=0, kv_heads=0, bytes_per_token_f16=0)
    assert attention_of(facts) == Attention(0.0, 0.0, facts.window_tok)


def test_that_the_output_is_computed_for_wanted_logits_only() -> None:
    reads = WeightReads(1000, output_bytes=400, body_parameters=300, output_parameters=200)
    assert reads.operations(512, 1) == 2 * (300 * 512 + 200)
    assert reads.per_step_bytes(512) == 1000
    assert reads.per_step_bytes(512, has_output=False) == 600


def test_that_parameters_are_those_a_token_touches(tiny_moe_path: Path) -> None:
    gguf = read_model(tiny_moe_path)
    reads = weight_reads(gguf.tensors, gguf.facts)
    matrices = {t.name: t.elements for t in gguf.tensors if len(t.shape) > 1}
    experts = sum(count for name, count in matrices.items() if "_exps" in name)
    output = matrices.pop("output.weight")
    embedding = matrices.pop("token_embd.weight")
    rest = sum(matrices.values()) - experts
    assert reads.output_parameters == output
    assert reads.body_parameters == pytest.approx(rest + experts * 2 / 8)
    assert embedding > 0  # which is looked up and multiplied with nothing
    f32_bytes = 4
    assert reads.output_bytes == output * f32_bytes


def _tensor(name: str, elements: int) -> TensorFacts:
    return TensorFacts(name, "F16", (elements, 1), 2 * elements, 0)


def test_that_a_tied_embedding_is_read_as_the_output() -> None:
    tensors = [_tensor("token_embd.weight", 50), _tensor("blk.0.ffn_up.weight", 7)]
    reads = weight_reads(tensors, FACTS)
    assert reads.shared_bytes == 2 * 57
    assert (reads.output_bytes, reads.output_parameters, reads.body_parameters) == (100, 50, 7)


def test_that_a_guess_reads_its_layer_and_one_output() -> None:
    facts = msgspec.structs.replace(FACTS, layers=1, nextn_layers=2)
    own = ".nextn.shared_head_head.weight"
    tensors = [
        _tensor("blk.0.ffn_up.weight", 1000),
        *(_tensor(f"blk.{n}.ffn_up.weight", 10) for n in (1, 2)),
        *(_tensor(f"blk.{n}.nextn.embed_tokens.weight", 500) for n in (1, 2)),
        *(_tensor(f"blk.{n}{own}", 70) for n in (1, 2)),
    ]
    reads = guess_reads(tensors, facts)
    assert reads.shared_bytes == 2 * (10 + 70)
    assert reads.output_bytes == 2 * 70
    assert reads.body_parameters == 10
    plain = [tensor for tensor in tensors if not tensor.name.endswith(own)]
    reads = guess_reads([*plain, _tensor("output.weight", 90)], facts)
    assert reads.shared_bytes == 2 * (10 + 90)


def test_that_the_lower_roof_binds() -> None:
    assert roof_operations_per_s(2.0, 60e9, 500e9) == 120e9
    assert roof_operations_per_s(20.0, 60e9, 500e9) == 500e9
    assert roof_operations_per_s(2.0, None, 500e9) == 500e9
    assert roof_operations_per_s(2.0, None, None) is None
    assert ridge_operations_per_byte(50e9, 500e9) == 10
    assert ridge_operations_per_byte(None, 500e9) is None


def test_that_a_line_through_steps_gives_back_what_they_were_made_of() -> None:
    made = [(1, 0.020), (2, 0.023), (4, 0.029)]
    found = fitted_step(made)
    assert found is not None
    first_s, each_s = found
    assert first_s == pytest.approx(0.020)
    assert each_s == pytest.approx(0.003)


def test_that_nothing_is_fitted_where_nothing_can_be_told() -> None:
    assert fitted_step([]) is None
    assert fitted_step([(2, 0.02), (2, 0.03)]) is None
    assert fitted_step([(1, 0.03), (2, 0.02)]) is None  # a further stream that costs less than none
