"""What is left of a run when the coming and leaving of its users are thrown away."""

from __future__ import annotations

import msgspec

from app.experiments.lengths import Fixed
from app.experiments.run_record import RequestRecord, RunRecord
from app.experiments.steady import steady_part
from app.experiments.workload import Material, Workload
from tests.unit.experiments.made_up_requests import request_at

WORK = Workload(name="toy", material=Material.PROSE, prompt_tok=Fixed(8), answer_tok=Fixed(4))


def record_of(*requests: RequestRecord) -> RunRecord:
    return RunRecord(tuple(sorted(requests, key=lambda request: request.sent_s)), 100.0)


def test_that_first_conversations_and_those_after_one_has_left_are_thrown_away() -> None:
    record = record_of(
        request_at(0.0, [0.5, 1.0], user=0, script="chat-001"),
        request_at(1.0, [1.5, 2.0], user=0, script="chat-001"),
        request_at(0.0, [1.0, 2.0], user=1, script="chat-002"),
        request_at(2.0, [3.0, 4.0], user=1, script="chat-002"),
        request_at(2.5, [5.0, 6.0], user=0, script="chat-003"),  # user 1 is at his first one yet
        request_at(4.0, [7.0, 8.0], user=1, script="chat-004"),
        request_at(6.0, [8.0, 9.0], user=0, script="chat-003"),
        request_at(8.0, [9.0, 10.0], user=1, script="chat-004"),
        request_at(9.0, [10.0, 11.0], user=0, script="chat-005"),  # his last one, then he leaves
        request_at(12.0, [13.0, 14.0], user=1, script="chat-006"),  # alone
    )
    part = steady_part(record, WORK)
    assert [(request.user, request.sent_s) for request in part.requests] == [
        (1, 4.0), (0, 6.0), (1, 8.0), (0, 9.0),
    ]  # fmt: skip
    assert part.duration_s == 11.0 - 4.0


def test_that_of_one_user_all_but_the_first_conversation_counts() -> None:
    record = record_of(
        *[request_at(t, [t + 0.5, t + 1.0], script=f"chat-{t}") for t in (0.0, 1.0, 2.0)]
    )
    part = steady_part(record, WORK)
    assert [request.sent_s for request in part.requests] == [1.0, 2.0]
    assert part.duration_s == 2.0


def test_that_an_open_loop_is_steady_from_its_first_arrival_on() -> None:
    record = record_of(request_at(0.0, [1.0], user=0), request_at(0.5, [2.0], user=1))
    open_loop = msgspec.structs.replace(WORK, rate_req_s=2.0)
    assert steady_part(record, open_loop) is record


def test_that_a_run_too_short_for_it_is_taken_whole() -> None:
    record = record_of(request_at(0.0, [1.0, 2.0], user=0), request_at(0.0, [3.0, 4.0], user=1))
    assert steady_part(record, WORK) is record
    assert steady_part(RunRecord((), 0.0), WORK) == RunRecord((), 0.0)
