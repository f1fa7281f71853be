"""Whether a workload fits into the context of a slot, and what to do where it does not. Pure.

And what its users will have to share.
"""

from __future__ import annotations

from app.experiments.outline import outlines_of
from app.experiments.workload import Material, Workload
from engine_bridge.settings.config import pad_context_tok
from engine_bridge.settings.problem import Problem


def fit_problem(workload: Workload, ctx_per_slot_tok: int) -> Problem | None:
    """What is too long for a slot, with the context that would hold it; None if all fits.

    Args:
        workload: One without problems.
        ctx_per_slot_tok: Context that one conversation may use, in tokens.
    """
    needed_tok = workload.needed_ctx_tok()
    if needed_tok <= ctx_per_slot_tok:
        return None
    wanted_tok = pad_context_tok(needed_tok)
    where, used_tok = _first_too_long(workload, ctx_per_slot_tok)
    message = (
        f"{where} takes about {used_tok:,} tokens of context, {used_tok - ctx_per_slot_tok:,} more "
        f"than the {ctx_per_slot_tok:,} of a slot. Set the context per slot to {wanted_tok:,}, "
        f"which holds the whole workload, or {_shorter(workload)}."
    )
    return Problem(("ctx_per_slot_tok",), message, {"ctx_per_slot_tok": wanted_tok})


def sharing_remarks(workload: Workload, slots: int, pool_tok: int | None = None) -> tuple[str, ...]:
    """Sentences on what users will have to share, for results and not errors come of it.

    Args:
        workload: One without problems.
        slots: Slots of the engine.
        pool_tok: Cells of its KV pool; None says nothing of it.
    """
    if workload.rate_req_s is not None:
        return ()
    remarks, users = [], workload.users
    if users > slots:
        noun = "slot" if slots == 1 else "slots"
        remarks.append(
            f"{users:,} users share {slots:,} {noun}: requests wait for one, and TTFT counts "
            "the wait."
        )
    streams, each_tok = min(users, slots), workload.needed_ctx_tok()
    if pool_tok is not None and streams * each_tok > pool_tok:
        remarks.append(
            f"The KV pool of {pool_tok:,} tokens may be too small for {streams:,} conversations at "
            f"a time, the longest of which takes about {each_tok:,}: answers that find it full are "
            f"cut short and count as failed. Raise the pool size to {streams * each_tok:,} for "
            "room in any case."
        )
    return tuple(remarks)


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
