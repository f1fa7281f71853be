"""When something was, in the words of a list: its group, and the time beside its title.

Pure. English names whatever the system's locale: they stand beside English words.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from PySide6.QtCore import QLocale

_ENGLISH = QLocale.c()
_WEEK_DAYS = 7
# What every system's calendar has in every zone; no number at all becomes the earliest.
_EARLIEST_S, _LATEST_S = 86_400.0, 32_503_680_000.0


@dataclass(frozen=True)
class DayGroup:
    """Conversations under one heading.

    Attributes:
        name: The heading.
        begin_s: Of its first day, seconds since 1970.
    """

    name: str
    begin_s: float


def day_group(when_s: float, now_s: float) -> DayGroup:
    """``Today``, ``Yesterday``, ``Last 7 days``, or the month with its year, by the local clock.

    Args:
        when_s: Seconds since 1970; what lies in the future counts as today.
        now_s: Seconds since 1970.
    """
    when, now = _local(when_s), _local(now_s)
    days = _days_ago(when, now)
    if days <= 0:
        return DayGroup("Today", _midnight(now, 0))
    if days == 1:
        return DayGroup("Yesterday", _midnight(now, 1))
    if days < _WEEK_DAYS:
        return DayGroup("Last 7 days", _midnight(now, _WEEK_DAYS - 1))
    month = f"{_ENGLISH.standaloneMonthName(when.month)} {when.year}"
    return DayGroup(month, datetime(when.year, when.month, 1).timestamp())


def time_words(when_s: float, now_s: float) -> str:
    """``14:05`` today and yesterday, ``Mon`` within a week, else ``12 Nov``."""
    when = _local(when_s)
    days = _days_ago(when, _local(now_s))
    if days <= 1:
        return f"{when:%H:%M}"
    if days < _WEEK_DAYS:
        return _ENGLISH.dayName(when.isoweekday(), QLocale.FormatType.ShortFormat)
    month = _ENGLISH.standaloneMonthName(when.month, QLocale.FormatType.ShortFormat)
    return f"{when.day} {month}"


def moment_words(when_s: float, now_s: float) -> str:
    """``14:05`` today, ``Yesterday 14:05``, ``Mon 14:05``, ``12 Nov``, ``4 Mar 2025``.

    For lists without headings between the days.
    """
    when, now = _local(when_s), _local(now_s)
    days, words = _days_ago(when, now), time_words(when_s, now_s)
    if days <= 0:
        return words
    if days < _WEEK_DAYS:
        return f"Yesterday {words}" if days == 1 else f"{words} {when:%H:%M}"
    return words if when.year == now.year else f"{words} {when.year}"


def full_time_words(when_s: float) -> str:
    """``12 November 2026, 14:05``."""
    when = _local(when_s)
    return f"{when.day} {_ENGLISH.standaloneMonthName(when.month)} {when.year}, {when:%H:%M}"


def _local(when_s: float) -> datetime:
    """The local time; the nearest that a calendar has, for a file may say anything."""
    return datetime.fromtimestamp(min(max(_EARLIEST_S, when_s), _LATEST_S))


def _midnight(now: datetime, days_ago: int) -> float:
    day = now.date() - timedelta(days=days_ago)
    return datetime(day.year, day.month, day.day).timestamp()


def _days_ago(when: datetime, now: datetime) -> int:
    return (now.date() - when.date()).days
