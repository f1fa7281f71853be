"""Exports in the hands of docker's own client and of compose: what they make of the words.

The client takes its flags apart and sends what it understood to its daemon: one that only writes
down what it is asked for stands in here, so nothing is started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.export import docker_compose, docker_run
from app.export.container import Contained, contained
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.export_cases import export_cases, few_cases
from tests.unit.test_export import FACTS

CASES = export_cases()


class _Daemon(ThreadingHTTPServer):
    """Writes down the containers that it is asked for, and refuses each.

    Attributes:
        asked: What was asked for, as docker's API has it.
    """

    daemon_threads = True

    def __init__(self) -> None:
        """Listen at a free port of this machine."""
        self.asked: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Answers)


class _Answers(BaseHTTPRequestHandler):
    """One connection of the client."""

    protocol_version = "HTTP/1.1"
    server: _Daemon

    def do_HEAD(self) -> None:
        """The client asks which API there is."""
        self._answer(200, b"")

    def do_GET(self) -> None:
        """The same, for clients that ask in this way."""
        self._answer(200, b"OK")

    def do_POST(self) -> None:
        """A container is asked for."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/containers/create" in self.path:
            self.server.asked.append(json.loads(body))
        self._answer(400, b'{"message": "written down"}')

    def log_message(self, *_: object) -> None:
        """Says nothing: what was asked is looked at by the tests."""

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Api-Version", "1.45")
        self.send_header("OSType", "linux")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@pytest.fixture(scope="module")
def daemon() -> Iterator[_Daemon]:
    for program in ("docker", "bash"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program} on this machine")
    daemon = _Daemon()
    threading.Thread(target=daemon.serve_forever, daemon=True).start()
    yield daemon
    daemon.shutdown()
    daemon.server_close()


def test_that_docker_asks_for_the_container_that_was_meant(daemon: _Daemon, tmp_path: Path) -> None:
    host = f"tcp://127.0.0.1:{daemon.server_address[1]}"
    surroundings = os.environ | {
        "DOCKER_HOST": host, "DOCKER_CONFIG": str(tmp_path), "DOCKER_TLS_VERIFY": "", "x": "wrong",
    }  # fmt: skip
    surroundings.pop("DOCKER_CONTEXT", None)
    for config in few_cases():
        export = docker_run.export(config, None, FACTS)
        done = subprocess.run(
            ["bash", "-c", export.text], capture_output=True, text=True, check=False, timeout=60,
            env=surroundings, cwd=tmp_path,
        )  # fmt: skip
        assert daemon.asked, done.stderr
        _check_container(daemon.asked.pop(), contained(config, None, FACTS))
        assert not daemon.asked


def _check_container(asked: dict[str, Any], meant: Contained) -> None:
    assert asked["Cmd"] == list(meant.words)
    assert asked["Image"] == meant.image
    host = asked["HostConfig"]
    mounts = [(m["Source"], m["Target"], m.get("ReadOnly", False)) for m in host.get("Mounts", [])]
    assert mounts == [(m.source, m.target, not m.is_written) for m in meant.mounts]
    port = {"HostIp": "127.0.0.1", "HostPort": str(meant.port)}
    assert host["PortBindings"] == {f"{meant.port}/tcp": [port]}
    if meant.locks_memory:
        assert host["Ulimits"] == [{"Name": "memlock", "Hard": -1, "Soft": -1}]
    files = meant.board.files if meant.board is not None else ()
    assert [device["PathOnHost"] for device in host.get("Devices") or []] == list(files)
    gpus = host.get("DeviceRequests") or []
    assert bool(gpus) == (meant.board is not None and not files)
    assert all(request["Count"] == -1 for request in gpus)


def _compose() -> list[str]:
    """How compose is called here; the test is skipped where it is not."""
    if shutil.which("docker") is not None:
        command = ["docker", "compose"]
        if not subprocess.run([*command, "version"], capture_output=True, check=False).returncode:
            return command
    if shutil.which("docker-compose") is None:
        pytest.skip("there is no compose on this machine")
    return ["docker-compose"]


def test_that_compose_reads_what_was_meant(tmp_path: Path) -> None:
    """All the files as services of one: compose of Python takes half a second to start."""
    command = _compose()
    lines = ["services:"]
    for number, config in enumerate(CASES):
        text = docker_compose.export(config, None, FACTS).files[0].text
        first, name, *rest = text.splitlines()
        assert (first, name.strip()) == ("services:", f'"{docker_compose.SERVICE}":')
        lines += [f'  "case-{number}":', *rest]
    file = tmp_path / docker_compose.FILE
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [*command, "-f", str(file), "config"], capture_output=True, text=True, check=False,
        timeout=120, env=os.environ | {"x": "wrong"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert len(services) == len(CASES)
    for number, config in enumerate(CASES):
        _check_service(services[f"case-{number}"], config)


def _check_service(service: dict[str, Any], config: EngineConfig) -> None:
    meant = contained(config, None, FACTS)
    # It writes dollar signs twice, so that what it writes can be read again.
    assert [word.replace("$$", "$") for word in service["command"]] == list(meant.words)
    assert service["image"] == meant.image
    volumes = [
        (v["source"].replace("$$", "$"), v["target"].replace("$$", "$"), v.get("read_only", False))
        for v in service.get("volumes", [])
    ]
    assert volumes == [(m.source, m.target, not m.is_written) for m in meant.mounts]
    assert ("ulimits" in service) == meant.locks_memory
    assert ("deploy" in service) == (meant.board is not None and not meant.board.files)
