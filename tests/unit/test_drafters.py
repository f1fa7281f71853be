"""Several drafters take their turns, and what a draft model occupies stands beside its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_bridge.child.breakdown import BufferBytes
from engine_bridge.child.ggml import BufferType
from engine_bridge.child.memory_shape import MemoryShape, shape_of
from engine_bridge.child.room import Room, problem_of_room
from engine_bridge.child.speculation.drafter import NOTHING, Drafter, Wanted
from engine_bridge.child.speculation.in_turn import InTurn
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig


@dataclass
class Always(Drafter):
    """Drafts the same token for some slots, nothing for others; notes what it is told."""

    token: int
    for_slots: frozenset[int]
    asked: list[list[int]] = field(default_factory=list)
    told: list[tuple[object, ...]] = field(default_factory=list)

    def begin(self, seq: int, prompt: NDArray[np.int32]) -> None:
        self.told.append(("begin", seq, prompt.tolist()))

    def accept(self, seq: int, accepted_tok: int, *, is_own: bool) -> None:
        self.told.append(("accept", seq, accepted_tok, is_own))

    def set_live(self, config: EngineConfig) -> None:
        self.told.append(("settings", config))

    def forget(self, seq: int) -> None:
        self.told.append(("forget", seq))

    def draft(self, wanted: Sequence[Wanted]) -> list[NDArray[np.int32]]:
        self.asked.append([one.seq for one in wanted])
        some = np.full(2, self.token, np.int32)
        return [some if one.seq in self.for_slots else NOTHING for one in wanted]


def _wanted(*slots: int) -> list[Wanted]:
    return [Wanted(slot, np.arange(5, dtype=np.int32), 8) for slot in slots]


def test_that_later_drafters_are_asked_for_the_rest_only() -> None:
    first, second = Always(7, frozenset({1})), Always(9, frozenset({0, 1}))
    drafts = InTurn((first, second)).draft(_wanted(0, 1, 2))
    assert [draft.tolist() for draft in drafts] == [[9, 9], [7, 7], []]
    assert first.asked == [[0, 1, 2]]
    assert second.asked == [[0, 2]]


def test_that_nobody_is_asked_for_nothing() -> None:
    first, second = Always(7, frozenset({0, 1})), Always(9, frozenset({0}))
    InTurn((first, second)).draft(_wanted(0, 1))
    assert second.asked == []


def test_that_a_draft_is_cut_to_what_is_wanted() -> None:
    drafter = Always(7, frozenset({0}))
    (draft,) = InTurn((drafter,)).draft([Wanted(0, np.arange(5, dtype=np.int32), 1)])
    assert draft.tolist() == [7]


def test_that_all_hear_what_became_of_a_draft_and_whose_it_was() -> None:
    first, second = Always(7, frozenset({1})), Always(9, frozenset({0, 1}))
    in_turn = InTurn((first, second))
    in_turn.draft(_wanted(0, 1))
    in_turn.accept(0, 2)
    in_turn.accept(1, 0)
    assert first.told == [("accept", 0, 2, False), ("accept", 1, 0, True)]
    assert second.told == [("accept", 0, 2, True), ("accept", 1, 0, False)]


def test_that_all_hear_of_a_text_s_begin_and_of_its_end() -> None:
    first, second = Always(7, frozenset()), Always(9, frozenset())
    in_turn = InTurn((first, second))
    in_turn.begin(3, np.array([1, 2], np.int32))
    in_turn.forget(3)
    assert first.told == second.told == [("begin", 3, [1, 2]), ("forget", 3)]


# --- Memory ------------------------------------------------------------------------------------

_BOARD, _BOARD_2 = BufferType("RPC0", "RPC0", False), BufferType("RPC1", "RPC1", False)
_HOST, _MAPPED = BufferType("CPU", "CPU", True), BufferType("CPU_Mapped", "CPU", True)


def _pair() -> MemoryShape:
    target = shape_of(
        [BufferBytes(_BOARD, 1000, 100, 10), BufferBytes(_MAPPED, 400, 0, 0)],
        output_bytes=7,
        recurrent_bytes=0,
        memory=(
            DeviceFacts("RPC0", "", "gpu", "RPC", 5000, 9000),
            DeviceFacts("CPU", "", "cpu", "CPU", 800, 900),
        ),
    )
    draft = shape_of(
        [
            BufferBytes(_BOARD, 50, 5, 1),
            BufferBytes(_BOARD_2, 60, 6, 2),
            BufferBytes(_MAPPED, 30, 0, 0),
            BufferBytes(_HOST, 0, 0, 4),
        ],
        output_bytes=3,
        recurrent_bytes=0,
    )
    return target.with_draft(draft)


def test_that_a_draft_model_stands_beside_its_target() -> None:
    pair = _pair()
    assert (pair.bytes.weights, pair.bytes.weights_mapped, pair.bytes.kv) == (1000, 400, 100)
    assert (pair.bytes.draft, pair.bytes.draft_mapped) == (56 + 68 + 37, 30)
    assert pair.bytes.total == 1110 + 407 + pair.bytes.draft
    assert pair.bytes.host == 407 + 37
    assert [(d.name, d.weights, d.draft, d.free) for d in pair.devices] == [
        ("RPC0", 1000, 56, 5000),
        ("RPC1", 0, 68, -1),
        ("CPU", 400, 37, 800),
    ]
    assert pair.host_owned_bytes == 407 + 37 - 400 - 30


@pytest.mark.parametrize(("free", "is_enough"), [(2**30 + 2**28, True), (2**30, False)])
def test_that_a_draft_model_needs_room_too(free: int, is_enough: bool) -> None:
    shape = shape_of([BufferBytes(_HOST, 2**29, 0, 0)], output_bytes=0, recurrent_bytes=0)
    pair = shape.with_draft(shape)
    room = Room((DeviceFacts("CPU", "", "cpu", "CPU", free, 4 * 2**30),), None)
    config = EngineConfig(spec_types=("draft-simple",), draft_model_path="d.gguf")
    problem = problem_of_room(pair, room, config)
    assert (problem is None) == is_enough
    if problem is not None:
        assert "1.0 GiB are needed" in problem.message
        assert "a smaller draft model or none" in problem.message
    plan = MemoryPlan(pair.bytes, pair.devices, None, True, (), 0.0)
    given_back = Room((DeviceFacts("CPU", "", "cpu", "CPU", 0, 4 * 2**30),), plan)
    assert given_back.memory[0].free == 2**30  # the draft model goes as well
