"""What a comparison of two KV caches found, as figures by name. Pure.

Names end in their unit; KL divergences are in nats, shares from 0 to 1, and ``…_error`` is the
standard error of the figure before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from app.experiments.spread import log_gains, ratio
from engine_bridge.quality_messages import (
    Estimate,
    QualityAnswer,
    RecallTested,
    SpeedMeasured,
    TextFigures,
    TextScored,
)

# Stretches of a long text in which recall is told apart.
_STRETCH_PERCENT = 25
_HEADLINES = (
    "mean_kld", "same_top_share", "ppl_ratio", "kv_bytes", "tpot_s", "recall_share",
)  # fmt: skip


def figures_in(answer: QualityAnswer) -> dict[str, float]:
    """The candidate's figures in ``answer``; empty where it holds none."""
    match answer:
        case TextScored(figures=figures):
            return _of_text(figures)
        case RecallTested():
            return _of_recall(answer)
        case SpeedMeasured():
            return _of_speed(answer)
    return {}


def base_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """What a candidate's figures tell of the base, by the names the base's cell has them under."""
    names = {
        "ppl_base": "ppl",
        "ppl_base_error": "ppl_error",
        "tpot_base_s": "tpot_s",
        "kv_base_bytes": "kv_bytes",
    }
    names |= {
        key: key.removesuffix("_base")
        for key in figures
        if key.startswith("recall_share") and key.endswith("_base")
    }
    same = ("facts", "recall_ctx_tok", "tpot_depth_tok", "scored_tok", "gqa_ratio", "kv_ctx_tok")
    told = {names[key]: value for key, value in figures.items() if key in names}
    return told | {key: figures[key] for key in same if key in figures}


def in_order(figures: Mapping[str, float]) -> dict[str, float]:
    """``figures`` with those first that say most, for lists that show only some."""
    first = {key: figures[key] for key in _HEADLINES if key in figures}
    return first | dict(figures)


def excludes_one(value: float, error: float) -> bool:
    """Whether the 95 % interval of a ratio with that standard error leaves out 1."""
    return abs(value - 1) > 1.96 * error


def _of_text(text: TextFigures) -> dict[str, float]:
    found = {"scored_tok": float(text.tokens), "chunks": float(text.chunks)}
    for name, estimate in (
        ("mean_kld", text.kld),
        ("same_top_share", text.same_top),
        ("ppl_base", text.ppl_base),
        ("ppl", text.ppl),
        ("ppl_ratio", text.ppl_ratio),
    ):
        found |= _with_error(name, estimate)
    found |= {
        "median_kld": text.kld_median,
        "p90_kld": text.kld_p90,
        "p99_kld": text.kld_p99,
        "max_kld": text.kld_max,
    }
    for depth in text.depths:
        found |= _with_error(f"mean_kld_from_{depth.begin_tok}_tok", depth.kld)
        found |= _with_error(f"same_top_share_from_{depth.begin_tok}_tok", depth.same_top)
    return found


def _with_error(name: str, estimate: Estimate) -> dict[str, float]:
    return {name: estimate.value, f"{name}_error": estimate.error}


def _of_recall(recall: RecallTested) -> dict[str, float]:
    facts = len(recall.base)
    lost = sum(was and not is_ for was, is_ in zip(recall.base, recall.candidate, strict=True))
    share = sum(recall.candidate) / facts
    found = {
        "facts": float(facts),
        "recall_ctx_tok": float(recall.ctx_tok),
        "recall_share_base": sum(recall.base) / facts,
        "recall_share": share,
        "recall_share_error": math.sqrt(share * (1 - share) / max(1, facts - 1)),
        "recall_lost": float(lost),
    }
    for begin in range(0, 100, _STRETCH_PERCENT):
        end = begin + _STRETCH_PERCENT
        told = [at for at, depth in enumerate(recall.depths) if begin <= 100 * depth < end]
        if told:
            name = f"recall_share_from_{begin}_percent"
            found[name] = sum(recall.candidate[at] for at in told) / len(told)
            found[f"{name}_base"] = sum(recall.base[at] for at in told) / len(told)
    return found


def _of_speed(speed: SpeedMeasured) -> dict[str, float]:
    found = {
        "tpot_depth_tok": float(speed.depth_tok),
        "tpot_base_s": float(np.median(speed.base_s)),
        "tpot_s": float(np.median(speed.candidate_s)),
    }
    if len(speed.base_s) > 1:
        # Steps that took turns are pairs: how many times as long the candidate's are.
        gains = log_gains(speed.candidate_s, speed.base_s, is_more_better=True)
        longer = ratio(gains)
        found |= {
            "tpot_ratio": longer.value,
            "tpot_ratio_low": longer.low,
            "tpot_ratio_high": longer.high,
        }
    return found
