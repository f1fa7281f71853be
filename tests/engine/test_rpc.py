"""Another machine's memory through ggml's RPC: a stand-in for a board where there is none."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from engine_bridge.child import llama

pytestmark = pytest.mark.engine

_SERVE = """
    import sys
    from engine_bridge.child import llama
    llama.GGML.serve_rpc(sys.argv[1], 1)
"""
# In a process of its own: a device that was added cannot be removed again.
_USE = """
    import json, sys
    from pathlib import Path
    from engine_bridge.child import llama
    from tests.engine.harness import InProcess, random_tokens, tiny_config
    llama.GGML.add_rpc_server(sys.argv[1])
    answers = []
    for layers in (0, "all"):
        with InProcess() as desk:
            applied = desk.load(tiny_config(Path(sys.argv[2]), n_gpu_layers=layers, slots=2))
            text, finished = desk.answer(random_tokens(8), max_new_tok=12, ignore_eog=True)
            devices = {d.name: d.weights + d.kv + d.compute for d in applied.memory.devices}
            kinds = {d.name: d.kind for d in llama.GGML.devices()}
            answers.append({
                "text": text, "devices": devices, "kinds": kinds,
                "layers": applied.effective.n_gpu_layers, "ended": finished.reason,
            })
    print(json.dumps(answers))
"""


def test_that_layers_go_to_a_device_that_was_added(few_words_path: Path) -> None:
    if not llama.has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    endpoint = f"127.0.0.1:{_free_port()}"
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_SERVE), endpoint], stdout=subprocess.DEVNULL
    )
    try:
        _wait_for(endpoint, server)
        used = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(_USE), endpoint, str(few_words_path)],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert used.returncode == 0, used.stderr
    finally:
        server.kill()
        server.wait()
    on_cpu, on_device = json.loads(used.stdout.splitlines()[-1])
    assert on_device["kinds"]["RPC0"] == "gpu"
    assert (on_cpu["layers"], on_device["layers"]) == (0, 3)
    assert on_device["devices"]["RPC0"] > 500_000
    assert on_device["devices"]["CPU"] < on_cpu["devices"]["CPU"]
    assert on_device["text"] == on_cpu["text"]
    assert on_device["ended"] == "token_limit"


def test_that_a_device_that_is_not_there_is_named() -> None:
    if not llama.has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    endpoint = f"127.0.0.1:{_free_port()}"
    with pytest.raises(ConnectionError, match=endpoint):
        llama.GGML.add_rpc_server(endpoint)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(endpoint: str, server: subprocess.Popen[bytes]) -> None:
    host, _, port = endpoint.partition(":")
    deadline = time.monotonic() + 60
    while True:
        assert server.poll() is None
        assert time.monotonic() < deadline
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            continue
        return
