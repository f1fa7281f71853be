"""An exported line in the real llama-server, beside the real engine, with a tiny model."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.lengths import Fixed
from app.experiments.memory_watch import PRIVATE, RESIDENT
from app.experiments.own_engine import OwnEngine
from app.experiments.port import PortError, StoppedError
from app.experiments.started_server import Patience
from app.experiments.workload import Material, Workload
from app.export import llama_flags
from app.export.llama_flag import situation_of
from app.try_export import TryOut, shown_line
from app.try_request import Order, TryRequest
from app.try_sheets import try_sheet
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import tiny_config

pytestmark = pytest.mark.engine

LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
STAND_IN = (sys.executable, "-m", "tests.bridge.children.server")
WORK = Workload(
    name="tiny", material=Material.PROSE, prompt_tok=Fixed(40), answer_tok=Fixed(8), requests=2
)
PATIENCE_S = 60.0

needs_server = pytest.mark.skipif(
    not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server"
)


class Listener:
    """Notes what is reported."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.shares: list[float] = []
        self.kept_ones: list[Experiment] = []
        self.has_kept = threading.Event()

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        self.shares.append(share)
        self.sentences.append(sentence)

    def kept(self, experiment: Experiment) -> None:
        self.kept_ones.append(experiment)
        self.has_kept.set()


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(scope="module")
def config(tiny_chat_path: Path) -> EngineConfig:
    return tiny_config(tiny_chat_path, slots=1, ctx_per_slot_tok=512, threads=1, threads_batch=1)


@pytest.fixture
def engine() -> Iterator[OwnEngine]:
    with OwnEngine() as running:
        yield running


def request(
    config: EngineConfig, order: Order, program: tuple[str, ...] = (str(LLAMA_SERVER),),
    lines: list[str] | None = None, runs: int = 2,
) -> TryRequest:  # fmt: skip
    flags = llama_flags.words(situation_of(config, None, None, "llama-server"))
    heard = [] if lines is None else lines
    return TryRequest(program, flags, config, WORK, runs, order, heard.append)


def nothing() -> None:
    """There is no memory to give back."""


def servers_here() -> list[int]:
    """Servers that this process, or one that it started, has started."""
    return [
        child.pid
        for child in psutil.Process().children(recursive=True)
        if "server" in " ".join(child.cmdline())
    ]


@needs_server
def test_that_both_take_turns_and_are_told_with_speed_and_memory(
    config: EngineConfig, engine: OwnEngine, listener: Listener
) -> None:
    lines: list[str] = []
    work = TryOut(request(config, Order.TURNS, lines=lines), nothing)
    experiment = work.do(engine, listener)
    assert work.is_over.is_set()
    assert experiment.state is State.DONE
    assert experiment.kind is Kind.PROBE
    server, own = experiment.cells
    for cell in (server, own):
        assert [run.new_tok for run in cell.runs] == [16, 16]
        assert [run.failed for run in cell.runs] == [0, 0]
        # Five MiB of program alone, and this model has some more; an engine that reads the peak
        # bandwidth borrows a thousand for that, which is no memory of these settings.
        assert cell.extra[RESIDENT] < 500 << 20
        assert cell.extra[RESIDENT] > 5 << 20
        assert cell.extra[RESIDENT] >= cell.extra[PRIVATE]
    assert own.config["slots"] == 1
    assert server.notes[0].startswith("Started by Try it: llama-server ")
    assert str(Path(config.model_path).parent) not in str(experiment.cells[0])
    assert any("listening" in line for line in lines)
    assert listener.kept_ones[-1].cells[0].extra[RESIDENT] > 0
    sheet = try_sheet(experiment)
    assert {row.label for row in sheet.rows} >= {"TTFT", "TPOT", "Memory (RSS)"}
    assert all(row.server and row.own for row in sheet.rows)
    assert servers_here() == []


@needs_server
def test_that_one_after_the_other_gives_the_memory_back_in_between(
    config: EngineConfig, engine: OwnEngine, listener: Listener
) -> None:
    released: list[int] = []

    def release() -> None:
        released.append(engine.pid)
        assert servers_here() == [], "the server comes once there is room"
        engine.close()

    experiment = TryOut(request(config, Order.AFTER, runs=5), release).do(engine, listener)
    assert released
    assert experiment.state is State.DONE
    assert [cell.name[:8] for cell in experiment.cells] == ["127.0.0.", "embedded"]
    assert [len(cell.runs) for cell in experiment.cells] == [5, 5]
    assert experiment.cells[1].extra[RESIDENT] > 0
    assert "one after the other" in experiment.conclusion[-1]
    assert {each.key for each in listener.kept_ones} == {experiment.key}, "one in the history"
    assert listener.shares == sorted(listener.shares)
    assert max(listener.shares) == 1.0


