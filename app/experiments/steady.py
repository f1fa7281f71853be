"""The part of a run in which all users were there. Pure.

At the start of a closed loop all begin a conversation almost at once, which they never do again;
at its end some have left. Neither says how the engine serves that many, so both are thrown away.
"""

from __future__ import annotations

import msgspec

from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.workload import Workload


def steady_part(record: RunRecord, workload: Workload) -> RunRecord:
    """``record`` with the requests that were sent while all users were there, and that time.

    Each user's first conversation is not among them: all are at the same turn of it.

    The engine's own figures (steps, memory) stay those of the whole run. An open loop has no users
    who come and leave: it is steady from its first arrival on.

    Args:
        record: A whole run.
        workload: What was played.
    """
    if workload.rate_req_s is not None or not record.requests:
        return record
    by_user: dict[int, list[RequestRecord]] = {}
    for request in record.requests:
        by_user.setdefault(request.user, []).append(request)
    begins_s = max(_end_s(_last_of_first(requests)) for requests in by_user.values())
    ends_s = min(_end_s(requests[-1]) for requests in by_user.values())
    within = tuple(request for request in record.requests if begins_s <= request.sent_s < ends_s)
    if not within:
        return record
    return msgspec.structs.replace(record, requests=within, duration_s=ends_s - begins_s)


def _last_of_first(requests: list[RequestRecord]) -> RequestRecord:
    """The last request of a user's first conversation."""
    return [request for request in requests if request.script == requests[0].script][-1]


def _end_s(request: RequestRecord) -> float:
    """When its last token came; of one that had none, when it was sent."""
    return request.step_s[-1] if request.step_s else request.sent_s
