"""Operations of a step, and the roofs that bound them.

The roofline model (Williams, Waterman and Patterson, Communications of the ACM 52/4, 2009): a step
of ``i`` operations per byte runs at no more than ``min(compute, i × bandwidth)`` operations per
second. Pure arithmetic; knows no engine.

Operations of a token are ``2 × parameters + 4 × layers × heads × head dimension × depth`` (the
forward half of Chowdhery et al., "PaLM", 2022, appendix B): each weight costs a multiplication and
an addition, and so does each value of the cache for every query head that looks at it, once as key
or once as value. Of a mixture of experts the experts that a token is sent to count, of the token
embedding nothing, and the output matrix only for tokens whose logits are wanted. Norms,
activations, the softmax and the scan of recurrent layers are left out: a few per cent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine_bridge.model_facts import ModelFacts

_F16_BYTES = 2


@dataclass(frozen=True)
class Attention:
    """Operations of a token for each token it looks back at.

    Attributes:
        full: In the layers that look at everything.
        window: In the layers with a sliding window.
        window_tok: Its length.
    """

    full: float = 0.0
    window: float = 0.0
    window_tok: int = 0

    def operations(self, looks: float, window_looks: float) -> float:
        """Operations for so many looks at a token: the sum of ``looks_back`` over the texts."""
        return self.full * looks + self.window * window_looks


def attention_of(facts: ModelFacts) -> Attention:
    """What attention costs in a model.

    A value of the cache is used by ``gqa_ratio`` query heads, two operations each; with one number
    of heads in all layers that is the formula above. Layers that share the cache of others are
    counted once, and where values are a part of the keys (MLA) the keys count twice.
    """
    values = facts.bytes_per_token_f16 / _F16_BYTES
    window_values = facts.window_k_values + facts.window_v_values
    each = 2.0 * facts.gqa_ratio * (2.0 if facts.is_mla else 1.0)
    return Attention(each * (values - window_values), each * window_values, facts.window_tok)


def looks_back(depth_tok: int, tokens: int, window_tok: int = 0) -> float:
    """At how many tokens ``tokens`` new ones look behind ``depth_tok``, each at itself too.

    Args:
        depth_tok: Tokens before them.
        tokens: New tokens, one after the other.
        window_tok: None of them looks further back than this; 0 for no such limit.
    """
    if not window_tok:
        return tokens * (depth_tok + (tokens + 1) / 2)
    # The first ones still see less than the window.
    below = max(0, min(tokens, window_tok - depth_tok))
    return below * (depth_tok + (below + 1) / 2) + (tokens - below) * window_tok


def roof_operations_per_s(
    operations_per_byte: float,
    peak_bytes_per_s: float | None,
    peak_operations_per_s: float | None,
) -> float | None:
    """The lower of both roofs; None where neither is known."""
    roofs: list[float] = []
    if peak_bytes_per_s is not None:
        roofs.append(operations_per_byte * peak_bytes_per_s)
    if peak_operations_per_s is not None:
        roofs.append(peak_operations_per_s)
    return min(roofs, default=None)


def ridge_operations_per_byte(
    peak_bytes_per_s: float | None, peak_operations_per_s: float | None
) -> float | None:
    """Where both roofs meet: below it memory binds, above it compute; None where one is unknown."""
    if not peak_bytes_per_s or not peak_operations_per_s:
        return None
    return peak_operations_per_s / peak_bytes_per_s


def fitted_step(points: Iterable[tuple[int, float]]) -> tuple[float, float] | None:
    """Seconds of a step as ``first + each × (streams − 1)``, least squares over measured points.

    Args:
        points: (streams, seconds of a step).

    Returns:
        First and each; None below two different numbers of streams, or where a further stream
        seems to cost nothing, from which nothing can be told.
    """
    found = sorted(points)
    if len({streams for streams, _ in found}) < 2:
        return None
    mean_x = sum(streams - 1 for streams, _ in found) / len(found)
    mean_y = sum(seconds for _, seconds in found) / len(found)
    spread = sum((streams - 1 - mean_x) ** 2 for streams, _ in found)
    each = sum((s - 1 - mean_x) * (seconds - mean_y) for s, seconds in found) / spread
    first = mean_y - each * mean_x
    return (first, each) if each > 0 and first > 0 else None
