"""ggml's devices and buffer types, by the C interface of the library that llama.cpp brings along.

Knows ctypes and ggml's C names; must not know models, contexts or settings.
"""

from __future__ import annotations

import ctypes
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any

from engine_bridge.hardware.memory_limit import host_memory
from engine_bridge.protocol import DeviceFacts
from engine_bridge.worker_probe import WorkerError, make_sure_of_worker

# enum ggml_backend_dev_type in ggml/include/ggml-backend.h; a meta device wraps several GPUs.
_KINDS = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accel", 4: "gpu"}

NO_RPC = (
    "This build of llama.cpp has no RPC backend, so it can use no remote workers. Build "
    'llama-cpp-python with CMAKE_ARGS="-DGGML_RPC=ON", or take the workers out of the list.'
)

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
    "ggml_backend_dev_buffer_type": ([_POINTER], _POINTER),
    "ggml_backend_reg_name": ([_POINTER], ctypes.c_char_p),
    "ggml_backend_reg_dev_count": ([_POINTER], ctypes.c_size_t),
    "ggml_backend_reg_dev_get": ([_POINTER, ctypes.c_size_t], _POINTER),
    "ggml_backend_reg_get_proc_address": ([_POINTER, ctypes.c_char_p], _POINTER),
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
            setattr(self, name.removeprefix("ggml_backend_"), self.bind(name, arguments, result))
        self._workers: dict[str, tuple[int, ...]] = {}
        self._adding = threading.Lock()
        self._always: tuple[str, ...] = ()
        self._used: tuple[str, ...] = ()
        self._held: Counter[str] = Counter()
        self._names: dict[int, str] = {}

    def bind(self, name: str, arguments: list[Any], result: Any) -> Any:  # noqa: ANN401
        """The function of that C name.

        Raises:
            AttributeError: If no library of this build exports it.
        """
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
        """Every device with its memory at this moment, in bytes; unused workers are left out."""
        return tuple(self._facts_of(handle) for handle in self.handles())

    def handles(self) -> tuple[int, ...]:
        """Every device, those of workers left out that are neither used nor held."""
        every = [self.dev_get(index) for index in range(self.dev_count())]
        idle = [e for e in self._workers if e not in self._used and not self._held[e]]
        others = {handle for endpoint in idle for handle in self._workers[endpoint]}
        return tuple(handle for handle in every if handle not in others)

    def boards(self) -> tuple[int, ...]:
        """The devices that llama.cpp takes layers to when none are named, in its order.

        Workers, GPUs, and integrated GPUs only where there is no other (``llama.cpp``,
        ``llama_prepare_model_devices``).
        """
        workers = [handle for endpoint in self._used for handle in self._workers[endpoint]]
        remote = {handle for devices in self._workers.values() for handle in devices}
        others = [handle for handle in self.handles() if handle not in remote]
        gpus = [handle for handle in others if self.kind_of(handle) == "gpu"]
        small = [handle for handle in others if self.kind_of(handle) == "igpu"]
        return (*workers, *gpus, *(() if gpus else small))

    @property
    def uses_every_worker(self) -> bool:
        """Whether the workers that were added are those in use, in the same order."""
        return tuple(self._workers) == self._used

    def kind_of(self, device: int) -> str:
        """``cpu``, ``gpu``, ``igpu`` or ``accel``."""
        return _KINDS.get(self.dev_type(device), "accel")

    def name_of(self, device: int) -> str:
        """What ggml calls it; a worker's device as a fresh process would (``RPC0``, …)."""
        return self._names.get(device) or _text(self.dev_name(device))

    def buffer_types(self) -> dict[str, int]:
        """The plain buffer type of every device by its name, as ``-ot`` takes them."""
        found = (self.dev_buffer_type(handle) for handle in self.handles())
        return {_text(self.buft_name(handle)): handle for handle in found if handle}

    def can_split_rows(self, device: int) -> bool:
        """Whether the device's backend has buffers that are split by rows."""
        registry = self.dev_backend_reg(device)
        return bool(self.reg_get_proc_address(registry, b"ggml_backend_split_buffer_type"))

    def _facts_of(self, device: int) -> DeviceFacts:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        kind = self.kind_of(device)
        # Of host memory ggml says that all of it is free, whatever is used.
        host = host_memory() if kind == "cpu" else None
        return DeviceFacts(
            name=self.name_of(device),
            description=_text(self.dev_description(device)),
            kind=kind,
            backend=_text(self.reg_name(self.dev_backend_reg(device))),
            free=free.value if host is None else host.free,
            total=total.value if host is None else host.total,
        )

    def buffer_type(self, handle: int) -> BufferType:
        """What the ``ggml_backend_buffer_type_t`` at ``handle`` is."""
        name = _text(self.buft_name(handle))
        device = self.buft_get_device(handle)
        is_cpu = not device or self.kind_of(device) in ("cpu", "accel")
        # Pinned host memory of a GPU backend (CUDA_Host) belongs to a GPU and lies in RAM.
        is_host = is_cpu or bool(self.buft_is_host(handle))
        return BufferType(name, "CPU" if is_host else self.name_of(device), is_host)

    def use_workers(self, endpoints: tuple[str, ...]) -> None:
        """Have the devices of these RPC servers among ``boards``, and of no others.

        Each is asked first whether it is there, unless a loaded model holds its connection: ggml
        aborts the process where nobody answers. Blocks for some seconds where one does not. A
        device once added stays in ggml; here it is passed over while it is not used.

        Args:
            endpoints: ``host:port`` each, in the order that numbers their devices. The protocol
                has no authentication: trusted networks only.

        Raises:
            WorkerError: If one cannot be used; those used before stay.
        """
        endpoints = tuple(dict.fromkeys((*self._always, *endpoints)))
        with self._adding:  # loads and plans come from two threads
            for endpoint in endpoints:
                if not self._held[endpoint]:
                    make_sure_of_worker(endpoint)
                if endpoint not in self._workers:
                    self._workers[endpoint] = self._add_worker(endpoint)
            self._used = endpoints
            in_order = (handle for endpoint in endpoints for handle in self._workers[endpoint])
            self._names = {handle: f"RPC{number}" for number, handle in enumerate(in_order)}

    @property
    def used_workers(self) -> tuple[str, ...]:
        """The RPC servers whose devices count."""
        return self._used

    def holds_any(self, endpoints: tuple[str, ...]) -> bool:
        """Whether a loaded model keeps the connection to one of these."""
        return any(self._held[endpoint] > 0 for endpoint in endpoints)

    def hold_workers(self, endpoints: tuple[str, ...]) -> None:
        """A loaded model keeps the connections to these from now on."""
        self._held.update(endpoints)

    def release_workers(self, endpoints: tuple[str, ...]) -> None:
        """That model is gone."""
        self._held.subtract(endpoints)

    def add_rpc_server(self, endpoint: str) -> None:
        """Use one more RPC server whatever a configuration says; see ``use_workers``.

        Raises:
            WorkerError: If it cannot be used.
        """
        self.use_workers((*self._used, endpoint))
        self._always = (*self._always, endpoint)

    def _add_worker(self, endpoint: str) -> tuple[int, ...]:
        try:
            add = self.bind("ggml_backend_rpc_add_server", [ctypes.c_char_p], _POINTER)
        except AttributeError:
            raise WorkerError(endpoint, NO_RPC) from None
        registry = add(endpoint.encode())
        if not registry:
            raise WorkerError(endpoint, f"The remote worker at {endpoint} lends no device.")
        self.register(registry)
        count = self.reg_dev_count(registry)
        return tuple(self.reg_dev_get(registry, index) for index in range(count))

    def serve_rpc(self, endpoint: str, threads: int) -> None:
        """Lend this process's CPU to others as an RPC device; returns when the server ends."""
        start = self.bind(
            "ggml_backend_rpc_start_server",
            [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, _POINTER],
            None,
        )
        cpu = next(
            handle
            for handle in (self.dev_get(index) for index in range(self.dev_count()))
            if self.kind_of(handle) == "cpu"
        )
        start(endpoint.encode(), None, threads, 1, (_POINTER * 1)(cpu))


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
