"""One comparison of two KV caches in a process of its own, which is thrown away.

``python -m engine_bridge.child.quality_once`` reads a ``QualityRequest`` as a line of JSON and
answers in lines. The engine that runs elsewhere keeps its model and its conversations; whoever
asked ends this process to stop it, and it ends by itself where its input does.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import msgspec

from engine_bridge.child.__main__ import take_pipes
from engine_bridge.gguf_file import GgufError, read_model_facts
from engine_bridge.quality_messages import (
    QualityAnswer,
    QualityDone,
    QualityRefused,
    QualityRequest,
)

_READ_BYTES = 1 << 16


def main() -> int:
    """Answer one request; 0 with figures, 1 with a refusal."""
    commands_fd, answers_fd = take_pipes()
    line = _line_of(commands_fd)
    threading.Thread(target=_end_with, args=(commands_fd,), name="input", daemon=True).start()

    def tell(answer: QualityAnswer) -> None:
        try:
            _write(answers_fd, msgspec.json.encode(answer) + b"\n")
        except BrokenPipeError:
            os._exit(0)  # nobody reads it

    last = answer_to(line, tell)
    tell(last)
    return 1 if isinstance(last, QualityRefused) else 0


def answer_to(line: bytes, tell: Callable[[QualityAnswer], None]) -> QualityDone | QualityRefused:
    """Do what an encoded request asks.

    Args:
        line: The request.
        tell: Takes every answer but the last.

    Returns:
        The last answer.
    """
    try:
        request = msgspec.json.decode(line, type=QualityRequest)
        facts = read_model_facts(request.base.model_path)
    except (msgspec.DecodeError, GgufError) as error:
        return QualityRefused(str(error))
    # Only now llama.cpp is loaded: a file that is no model never gets near it.
    from engine_bridge.child.context_pair import QualityError  # noqa: PLC0415
    from engine_bridge.child.load_faults import CannotLoadError  # noqa: PLC0415
    from engine_bridge.child.quality_run import QualityRun  # noqa: PLC0415

    try:
        QualityRun(request, tell).run(facts)
    except (QualityError, CannotLoadError) as error:
        return QualityRefused(str(error))
    return QualityDone()


def _line_of(fd: int) -> bytes:
    """What comes up to the first line feed, or the end; nothing comes behind it."""
    parts = []
    while part := os.read(fd, _READ_BYTES):
        parts.append(part)
        if part.endswith(b"\n"):
            break
    return b"".join(parts)


def _write(fd: int, line: bytes) -> None:
    while line:
        line = line[os.write(fd, line) :]


def _end_with(fd: int) -> None:
    """End this process where its input ends: whoever asked is gone."""
    while os.read(fd, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
