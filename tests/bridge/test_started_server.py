"""A server that was started: whether it serves, how it ends, and that it never stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from app.experiments.port import PortError, StoppedError
from app.experiments.started_server import (
    LOOPBACK,
    Patience,
    ServerEndedError,
    StartedServer,
    free_port,
    passed_on,
    withheld,
)
from tests.bridge.conftest import PATIENCE_MS

PATIENCE_S = PATIENCE_MS / 1000
STAND_IN = (sys.executable, "-m", "tests.bridge.children.server")
SHORT = Patience(silent_s=1.0, total_s=2.0)


def nothing(_: str) -> None:
    """Hear it and do nothing."""


def started(
    how: str,
    port: int,
    on_line: Callable[[str], None] = nothing,
    patience: Patience | None = None,
    environment: dict[str, str] | None = None,
) -> StartedServer:
    words = (*STAND_IN, how, "--host", LOOPBACK, "--port", str(port))
    variables = os.environ if environment is None else os.environ | environment
    return StartedServer(words, on_line, patience=patience, environment=variables)


def is_gone(pid: int) -> bool:
    """Whether the process ends within the patience of these tests."""
    for _ in range(round(PATIENCE_S / 0.1)):
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:  # nobody has asked for its status yet
                return True
            process.wait(0.1)
        except psutil.NoSuchProcess:
            return True
        except psutil.TimeoutExpired:
            continue
        return True
    return False


def test_that_one_that_serves_is_waited_for_and_ended() -> None:
    lines: list[str] = []
    port = free_port()
    with started("well", port, lines.append) as server:
        server.await_health(port, nothing)
        pid = server.pid
        assert psutil.pid_exists(pid)
        assert server.end_sentence() == ""
    assert is_gone(pid)
    assert "listening" in lines


def test_that_one_that_dies_at_once_is_told_with_its_last_line() -> None:
    port = free_port()
    # It may be gone before its start was told.
    with pytest.raises(ServerEndedError) as error, started("dies", port) as server:
        server.await_health(port, nothing)
    assert "ended with exit status 1." in str(error.value)
    assert "Its last line: error: no such model." in str(error.value)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
def test_that_one_that_is_killed_is_told_by_the_signal() -> None:
    port = free_port()
    with pytest.raises(ServerEndedError) as error, started("killed", port) as server:
        server.await_health(port, nothing)
    assert "was ended by SIGKILL" in str(error.value)


@pytest.mark.parametrize("how", ["mute", "loading"])
def test_that_one_that_never_becomes_healthy_is_given_up(how: str) -> None:
    port = free_port()
    said: list[str] = []
    with started(how, port, patience=SHORT) as server:
        with pytest.raises(PortError) as error:
            server.await_health(port, said.append)
        pid = server.pid
    assert " s, so it was ended." in str(error.value)
    assert any("loads its model" in each for each in said) == (how == "loading")
    assert is_gone(pid)


def test_that_what_is_no_web_server_is_told_at_once() -> None:
    port = free_port()
    with started("garbage", port) as server, pytest.raises(PortError, match="no web server"):
        server.await_health(port, nothing)


def test_that_a_web_server_of_another_kind_is_told_at_once() -> None:
    port = free_port()
    with started("other", port) as server, pytest.raises(PortError, match="HTTP 404"):
        server.await_health(port, nothing)


def test_that_a_program_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PortError) as error:
        StartedServer((str(tmp_path / "llama-server"),), nothing)
    assert "llama-server could not be started (No such file or directory)" in str(error.value)


def test_that_a_file_that_is_no_program_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "llama-server"
    path.write_text("no program\n")
    with pytest.raises(PortError, match="could not be started"):
        StartedServer((str(path),), nothing)


def test_that_a_stop_from_another_thread_ends_the_wait() -> None:
    port = free_port()
    with started("loading", port) as server:
        asked = threading.Event()

        def stop() -> None:
            asked.wait(PATIENCE_S)
            server.stop()

        stopping = threading.Thread(target=stop)
        stopping.start()
        with pytest.raises(StoppedError):
            server.await_health(port, lambda _: asked.set())
        stopping.join()
        pid = server.pid
    assert is_gone(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no asking")
def test_that_one_that_clings_to_life_is_killed() -> None:
    port = free_port()
    with started("clings", port) as server:
        server.await_health(port, nothing)
        pid = server.pid
    assert is_gone(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")
@pytest.mark.parametrize("whom", ["window", "guard"])
def test_that_it_does_not_outlive_the_window_nor_its_guard(whom: str) -> None:
    if whom == "guard" and sys.platform != "linux":
        pytest.skip("only Linux ends a process with its parent")
    port = free_port()
    words = ("-m", "tests.bridge.children.starts_server", "well", "--port", str(port))
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE) as window:
        assert window.stdout is not None
        pid = int(window.stdout.readline())
        guard = psutil.Process(pid).ppid()
        os.kill(window.pid if whom == "window" else guard, signal.SIGKILL)
        try:
            assert is_gone(pid)
            assert is_gone(guard)
        finally:
            window.kill()


def test_that_variables_that_stand_for_flags_are_left_out() -> None:
    lines: list[str] = []
    port = free_port()
    more = {"LLAMA_ARG_PORT": "1", "LLAMA_API_KEY": "secret", "HF_TOKEN": "secret"}
    with started("well", port, lines.append, environment=more) as server:
        server.await_health(port, nothing)
    assert "variables: []" in lines
    assert withheld(more) == ("LLAMA_API_KEY", "LLAMA_ARG_PORT")
    assert passed_on(more | {"PATH": "/bin"}) == {"PATH": "/bin"}
