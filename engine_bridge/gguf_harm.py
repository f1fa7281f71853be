"""Values of a header with which llama.cpp ends where it computes, long after it has taken them.

Knows which; reading a header is ``gguf_header``'s.
"""

from __future__ import annotations

import math

from engine_bridge.gguf_header import Header
from engine_bridge.gguf_window import GgufError, shown_name

# ggml-cpu/ops.cpp asserts of every norm that its epsilon is at least 0, which NaN is not.
_EPSILONS = (
    "attention.layer_norm_epsilon",
    "attention.layer_norm_rms_epsilon",
    "attention.group_norm_epsilon",
)


def refuse_what_harms(header: Header) -> None:
    """Look at the values that no other check sees.

    Raises:
        GgufError: If one of them would end the engine.
    """
    arch = header.text("general.architecture")
    for name in _EPSILONS:
        value = header.values.get(f"{arch}.{name}", 0.0)
        if isinstance(value, float) and not 0.0 <= value < math.inf:
            raise GgufError(
                f"{shown_name(header.path)} is damaged: its header gives {name} as {value:g}, with "
                "which nothing can be computed. Download it again."
            )
