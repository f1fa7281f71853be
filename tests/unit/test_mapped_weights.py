"""That the mapped stretch of a file is predicted from its tensor table."""

from __future__ import annotations

from engine_bridge.child.mapped_weights import mapped_bytes
from engine_bridge.gguf_header import TensorFacts


def file_of(*tensors: tuple[str, str, int]) -> tuple[TensorFacts, ...]:
    """Tensors (name, type, bytes) one behind the other; norms have one dimension."""
    rows, offset = [], 0
    for name, kind, size in tensors:
        shape = (64,) if "norm" in name else (64, 64)
        rows.append(TensorFacts(name, kind, shape, size, offset))
        offset += -(-size // 32) * 32
    return tuple(rows)


PLAIN = file_of(
    ("output.weight", "Q4_K", 1000),
    ("token_embd.weight", "Q4_K", 2000),
    ("blk.0.attn_norm.weight", "F32", 256),
    ("blk.0.attn_q.weight", "Q6_K", 500),
    ("blk.1.attn_q.weight", "Q4_K", 700),
    ("output_norm.weight", "F32", 256),
)
END = PLAIN[-1].offset + 256


def test_that_everything_is_mapped_where_nothing_is_repacked() -> None:
    assert mapped_bytes((PLAIN,), 0, None) == END


def test_that_a_repacked_tensor_at_the_edge_is_left_out() -> None:
    # output.weight and blk.1 are the Q4_K matrices; the embedding is looked up, never repacked.
    assert mapped_bytes((PLAIN,), 1000 + 700, None) == END - PLAIN[1].offset


def test_that_a_sum_of_no_types_leaves_nothing_out() -> None:
    assert mapped_bytes((PLAIN,), 123_456, None) == END


def test_that_layers_on_a_board_are_not_mapped() -> None:
    assert mapped_bytes((PLAIN,), 0, 0) == 2000
    with_first_layer = PLAIN[3].offset + 500 - PLAIN[1].offset
    assert mapped_bytes((PLAIN,), 0, 1) == with_first_layer


def test_that_the_norm_behind_the_input_goes_with_the_first_layer() -> None:
    file = file_of(
        ("token_embd.weight", "F32", 2000),
        ("token_embd_norm.weight", "F32", 256),
        ("blk.1.attn_q.weight", "F32", 700),
    )
    assert mapped_bytes((file,), 0, 0) == 2000
    assert mapped_bytes((file,), 0, 1) == file[1].offset + 256


def test_that_parts_are_mapped_apart() -> None:
    first, second = PLAIN[:3], file_of(("blk.5.attn_q.weight", "Q6_K", 640))
    assert mapped_bytes((first, second), 0, None) == PLAIN[2].offset + 256 + 640
    assert mapped_bytes((first, ()), 0, None) == PLAIN[2].offset + 256
