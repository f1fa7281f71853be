"""Runs on a real engine process with a tiny model: users, stops, deaths, refusals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from app.experiments.own_engine import OwnEngine
from app.experiments.play import play, tok_per_char
from app.experiments.port import ConfigRefusedError, EngineGoneError, StoppedError
from app.experiments.run_record import RunRecord
from app.experiments.script import Script, Turn
from engine_bridge.protocol import RequestStarted, TokensDelivered
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import tiny_config

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def engine(tiny_chat_path: Path) -> Iterator[OwnEngine]:
    """An engine that lives through the tests of this file, with all its helpers."""
    with OwnEngine(awaits_peak=False) as running:
        running.apply(tiny_config(tiny_chat_path))
        play(running, scripts(1, 1))
        yield running


@pytest.fixture
def config(tiny_chat_path: Path) -> EngineConfig:
    return tiny_config(tiny_chat_path, slots=2, ctx_per_slot_tok=1024)


def scripts(count: int, new_tok: int = 24) -> list[Script]:
    """Conversations of two turns that begin differently."""
    turns = (Turn("Tell me about rivers.", new_tok), Turn("And about lakes?", new_tok))
    return [
        Script(f"s{n}", turns, system=f"User {n} wants short answers. " * 4) for n in range(count)
    ]


def reused(record: RunRecord) -> int:
    return sum(request.timing.reused_tok for request in record.requests if request.timing)


def test_that_users_share_the_engine(engine: OwnEngine, config: EngineConfig) -> None:
    applied = engine.apply(config)
    assert applied.effective.slots == 2
    record = play(engine, scripts(6), users=3)
    assert [(r.reason, r.detail) for r in record.requests] == [("token_limit", "")] * 12
    for request in record.requests:
        assert request.timing is not None
        assert request.timing.new_tok == sum(request.step_tok) == 24
        assert request.timing.ttft_s is not None
        assert request.step_s[0] == pytest.approx(request.sent_s + request.timing.ttft_s, abs=0.5)
        assert request.step_s[0] > request.sent_s
        assert all(first < second for first, second in pairwise(request.step_s))
    # A second turn finds the first one in its slot, or in the host.
    first_tok = {r.script: r.timing.prompt_tok for r in record.requests if r.timing and not r.turn}
    second = [r for r in record.requests if r.turn == 1]
    assert all(
        r.timing is not None and r.timing.reused_tok >= 0.9 * first_tok[r.script] for r in second
    )
    assert sum(work.delivered_tok for work in record.work) == 12 * 24
    assert record.duration_s == pytest.approx(max(r.step_s[-1] for r in record.requests), abs=0.01)
    assert record.owned_bytes > 1 << 20
    assert record.device_bytes
    assert record.longest_step_s > 0
    assert record.disturbances == ()


def test_that_a_run_finds_nothing_of_the_run_before(
    engine: OwnEngine, config: EngineConfig
) -> None:
    engine.apply(config)
    assert config.cache_ram_mib > 0
    records = [play(engine, scripts(3, 8), users=2) for _ in range(2)]
    first = [
        [r.timing.reused_tok for r in each.requests if r.timing and not r.turn] for each in records
    ]
    assert max(first[0] + first[1]) < 32  # the template's beginning
    assert records[1].disturbances == ()
    assert reused(play(engine, scripts(3, 8), users=2, keeps_caches=True)) < reused(
        play(engine, scripts(3, 8), users=2, keeps_caches=True)
    )


def test_that_scripts_begin_when_they_are_due(engine: OwnEngine, config: EngineConfig) -> None:
    engine.apply(config)
    turns = (Turn("Tell me.", 16),)
    due = [Script(f"s{n}", turns, start_s=0.1 * n) for n in range(4)]
    record = play(engine, due)
    for number, request in enumerate(record.requests):
        assert request.script == f"s{number}"
        assert 0.1 * number <= request.sent_s < 0.1 * number + 1.0


def test_that_a_configuration_that_is_refused_leaves_the_one_before(
    engine: OwnEngine, config: EngineConfig, tmp_path: Path
) -> None:
    engine.apply(config)
    impossible = config.with_values({"flash_attn": "off", "cache_type_v": "q8_0"})
    with pytest.raises(ConfigRefusedError, match=r"(?i)flash attention") as caught:
        engine.apply(impossible)
    assert "cache_type_v" in caught.value.problem.keys
    missing = config.with_values({"model_path": str(tmp_path / "gone.gguf")})
    with pytest.raises(ConfigRefusedError):
        engine.apply(missing)
    assert [r.reason for r in play(engine, scripts(1)).requests] == ["token_limit"] * 2
    assert engine.apply(config).cost == "live"


def test_that_the_cheapest_change_is_made(
    engine: OwnEngine, config: EngineConfig, tiny_path: Path
) -> None:
    engine.apply(config)
    assert engine.apply(config.with_values({"slots": 3})).cost == "new context"
    other = engine.apply(config.with_values({"model_path": str(tiny_path)}))
    assert other.cost == "reload"
    assert other.model is not None
    assert engine.apply(config).cost == "reload"


def test_that_its_tokeniser_counts(engine: OwnEngine, config: EngineConfig) -> None:
    engine.apply(config)
    text = "rivers and lakes " * 20
    whole = tok_per_char(engine, text)
    assert 0.05 < whole < 1.5
    # Larger than a slot: the beginning says as much.
    assert tok_per_char(engine, text * 200) == pytest.approx(whole, rel=0.1)


def test_that_a_stop_in_the_middle_leaves_the_engine_idle(config: EngineConfig) -> None:
    with OwnEngine(awaits_peak=False) as engine:
        engine.apply(config)
        with pytest.raises(StoppedError) as caught:
            play(engine, scripts(50, 100), users=4, progressed=lambda ended, _: engine.stop())
        record = caught.value.record
        assert record is not None
        reasons = {request.reason for request in record.requests}
        assert reasons == {"token_limit", "cancelled"}
        assert len(record.requests) < 20
        # Whoever still wrote would say so sixty times a second.
        while (event := engine.next_event(0.5)) is not None:
            assert not isinstance(event, TokensDelivered | RequestStarted)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")
def test_that_an_engine_killed_in_the_middle_is_replaced(config: EngineConfig) -> None:
    with OwnEngine(awaits_peak=False) as engine:
        engine.apply(config)
        pid = engine.pid
        with pytest.raises(EngineGoneError, match="ended by SIGKILL") as caught:
            play(
                engine, scripts(20, 100), users=2,
                progressed=lambda *_: os.kill(engine.pid, signal.SIGKILL),
            )  # fmt: skip
        record = caught.value.record
        assert record is not None
        assert record.requests[0].reason == "token_limit"
        assert record.duration_s > 0
        assert not psutil.pid_exists(pid)
        engine.apply(config)
        assert engine.pid not in (0, pid)
        assert len(play(engine, scripts(2), users=2).requests) == 4


def test_that_the_peak_is_known_before_the_first_run(config: EngineConfig) -> None:
    with OwnEngine() as engine:
        engine.apply(config)
        assert engine.peak_bytes_per_s > 1e8
        assert play(engine, scripts(1)).peak_bytes_per_s == engine.peak_bytes_per_s


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of POSIX")
def test_that_a_command_that_is_killed_leaves_no_engine() -> None:
    script = (
        "import os, signal\n"
        "from app.experiments.own_engine import OwnEngine\n"
        "engine = OwnEngine()\n"
        "print(engine.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid = int(done.stdout)
    _, alive = psutil.wait_procs([p for p in psutil.process_iter() if p.pid == pid], timeout=20)
    assert not alive
