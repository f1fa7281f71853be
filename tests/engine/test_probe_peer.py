"""A probe of the real llama-server: counts as the server does, alone and beside our engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.experiments.play import play
from app.experiments.port import PortError
from app.experiments.probe_greeting import greet
from app.experiments.probe_port import ServerPort
from app.experiments.script import Script, Turn
from app.experiments.server_address import address_of
from tests.bench.peer import ServerProcess, layout_arguments
from tests.bench.work import Layout
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
needs_server = pytest.mark.skipif(
    not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server"
)
NEW_TOK = 24
TEXT = "bada bedi bido boda buda. " * 40


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    return write_tiny_llama(folder / "talker.gguf", TinyLlama(chat_template=CHATML))


@pytest.fixture(scope="module")
def url(model_path: Path) -> Iterator[str]:
    layout = Layout(model_path, slots=2, ctx_per_slot_tok=512, threads=1)
    server = ServerProcess(LLAMA_SERVER, layout_arguments(layout))
    yield f"http://127.0.0.1:{server.port}"
    server.close()


@pytest.fixture
def port(url: str) -> Iterator[ServerPort]:
    with ServerPort(address_of(url)) as port:
        yield port


@needs_server
def test_that_tokens_are_those_that_the_server_counts(port: ServerPort) -> None:
    greeting = greet(port, "", TEXT)
    assert greeting.is_counted
    assert "llamacpp" in greeting.server
    assert "talker.gguf" in port.model
    scripts = [Script(f"s{n}", (Turn(f"{n} {TEXT[:99]}", NEW_TOK),) * 2) for n in range(4)]
    record = play(port, scripts, users=2)
    answers = port.take_answers()
    assert [request.detail for request in record.requests] == [""] * 8
    for answer in answers:
        assert answer.timings is not None
        assert answer.new_tok == answer.timings.new_tok == NEW_TOK
        assert answer.has_end_mark
    # A chunk for each token, but for those whose text is not whole yet.
    assert all(len(answer.step_ns) <= NEW_TOK for answer in answers)
    assert all(request.reason == "token_limit" for request in record.requests)


@needs_server
def test_that_a_second_turn_is_reused_by_the_servers_word(port: ServerPort) -> None:
    greet(port, "", TEXT)
    record = play(port, [Script("s", (Turn("one " + TEXT[:200], 8), Turn("two", 8)))])
    first, second = (request.timing for request in record.requests)
    assert first is not None
    assert second is not None
    assert second.reused_tok > first.prompt_tok / 2


@needs_server
def test_that_a_prompt_beyond_its_context_is_told_in_its_words(port: ServerPort) -> None:
    greet(port, "", TEXT)
    record = play(port, [Script("s", (Turn(TEXT * 9, 8),))])
    (request,) = record.requests
    assert "HTTP 400" in request.detail
    assert "context" in request.detail


@needs_server
def test_that_the_command_measures_it_beside_the_embedded_engine(
    url: str, model_path: Path, tmp_path: Path
) -> None:
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    home |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ["requests=2", "turns=1", "prompt_tok=50", "answer_tok=16", "think_s=0"]
    command = [sys.executable, "-m", "app", "probe", url, "--runs", "2", "--json"]
    command += [f"--set-workload={word}" for word in words]
    command += ["--beside", str(model_path), "--set", "ctx_per_slot_tok=512", "--set", "threads=1"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | home, timeout=150
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    server, own = found["cells"]
    assert own["name"].startswith("embedded engine")
    for cell in (server, own):
        assert [run["new_tok"] for run in cell["runs"]] == [32, 32]
        assert [run["failed"] for run in cell["runs"]] == [0, 0]
    assert server["extra"]["server_tpot_s"] > 0
    assert own["runs"][0]["owned_bytes"] > 0
    assert server["runs"][0]["owned_bytes"] is None


def test_that_a_port_where_nothing_listens_is_a_sentence() -> None:
    with ServerPort(address_of("127.0.0.1:9")) as port, pytest.raises(PortError) as error:
        port.models()
    assert "Nothing listens at 127.0.0.1:9." in str(error.value)
