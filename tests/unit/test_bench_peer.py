from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.bench import llama_server, peer
from tests.bench.work import ContenderError, Layout

_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def _chunk(event: dict[str, object]) -> bytes:
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _token(text: str) -> bytes:
    return _chunk({"content": text, "tokens": [5], "stop": False})


def _last(tokens: int) -> bytes:
    timings = {"prompt_ms": 20.0, "predicted_per_token_ms": 4.0}
    return _chunk(
        {
            "content": "",
            "tokens": [],
            "stop": True,
            "tokens_predicted": tokens,
            "timings": timings,
        }
    )


def _heard(*pieces: bytes) -> peer._Stream:
    """A stream to which each piece came as one arrival."""
    ours, theirs = socket.socketpair()
    stream = peer._Stream(ours, b"")
    with ours, theirs:
        for piece in pieces:
            theirs.sendall(piece)
            assert stream.receive()
        theirs.close()
        assert not stream.receive()
    return stream


def test_that_an_event_has_the_time_its_last_byte_came() -> None:
    first, second, last = _token("one"), _token(" two"), _last(2)
    stream = _heard(_HEAD + first[:9], first[9:] + second[:-3], second[-3:], last)
    times = stream.times()
    arrived_ns = [at_ns for at_ns, _ in stream._arrivals]
    assert times.first_ns == arrived_ns[1]
    # The end of the second event, two line feeds and the chunk's own end, is split off.
    assert times.last_ns == arrived_ns[2]
    assert times.text == "one two"
    assert times.tokens == 2
    assert times.own_ttft_s == pytest.approx(0.020)
    assert times.own_tpot_s == pytest.approx(0.004)


def test_that_a_stream_without_its_end_is_no_stream() -> None:
    with pytest.raises(ContenderError, match="no complete stream"):
        _heard(_HEAD + _token("one")).times()


def test_that_a_refusal_is_quoted() -> None:
    with pytest.raises(ContenderError, match="too long"):
        _heard(b'HTTP/1.1 400 Bad Request\r\n\r\n{"error": "prompt too long"}').times()


def test_that_the_peer_gets_the_pool_of_all_slots_and_no_caches() -> None:
    layout = Layout(Path("m.gguf"), slots=4, ctx_per_slot_tok=512, threads=2)
    line = " ".join(peer.layout_arguments(layout))
    assert "-c 2048 -np 4 -no-kvu" in line
    assert "--cache-ram 0 -ctxcp 0" in line
    assert "-t 2 -tb 2" in line


def test_that_the_peer_is_built_with_the_backends_of_the_wheel(tmp_path: Path) -> None:
    for name in ("libggml-cpu.so", "libggml-rpc.so", "libggml-rpc.so.0"):
        (tmp_path / name).write_bytes(b"\x7fELF libgomp.so.1")
    options = llama_server.cmake_options(tmp_path)
    assert {"-DGGML_RPC=ON", "-DGGML_CUDA=OFF", "-DGGML_OPENMP=ON"} <= set(options)
    (tmp_path / "libggml-cuda.so").touch()
    (tmp_path / "libggml-cpu.so").write_bytes(b"\x7fELF")
    options = llama_server.cmake_options(tmp_path)
    assert {"-DGGML_CUDA=ON", "-DGGML_OPENMP=OFF"} <= set(options)
