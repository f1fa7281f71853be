"""The tuner's bench on a real engine with a tiny model: recorded, replayed, confirmed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.experiments.own_engine import OwnEngine
from tests.bench import tuner_live, tuner_recording, tuner_table
from tests.bench.tuner_replay import Unheard, replay
from tests.bench.tuner_table import Domain

pytestmark = pytest.mark.engine

_DOMAIN: Domain = {"slots": (1, 2)}
_WORK = msgspec.structs.replace(tuner_recording.WORK, requests=2, users=2)


def test_that_a_table_is_recorded_replayed_and_held_against_a_live_run(
    tiny_chat_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "table.json"
    base = tuner_recording.base_config(tiny_chat_path, _WORK).with_values({"threads": 1})
    with OwnEngine(awaits_peak=False) as engine:
        subject = tuner_recording.subject_here(engine.hello, tiny_chat_path)
        table = tuner_recording.record(
            engine, tuner_recording.Wanted(base, _DOMAIN, 4, _WORK), subject, path, Unheard()
        )
        assert (len(table.ranked), table.runs) == (2, 8)
        tuner_live.refuse_other_table(tuner_table.read_complete(path), subject)
        figures = tuner_live.live(
            engine, table, Unheard(), budget=tuner_live.Budget(pairs=4, seconds=60)
        )
    assert replay(table, 1).measurements <= 4
    names = [table.name_of(config) for config, _ in table.ranked]
    assert figures["found"] in names
    assert 0 < figures["measurements"] <= 4
    assert [each["best"] for each in figures["against"]] == names
    compared = [each for each in figures["against"] if not each["is_same"]]
    assert len(compared) == 1
    assert all(each["ratio"] > 0 for each in compared)
    assert "target: the interval" in tuner_live.lines(figures)[-1]
