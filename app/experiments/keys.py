"""The key of an experiment: unique, short enough to be typed, and in order of time. Pure."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

_TIME = "%Y%m%d-%H%M%S"
# Two that begin in the same second share it once in 16 million times.
_RANDOM_BYTES = 3


def new_key(now: datetime | None = None) -> str:
    """A key such as ``20261130-110036-3f9a2c``: the time in UTC, and a random part.

    Args:
        now: When the experiment begins, with its time zone; the present by default.
    """
    begun = datetime.now(UTC) if now is None else now.astimezone(UTC)
    return f"{begun.strftime(_TIME)}-{secrets.token_hex(_RANDOM_BYTES)}"


def begun_at(now: datetime | None = None) -> str:
    """``Experiment.begun_at``: UTC, ISO 8601 with seconds.

    Args:
        now: When the experiment begins, with its time zone; the present by default.
    """
    begun = datetime.now(UTC) if now is None else now.astimezone(UTC)
    return begun.isoformat(timespec="seconds")
