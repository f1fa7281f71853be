"""A stage inside a test: the theme goes again, and nobody else's settings are touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from PySide6.QtWidgets import QApplication

from tests.chaos.counts import Counts
from tests.chaos.stage import Stage

FEW = Counts(
    engine_kills=2, window_kills=1, files=2, soak_s=0.0, stalls=0, stall_s=0.0, disks=1,
    shortages=2,
)  # fmt: skip


@pytest.fixture
def stage(qapp: QApplication, tmp_path: Path) -> Iterator[Stage]:
    """Where a round or two are played."""
    font, palette = qapp.font(), qapp.palette()
    yield Stage(tmp_path, Random(1), FEW, is_timed=False)
    qapp.setStyleSheet("")
    qapp.setFont(font)
    qapp.setPalette(palette)
