"""Asking a llama.cpp RPC server for its name before ggml does: ggml aborts where it gets no answer.

Knows the opening of the protocol (``ggml-rpc.cpp``: HELLO, version 7, little-endian); must not know
ggml. A worker serves one program at a time and lets a second one wait without a word, so silence
may mean that it is busy.
"""

from __future__ import annotations

import socket
import struct

from engine_bridge.settings.placement_items import endpoint as read_endpoint

# A worker that is there answers within a round trip; name look-up and connecting come on top.
PATIENCE_S = 3.0
_HELLO = 14  # RPC_CMD_HELLO
_CAPS_BYTES = 24  # RPC_CONN_CAPS_SIZE
_PROTOCOL = (7, 0)  # RPC_PROTO_MAJOR_VERSION and the newest minor one that is understood
_REQUEST = struct.pack(f"<BQ{_CAPS_BYTES}x", _HELLO, _CAPS_BYTES)
_ANSWER = struct.Struct(f"<QBBBx{_CAPS_BYTES}x")


class WorkerError(ConnectionError):
    """A worker cannot be used; the message is a sentence for the user.

    Attributes:
        endpoint: Where it should be, ``host:port``.
    """

    def __init__(self, endpoint: str, sentence: str) -> None:
        """Say it of the worker at ``endpoint``."""
        super().__init__(sentence)
        self.endpoint = endpoint


def make_sure_of_worker(endpoint: str, patience_s: float = PATIENCE_S) -> None:
    """Return if a worker of this protocol version is free at ``endpoint``; blocks till then.

    Args:
        endpoint: ``host:port``.
        patience_s: Seconds to wait for the connection, and again for the answer.

    Raises:
        WorkerError: If nobody listens, answers, or speaks the protocol.
    """
    host, port = read_endpoint(endpoint)
    try:
        with socket.create_connection((host, port), patience_s) as connection:
            connection.sendall(_REQUEST)
            answer = _received(connection, _ANSWER.size)
    except TimeoutError:
        raise WorkerError(
            endpoint,
            f"The remote worker at {endpoint} does not answer within {patience_s:g} s. It hangs or "
            "serves another program, since it serves one at a time. End that one, start the worker "
            "again there, or take it out of the list.",
        ) from None
    except OSError as error:
        raise WorkerError(
            endpoint,
            f"No remote worker listens at {endpoint} ({error.strerror or error}). Start the "
            "rpc-server of llama.cpp there, correct the address, or take it out of the list.",
        ) from None
    _check(endpoint, answer)


def _received(connection: socket.socket, size: int) -> bytes:
    """Up to ``size`` bytes; fewer where the other side hangs up."""
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            break
        received += part
    return received


def _check(endpoint: str, answer: bytes) -> None:
    if len(answer) < _ANSWER.size or _ANSWER.unpack(answer)[0] != _ANSWER.size - 8:
        raise WorkerError(
            endpoint,
            f"What listens at {endpoint} is no llama.cpp RPC server of this version. Correct the "
            "address, or start the rpc-server of llama.cpp 0.5.0 there.",
        )
    _, major, minor, patch = _ANSWER.unpack(answer)
    if major != _PROTOCOL[0] or minor > _PROTOCOL[1]:
        raise WorkerError(
            endpoint,
            f"The remote worker at {endpoint} speaks version {major}.{minor}.{patch} of the RPC "
            f"protocol and this engine {_PROTOCOL[0]}.{_PROTOCOL[1]}. Use the rpc-server of the "
            "same llama.cpp version.",
        )


def silent_workers(endpoints: tuple[str, ...]) -> tuple[WorkerError, ...]:
    """Which of these workers cannot be used, each with the reason; blocks while it asks them."""
    found = []
    for endpoint in endpoints:
        try:
            make_sure_of_worker(endpoint)
        except WorkerError as error:
            found.append(error)
    return tuple(found)
