from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bench import cells, report
from tests.bench.work import ContenderError, Layout, RunFigures, StreamTimes, Work, random_work

PAIRS = 4


def _stream(sent_ns: int, first_ns: int, last_ns: int, tokens: int) -> StreamTimes:
    return StreamTimes(sent_ns, first_ns, last_ns, tokens, "text", 0.5, 0.25)


@dataclass
class FakeContender:
    """Takes a fixed time a token and notes when it worked."""

    name: str
    token_ns: int
    diary: list[str] = field(default_factory=list)
    pid: int = 0
    is_closed: bool = False

    def run(self, work: Work) -> list[StreamTimes]:
        self.diary.append(self.name)
        last_ns = self.token_ns * work.new_tok
        return [_stream(0, self.token_ns, last_ns, work.new_tok) for _ in work.prompts]

    def close(self) -> None:
        self.is_closed = True


def _measure(engine: FakeContender, peer: FakeContender) -> cells.CellResult:
    # Two live processes to be watched: this one, and the one that started it.
    engine.pid, peer.pid = os.getpid(), os.getppid()
    plan = cells.CellPlan("toy", Path("toy.gguf"), 1000, streams=2, prompt_tok=8, new_tok=5)
    return cells.measure(plan, lambda layout: engine, lambda layout: peer, PAIRS)


def test_that_figures_of_a_run_follow_the_definitions() -> None:
    work = random_work(2, 4, 11, 1000, seed=0)
    streams = [
        _stream(1_000, 3_000, 13_000, 11),
        _stream(2_000, 6_000, 26_000, 11),
    ]
    figures = RunFigures.of(streams, work)
    assert figures.ttft_s == pytest.approx((2_000 + 4_000) / 2 * 1e-9)
    assert figures.tpot_s == pytest.approx((1_000 + 2_000) / 2 * 1e-9)
    assert figures.aggregate_tok_s == pytest.approx(22 / 25_000e-9)


def test_that_a_run_with_a_token_too_few_is_no_run() -> None:
    work = random_work(1, 4, 11, 1000, seed=0)
    with pytest.raises(ContenderError, match="11 tokens"):
        RunFigures.of([_stream(0, 1, 2, 10)], work)


def test_that_prompts_differ_between_streams_and_runs_but_not_between_programs() -> None:
    first, again, other = (random_work(3, 16, 4, 1000, seed) for seed in (1, 1, 2))
    assert first == again
    assert len({*first.prompts, *other.prompts}) == 6
    assert all(250 <= int(token) < 750 for prompt in first.prompts for token in prompt)


def test_that_pairs_alternate_who_goes_first_and_warm_ups_do_not_count() -> None:
    diary: list[str] = []
    engine, peer = FakeContender("E", 10, diary), FakeContender("P", 10, diary)
    result = _measure(engine, peer)
    assert "".join(diary) == "EP" + "EPPE" * (PAIRS // 2)
    assert all(f.gains.size == PAIRS for f in result.figures)
    assert engine.is_closed
    assert peer.is_closed


def test_that_processes_that_are_started_anew_warm_up_again() -> None:
    diary: list[str] = []
    engine, peer = FakeContender("E", 10, diary), FakeContender("P", 10, diary)
    engine.pid, peer.pid = os.getpid(), os.getppid()
    plan = cells.CellPlan("toy", Path("toy.gguf"), 1000, streams=2, prompt_tok=8, new_tok=5)
    cells.measure(plan, lambda layout: engine, lambda layout: peer, 4, processes=2)
    assert "".join(diary) == "EP" + "EPPE" + "EP" + "EPPE"


def test_that_the_engine_is_ended_when_the_peer_does_not_start() -> None:
    engine = FakeContender("E", 10)

    def fail(layout: Layout) -> FakeContender:
        raise ContenderError("no peer")

    plan = cells.CellPlan("toy", Path("toy.gguf"), 1000, 1, 8, 5)
    with pytest.raises(ContenderError, match="no peer"):
        cells.measure(plan, lambda layout: engine, fail, PAIRS)
    assert engine.is_closed


def test_that_the_file_has_the_shape_that_outsiders_read(tmp_path: Path) -> None:
    result = _measure(FakeContender("E", 20), FakeContender("P", 10))
    path = tmp_path / "bench" / "engine.json"
    report.write(path, report.as_json([result], "a machine", "an engine", "a peer"))
    content = json.loads(path.read_text())
    assert content["machine"] == "a machine"
    assert content["peer"] == "a peer"
    assert [(c["model"], c["streams"], c["metric"]) for c in content["cells"]] == [
        ("toy", 2, "aggregate_tok_s"),
        ("toy", 2, "ttft"),
        ("toy", 2, "tpot"),
    ]
    for cell in content["cells"]:
        assert cell["ratio"] == pytest.approx(0.5)
        assert cell["interval"] == pytest.approx([0.5, 0.5])
    rate, ttft, tpot = content["cells"]
    assert rate["ratio"] == pytest.approx(rate["engine"] / rate["peer"])
    assert ttft["ratio"] == pytest.approx(ttft["peer"] / ttft["engine"])
    assert tpot["ratio"] == pytest.approx(tpot["peer"] / tpot["engine"])
    assert content["geomean"] == pytest.approx({"aggregate_tok_s": 0.5, "ttft": 0.5, "tpot": 0.5})


def test_that_the_table_says_when_the_target_is_missed_and_when_it_is_met() -> None:
    slow = _measure(FakeContender("E", 20), FakeContender("P", 10))
    equal = _measure(FakeContender("E", 10), FakeContender("P", 10))
    assert "MISSED" in report.table([slow])
    assert "at least 0.98: met" in report.table([equal])
    assert "toy" in report.table([equal])
