"""The process in which chat templates run: nothing in it is worth attacking, and it may be killed.

``python -m engine_bridge.child.template_worker`` reads a request a line and writes an answer a
line, both JSON. A template comes out of a model file, so it is a stranger's program: it runs in
Jinja's sandbox, under limits on memory and time; the deadline is kept by whoever started this.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import BinaryIO, NoReturn

import jinja2
import jinja2.exceptions
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox

if sys.platform != "win32":  # which has no such limits; the deadline still holds
    import resource

_MEMORY_BYTES = 1 << 30
_CPU_S = 5
# For the last answer, where its reader has closed the other end.
_FAREWELL_S = 1.0
# A prompt of more characters fits into no context that a machine at home holds. Of four times as
# many the tokens alone took 6 GB and 50 s before that could be said.
MAX_PROMPT_CHARACTERS = 16 * 2**20
READY = b'{"ready": true}\n'


class _RaisedError(jinja2.TemplateError):
    """The template called ``raise_exception``."""


class _TooLongError(Exception):
    """The template wrote more than any context holds."""


_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (_RaisedError, "raised"),
    (jinja2.TemplateSyntaxError, "syntax"),
    (jinja2.exceptions.SecurityError, "forbidden"),
    (_TooLongError, "long"),
    (MemoryError, "memory"),
)


class _GenerationTag(jinja2.ext.Extension):
    """``{% generation %}`` marks the answer for training; here its body is all that counts."""

    tags = {"generation"}  # noqa: RUF012 (as jinja2 declares it)

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        """Return the body as if it stood alone."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise_exception(message: object) -> NoReturn:
    raise _RaisedError(str(message))


def _strftime_now(pattern: str) -> str:
    return datetime.now().astimezone().strftime(pattern)


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as transformers and llama.cpp write it: no HTML escapes."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _GenerationTag]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


_ENVIRONMENT = _environment()


@lru_cache(maxsize=4)
def _compiled(source: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(source)


def render(source: str, variables: dict[str, object]) -> str:
    """Render a template with the names that llama-server gives it.

    Raises:
        jinja2.TemplateError: Whatever the template did wrong.
        MemoryError: At the process's limit.
    """
    now = datetime.now().astimezone()
    names = {
        "enable_thinking": True,
        "datetime": now.strftime("%b %d %Y"),
        "date_string": now.strftime("%d %b %Y"),
    }
    pieces, length = [], 0
    for piece in _compiled(source).generate(names | variables):
        length += len(piece)
        if length > MAX_PROMPT_CHARACTERS:
            raise _TooLongError
        pieces.append(piece)
    return "".join(pieces)


def answer(line: bytes) -> dict[str, object]:
    """Carry out one request: ``{"source": …, "variables": {…}}``.

    Returns:
        ``{"text": …}``, or ``{"error": kind, "message": words, "line": number or 0}``.
    """
    request = json.loads(line)
    try:
        return {"text": render(request["source"], request["variables"])}
    except Exception as error:  # a stranger's program may raise anything
        return _failure(error)


def _failure(error: Exception) -> dict[str, object]:
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), "runtime")
    message = str(error) if isinstance(error, jinja2.TemplateError) else repr(error)
    line = getattr(error, "lineno", None) or _line_of(error)
    return {"error": kind, "message": message[:2000], "line": line}


def _line_of(error: Exception) -> int:
    """Line of the template in which ``error`` came up, the innermost one; 0 if in none.

    Jinja puts frames of the template's own into the traceback.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == "<template>"), 0)


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ValueError, OSError) as error:  # macOS refuses; the deadline still holds
        sys.stderr.write(f"Templates run without a memory limit: {error}\n")


def _limit_time() -> None:
    """End this process if the next request burns more than a few seconds, whoever watches."""
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + _CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _lines_of(requests: BinaryIO) -> Iterator[bytes]:
    """The lines of ``requests``; with their end this process ends too, whatever it is doing.

    Whoever started it may have been killed in the middle of a template without an end.
    """
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        for line in requests:
            waiting.put(line)
        waiting.put(b"")
        time.sleep(_FAREWELL_S)
        os._exit(0)

    threading.Thread(target=read, name="requests", daemon=True).start()
    yield from iter(waiting.get, b"")


def serve(requests: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer until ``requests`` ends."""
    answers.write(READY)
    answers.flush()
    for line in requests:
        _limit_time()
        said = json.dumps(answer(line), ensure_ascii=False)
        # Half a character, which a template can write, is no text to tokenise or to send on.
        answers.write(said.encode("utf-8", "replace") + b"\n")
        answers.flush()


if __name__ == "__main__":
    _limit_memory()
    serve(_lines_of(sys.stdin.buffer), sys.stdout.buffer)
