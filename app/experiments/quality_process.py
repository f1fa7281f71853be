"""The process that compares two KV caches: started, listened to, ended.

It is thrown away after each comparison, so a cache type at which llama.cpp aborts, or memory that
runs out, ends nothing else.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from app.experiments.own_process import OwnProcess
from app.experiments.port import PortError, StoppedError
from engine_bridge.own_failure import innocent_sentence, last_words
from engine_bridge.quality_messages import (
    QualityAnswer,
    QualityDone,
    QualityRefused,
    QualityRequest,
)

# How long a stop may wait until somebody looks.
_LOOK_S = 0.1
# How long one that has said all may take to end, and the status of one that does not.
_END_S, _HUNG = 5.0, 1
_STDERR_TAIL_BYTES = 4096
_MODULE = "engine_bridge.child.quality_once"


class QualityProcess:
    """Makes one comparison at a time; ``stop`` may be called from any thread.

    Args:
        arguments: What starts the process; the real one by default.
    """

    def __init__(self, arguments: Sequence[str] = (sys.executable, "-m", _MODULE)) -> None:
        """Start nothing yet."""
        self._arguments = tuple(arguments)
        self._stop = threading.Event()
        self.pid = 0

    def stop(self) -> None:
        """End the comparison under way, and refuse those that would come after it."""
        self._stop.set()

    def answers(self, request: QualityRequest) -> Iterator[QualityAnswer]:
        """Make a comparison; gives what is found as it is found, up to ``QualityDone``.

        The process is gone when this ends, however it ends.

        Raises:
            PortError: If the comparison is refused, or the process died of it; a sentence.
            StoppedError: After ``stop``.
        """
        if self._stop.is_set():
            raise StoppedError("The comparison was stopped.")
        tail = _Tail()
        try:
            process = OwnProcess(self._arguments, tail.take)
        except OSError as error:
            raise PortError(f"The process that compares could not be started: {error}.") from None
        self.pid = process.pid
        try:
            process.send(msgspec.json.encode(request) + b"\n")
            for line in self._lines(process):
                answer: QualityAnswer = msgspec.json.decode(line, type=QualityAnswer)
                if isinstance(answer, QualityRefused):
                    raise PortError(answer.message)
                yield answer
                if isinstance(answer, QualityDone):
                    return
            # Its output is over, so it is ending; killed, it would tell nothing of the reason.
            status = process.wait(_END_S)
        finally:
            process.kill()
            self.pid = 0
        raise PortError(_death(_HUNG if status is None else status, tail.said, request))

    def _lines(self, process: OwnProcess) -> Iterator[bytes]:
        rest = b""
        while True:
            if self._stop.is_set():
                raise StoppedError("The comparison was stopped.")
            chunk = process.receive(_LOOK_S)
            if chunk == b"":
                return
            *lines, rest = (rest + (chunk or b"")).split(b"\n")
            yield from lines


class _Tail:
    """The last of what a process wrote for people."""

    def __init__(self) -> None:
        self.said = b""

    def take(self, chunk: bytes) -> None:
        self.said = (self.said + chunk)[-_STDERR_TAIL_BYTES:]


def _death(status: int, said: bytes, request: QualityRequest) -> str:
    name = Path(request.base.model_path).name
    if sentence := innocent_sentence(status, said, name):
        return sentence
    words = last_words(said.decode(errors="replace"))
    types = f"{request.candidate.cache_type_k}/{request.candidate.cache_type_v}"
    return (
        f"llama.cpp ended (status {status}) while it compared {types} on {name}; this build may "
        f"not support that cache type there.{words}"
    )
