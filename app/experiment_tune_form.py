"""What the form asks of the tuner: a purpose, and what must hold. Pure; see ``experiment_form``."""

from __future__ import annotations

import math
from collections.abc import Mapping

from app.experiment_estimate import Work
from app.experiment_fields import FormError
from app.experiment_reading import Reading
from app.experiment_request import TuneRequest
from app.experiments.bench import refuse_impossible
from app.experiments.tune_goal import (
    KV_LADDER,
    LEAST_MEASUREMENTS,
    MOST_MEASUREMENTS,
    USUAL_MARGIN_BYTES,
    USUAL_MEASUREMENTS,
    USUAL_SECONDS,
    Purpose,
    TuneGoal,
)
from app.experiments.workload import Workload
from engine_bridge.settings.row import MAX_CONTEXT_TOK
from widgets.experiments.form_fields import SOURCE, Offer

USUAL_FLOOR = "q8_0"
MIB = 2**20
_MOST_MARGIN_MIB = 1 << 20
_DAY_MIN = 1_440.0

PURPOSES: tuple[Offer, ...] = (
    Offer(Purpose.CHAT, "One person chatting", "The fewest seconds per answer for one person."),
    Offer(Purpose.USERS, "Users within the limits", "The most requests a second within them."),
    Offer(Purpose.BATCH, "Most tokens an hour", "All that the machine can write, whoever waits."),
)
FLOORS: tuple[Offer, ...] = tuple(
    Offer(kind, "f16: leave the KV cache alone" if kind == KV_LADDER[0] else f"down to {kind}")
    for kind in KV_LADDER
)


def read_tune(reading: Reading) -> tuple[TuneRequest, Work, Mapping[str, str]]:
    """The request, its work and notes; see ``read_form``.

    Raises:
        FormError: With a sentence for each field that is wrong.
    """
    fields = reading.fields
    purpose = Purpose(fields.text("purpose") or Purpose.CHAT)
    ctx_tok = fields.whole("ctx_needed_tok", 0, 0, MAX_CONTEXT_TOK)
    usual_mib = USUAL_MARGIN_BYTES // MIB
    margin_mib = fields.whole("margin_mib", usual_mib, 0, _MOST_MARGIN_MIB)
    measurements = fields.whole(
        "measurements", USUAL_MEASUREMENTS, LEAST_MEASUREMENTS, MOST_MEASUREMENTS
    )
    minutes = fields.number("minutes_tune", USUAL_SECONDS / 60, 0, _DAY_MIN)
    is_chat = purpose is Purpose.CHAT
    if is_chat and fields.text("users") not in ("", "1"):
        fields.problems["users"] = "One person chats alone. Choose another purpose for more users."
    workload = reading.workload(users=1 if is_chat and not fields.text("users") else None)
    _refuse_without_limits(purpose, workload)
    goal = TuneGoal(
        purpose=purpose,
        workload=workload,
        users=workload.users,
        ctx_needed_tok=ctx_tok,
        margin_bytes=margin_mib * MIB,
        kv_floor=fields.text("kv_floor") or USUAL_FLOOR,
        drafts=fields.values.drafts,
        measurements=measurements,
        seconds=60 * minutes,
    )
    config = reading.config()
    with fields.at(SOURCE):
        goal.check()
    notes = _unused_limits(reading, purpose)
    try:
        with fields.at(SOURCE):
            refuse_impossible(config, workload, 1)
    except FormError:
        # The tuner sets the context by the work.
        notes["ctx_needed_tok"] = "The work needs more than a slot has now, which will be raised."
    work = Work(((goal.run_workload, measurements),), is_most=True, most_s=goal.seconds or math.inf)
    return TuneRequest(config, goal, reading.situation.memory), work, notes


def _unused_limits(reading: Reading, purpose: Purpose) -> dict[str, str]:
    """Notes beside limits that were typed though this purpose has none."""
    if purpose is Purpose.USERS:
        return {}
    told = f"Counts for “{PURPOSES[1].word}” only."
    return {name: told for name in ("ttft_slo_s", "tpot_slo_ms") if reading.fields.text(name)}


def _refuse_without_limits(purpose: Purpose, workload: Workload) -> None:
    """Refuse to look for users within limits that are not there.

    Raises:
        FormError: Beside the first limit.
    """
    if purpose is Purpose.USERS and not workload.has_limits:
        raise FormError({"ttft_slo_s": "Set the limit of TTFT or of TPOT that users are to have."})
