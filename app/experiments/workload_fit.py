"""Whether a workload fits into the context of a slot, and what to do where it does not. Pure."""

from __future__ import annotations

import math

from app.experiments.outline import outlines_of
from app.experiments.workload import Material, Workload
from engine_bridge.settings.problem import Problem

# llama.cpp pads a context to a multiple of this.
_STEP_TOK = 256


def fit_problem(workload: Workload, ctx_per_slot_tok: int) -> Problem | None:
    """What is too long for a slot, with the context that would hold it; None if all fits.

    Args:
        workload: One without problems.
        ctx_per_slot_tok: Context that one conversation may use, in tokens.
    """
    needed_tok = workload.needed_ctx_tok()
    if needed_tok <= ctx_per_slot_tok:
        return None
    wanted_tok = math.ceil(needed_tok / _STEP_TOK) * _STEP_TOK
    where, used_tok = _first_too_long(workload, ctx_per_slot_tok)
    message = (
        f"{where} takes about {used_tok:,} tokens of context, {used_tok - ctx_per_slot_tok:,} more "
        f"than the {ctx_per_slot_tok:,} of a slot. Set ctx_per_slot_tok to {wanted_tok:,}, which "
        f"holds the whole workload, or {_shorter(workload)}."
    )
    return Problem(("ctx_per_slot_tok",), message, {"ctx_per_slot_tok": wanted_tok})


def _first_too_long(workload: Workload, limit_tok: int) -> tuple[str, int]:
    """The first turn that does not fit, in words, and the context it takes."""
    for number, outline in enumerate(outlines_of(workload), start=1):
        for turn, used_tok in enumerate(workload.context_after(outline), start=1):
            if used_tok > limit_tok:
                return f"Turn {turn} of conversation {number} of {workload.name}", used_tok
    raise AssertionError("a workload that needs more than it has in no turn")


def _shorter(workload: Workload) -> str:
    if workload.material is Material.CONVERSATION:
        return "replay a shorter conversation"
    keys = ["prompt_tok", "answer_tok"]
    keys += ["turns"] if workload.turns > 1 else []
    keys += ["prefix_share"] if workload.prefix_share else []
    return f"lower {', '.join(keys[:-1])} or {keys[-1]}"
