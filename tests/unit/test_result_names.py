"""Settings in sentences as the window calls them."""

from __future__ import annotations

import pytest

from app.result_names import said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("slots=1", "1 slot"),
        ("slots=2.", "2 slots."),
        ("ctx_per_slot_tok=1024, threads=1", "Context per slot 1,024 tok, 1 thread"),
        ("Best: slots=4, flash_attn=on (2 tok/s).", "Best: 4 slots, Flash attention on (2 tok/s)."),
        ("cache_type_k+cache_type_v=q8_0", "KV cache q8_0"),
        ("threads=2 in place of 1", "2 threads in place of 1"),
        ("n_gpu_layers=auto", "Layers on GPU auto"),
        ("small, slots 1/2", "small, slots 1, 2"),
        (
            "slots 1/2 × cache_type_k+cache_type_v f16/q8_0",
            "slots 1, 2 × KV cache f16, q8_0",
        ),
        ("ctx_per_slot_tok 1024/2048", "Context per slot 1,024, 2,048 tok"),
        ("my_slots=3, extra=4", "my_slots=3, extra=4"),
        ("draft_model_path=/models/a.gguf", "draft_model_path=/models/a.gguf"),
        ("All slots are idle", "All slots are idle"),
    ],
)
def test_that_settings_have_their_label_and_unit(text: str, shown: str) -> None:
    assert said(text) == shown