@needs_server
def test_that_the_server_alone_needs_no_engine(config: EngineConfig, listener: Listener) -> None:
    experiment = TryOut(request(config, Order.ALONE), nothing).do(None, listener)
    assert [len(cell.runs) for cell in experiment.cells] == [2]
    assert not try_sheet(experiment).has_own


@needs_server
def test_that_a_line_with_a_key_of_its_own_is_tried_with_that_key(
    config: EngineConfig, listener: Listener
) -> None:
    asked = request(config, Order.ALONE, runs=1)
    keyed = TryRequest(
        asked.program, (*asked.flags, "--api-key", "s3cret"), config, WORK, 1, Order.ALONE,
        asked.on_line,
    )  # fmt: skip
    experiment = TryOut(keyed, nothing).do(None, listener)
    assert experiment.state is State.DONE
    assert experiment.cells[0].runs[0].failed == 0
    assert "s3cret" not in str(experiment)


@needs_server
def test_that_a_model_that_the_server_refuses_is_told_with_its_words(
    config: EngineConfig, listener: Listener, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    other = config.with_values({"model_path": str(broken)})
    lines: list[str] = []
    with pytest.raises(PortError, match="llama-server ended with exit status 1"):
        TryOut(request(other, Order.ALONE, lines=lines), nothing).do(None, listener)
    assert lines
    assert servers_here() == []


@needs_server
def test_that_a_server_that_dies_in_the_middle_is_told_by_its_end(
    config: EngineConfig, listener: Listener
) -> None:
    work = TryOut(request(config, Order.ALONE, runs=500), nothing)
    ends: list[Experiment] = []
    running = threading.Thread(target=lambda: ends.append(work.do(None, listener)))
    running.start()
    assert listener.has_kept.wait(PATIENCE_S)
    for child in psutil.Process().children(recursive=True):
        if Path(child.exe()).name == "llama-server":
            os.kill(child.pid, signal.SIGKILL)
    running.join(PATIENCE_S)
    (experiment,) = ends
    assert experiment.state is State.FAILED
    assert "llama-server was ended by SIGKILL" in experiment.failure
    assert experiment.cells[0].runs, "what was measured is kept"
    assert listener.kept_ones[-1].failure == experiment.failure


@needs_server
def test_that_a_stop_keeps_what_was_measured_and_ends_the_server(
    config: EngineConfig, listener: Listener
) -> None:
    work = TryOut(request(config, Order.ALONE, runs=500), nothing)
    ends: list[Experiment] = []
    running = threading.Thread(target=lambda: ends.append(work.do(None, listener)))
    running.start()
    assert listener.has_kept.wait(PATIENCE_S)
    work.stop()
    running.join(PATIENCE_S)
    assert ends[0].state is State.STOPPED
    assert ends[0].cells[0].runs
    assert servers_here() == []


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("dies", "ended with exit status 1"),
        ("loading", "so it was ended"),
        ("garbage", "no web server"),
        ("nonsense", "does not stream its answers (it sent text/html)"),
        ("dies asked", "ended with exit status 3. Its last line: GGML_ASSERT(asked) failed."),
    ],
)
def test_that_a_program_that_is_no_good_server_is_told(
    config: EngineConfig, listener: Listener, how: str, said: str
) -> None:
    asked = request(config, Order.ALONE, program=(*STAND_IN, how))
    work = TryOut(asked, nothing, patience=Patience(silent_s=1.0, total_s=2.0))
    with pytest.raises(PortError) as error:
        work.do(None, listener)
    assert said in str(error.value)
    assert not listener.kept_ones
    assert servers_here() == []


def test_that_a_stop_before_anything_began_starts_nothing(
    config: EngineConfig, listener: Listener
) -> None:
    work = TryOut(request(config, Order.ALONE, program=(*STAND_IN, "loading")), nothing)
    work.stop()
    with pytest.raises(StoppedError):
        work.do(None, listener)
    assert servers_here() == []


def test_that_an_engine_measured_before_is_kept_where_the_server_does_not_come(
    config: EngineConfig, engine: OwnEngine, listener: Listener
) -> None:
    work = TryOut(request(config, Order.AFTER, program=(*STAND_IN, "dies")), nothing)
    with pytest.raises(PortError, match="exit status 1"):
        work.do(engine, listener)
    assert [each.kind for each in listener.kept_ones] == [Kind.BENCH]


def test_that_a_line_is_shown_without_the_folders_of_its_files() -> None:
    words = ("/opt/bin/llama-server", "-m", "/models/a b.gguf", "-c", "512", "-md", "/x/d.gguf")
    assert shown_line(words) == "llama-server -m 'a b.gguf' -c 512 -md d.gguf"
    assert shown_line(("llama", "serve", "--api-key", "s3cret")) == "llama serve --api-key hidden"
