"""Requests that come while others run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

_RequestT = TypeVar("_RequestT")


@contextmanager
def sent_late(
    send: Callable[[_RequestT], None], requests: Sequence[_RequestT], after_s: float
) -> Iterator[None]:
    """Send ``requests`` in ``after_s`` seconds while the body waits for answers."""

    def send_all() -> None:
        for request in requests:
            send(request)

    timer = threading.Timer(after_s, send_all)
    if requests:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if requests:
            timer.join()
