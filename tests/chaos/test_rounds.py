"""A round or two of what ``make chaos`` does at length."""

from __future__ import annotations

import sys

import pytest

from tests.chaos import engine_kills, full_disk, mutated_files, out_of_memory
from tests.chaos.stage import Stage
from tests.chaos.window_kills import kill_one

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def test_that_two_blows_at_the_engine_are_survived(stage: Stage) -> None:
    tally = engine_kills.run(stage)
    assert tally.losses == []
    assert tally.tried == 2


def test_that_nothing_outlives_a_killed_window(stage: Stage) -> None:
    _, seconds = kill_one(stage.chat_model(), 0.2, with_engine=True)
    assert seconds < 60.0


def test_that_some_mutated_files_are_survived(stage: Stage) -> None:
    tally = mutated_files.run(stage)
    assert tally.losses == []
    assert tally.tried == 2


def test_that_a_full_and_a_read_only_disk_are_survived(stage: Stage) -> None:
    tally = full_disk.run(stage)
    assert tally.losses == []
    assert tally.tried == 2


@pytest.mark.skipif(sys.platform != "linux", reason="a limit from outside is Linux's")
def test_that_loads_for_which_memory_does_not_suffice_are_mended_by_one_click(stage: Stage) -> None:
    tally = out_of_memory.run(stage)
    assert tally.losses == []
    assert tally.tried == 2
