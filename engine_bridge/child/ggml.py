"""ggml's devices and buffer types, by the C interface of the library that llama.cpp brings along.

Knows ctypes and ggml's C names; must not know models, contexts or settings.
"""

from __future__ import annotations

import ctypes
import socket
from dataclasses import dataclass
from typing import Any

from engine_bridge.protocol import DeviceFacts

# enum ggml_backend_dev_type in ggml/include/ggml-backend.h; a meta device wraps several GPUs.
_KINDS = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accel", 4: "gpu"}

_CONNECT_S = 5.0

_POINTER = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[list[Any], Any]] = {
    "ggml_backend_dev_count": ([], ctypes.c_size_t),
    "ggml_backend_dev_get": ([ctypes.c_size_t], _POINTER),
    "ggml_backend_dev_name": ([_POINTER], ctypes.c_char_p),
    "ggml_backend_dev_description": ([_POINTER], ctypes.c_char_p),
    "ggml_backend_dev_type": ([_POINTER], ctypes.c_int),
    "ggml_backend_dev_memory": (
        [_POINTER, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)],
        None,
    ),
    "ggml_backend_dev_backend_reg": ([_POINTER], _POINTER),
    "ggml_backend_reg_name": ([_POINTER], ctypes.c_char_p),
    "ggml_backend_buft_name": ([_POINTER], ctypes.c_char_p),
    "ggml_backend_buft_is_host": ([_POINTER], ctypes.c_bool),
    "ggml_backend_buft_get_device": ([_POINTER], _POINTER),
    "ggml_backend_register": ([_POINTER], None),
}


@dataclass(frozen=True)
class BufferType:
    """A kind of buffer that ggml allocates.

    Attributes:
        name: ggml's name, e.g. ``CPU``, ``CPU_REPACK``, ``CPU_Mapped``, ``CUDA0``.
        device: Name of the device it belongs to; ``CPU`` for every kind of host memory.
        is_host: Whether it lies in host memory.
    """

    name: str
    device: str
    is_host: bool


class Ggml:
    """The functions of one loaded ggml.

    Args:
        libraries: Libraries to look a function up in, in this order.
    """

    def __init__(self, *libraries: ctypes.CDLL) -> None:
        """Bind every function needed."""
        self._libraries = libraries
        for name, (arguments, result) in _SIGNATURES.items():
            setattr(self, name.removeprefix("ggml_backend_"), self._bind(name, arguments, result))

    def _bind(self, name: str, arguments: list[Any], result: Any) -> Any:  # noqa: ANN401
        for library in self._libraries:
            try:
                function = library[name]
            except AttributeError:
                continue
            function.argtypes, function.restype = arguments, result
            return function
        raise AttributeError(f"No library of this build of llama.cpp exports {name}.")

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Bound functions, by their C name without ``ggml_backend_``."""
        raise AttributeError(name)

    def devices(self) -> tuple[DeviceFacts, ...]:
        """Every device with its memory at this moment, in bytes."""
        handles = [self.dev_get(index) for index in range(self.dev_count())]
        return tuple(self._facts_of(handle) for handle in handles)

    def _facts_of(self, device: int) -> DeviceFacts:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        return DeviceFacts(
            name=_text(self.dev_name(device)),
            description=_text(self.dev_description(device)),
            kind=_KINDS.get(self.dev_type(device), "accel"),
            backend=_text(self.reg_name(self.dev_backend_reg(device))),
            free=free.value,
            total=total.value,
        )

    def buffer_type(self, handle: int) -> BufferType:
        """What the ``ggml_backend_buffer_type_t`` at ``handle`` is."""
        name = _text(self.buft_name(handle))
        device = self.buft_get_device(handle)
        is_cpu = not device or _KINDS.get(self.dev_type(device)) in ("cpu", "accel")
        # Pinned host memory of a GPU backend (CUDA_Host) belongs to a GPU and lies in RAM.
        is_host = is_cpu or bool(self.buft_is_host(handle))
        return BufferType(name, "CPU" if is_host else _text(self.dev_name(device)), is_host)

    def add_rpc_server(self, endpoint: str) -> None:
        """Make the devices of a ggml RPC server appear among ``devices``.

        Args:
            endpoint: ``host:port``. The protocol has no authentication: trusted networks only.

        Raises:
            ConnectionError: If nothing answers there, or this build has no RPC.
        """
        try:
            add = self._bind("ggml_backend_rpc_add_server", [ctypes.c_char_p], _POINTER)
        except AttributeError:
            raise ConnectionError("This build of llama.cpp has no RPC backend.") from None
        _make_sure_of_answer(endpoint)
        registry = add(endpoint.encode())
        if not registry:
            raise ConnectionError(f"The ggml RPC server at {endpoint} lends no device.")
        self.register(registry)

    def serve_rpc(self, endpoint: str, threads: int) -> None:
        """Lend this process's CPU to others as an RPC device; returns when the server ends."""
        start = self._bind(
            "ggml_backend_rpc_start_server",
            [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, _POINTER],
            None,
        )
        cpu = next(
            handle
            for handle in (self.dev_get(index) for index in range(self.dev_count()))
            if _KINDS.get(self.dev_type(handle)) == "cpu"
        )
        start(endpoint.encode(), None, threads, 1, (_POINTER * 1)(cpu))


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def _make_sure_of_answer(endpoint: str) -> None:
    """Connect once by ourselves: ggml aborts the process where nobody answers."""
    host, _, port = endpoint.rpartition(":")
    try:
        socket.create_connection((host, int(port)), _CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No ggml RPC server answers at {endpoint} ({error}). Start one there, or correct the "
            "address (host:port)."
        ) from None
