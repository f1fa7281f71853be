"""The system's own count of programs that it ended for want of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.hardware.oom import oom_kills


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("nr_free_pages 5\noom_kill 3\noom_kill_other 4\n", 3),
        ("nr_free_pages 5\n", None),
        ("oom_kill many\n", None),
    ],
)
def test_that_the_count_is_read_or_unknown(tmp_path: Path, text: str, count: int | None) -> None:
    (tmp_path / "vmstat").write_text(text, encoding="ascii")
    assert oom_kills(tmp_path / "vmstat") == count


def test_that_a_system_without_the_count_is_unknown(tmp_path: Path) -> None:
    assert oom_kills(tmp_path / "none") is None
