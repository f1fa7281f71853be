from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.models import gemma_path

pytestmark = [pytest.mark.gui, pytest.mark.engine]


def tour(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "tour", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.timeout(600)
def test_that_the_tour_shows_every_step_on_the_demo_model(tmp_path: Path) -> None:
    done = tour("--out", str(tmp_path), "--model", str(gemma_path()), "--size", "1280x800")
    assert done.returncode == 0, done.stderr[-3000:]
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictures == [
        "01-loaded.png", "02-two-chats.png", "03-answered.png", "04-drag.png", "05-applied.png",
        "06-export.png", "07-branches.png", "08-conversations.png", "09-charts.png",
        "10-actions.png", "11-models.png", "12-template.png", "13-log.png", "14-details.png",
        "15-ghosts.png", "16-limits.png", "17-ceiling.png", "18-room.png", "19-table.png",
        "20-advisor.png", "21-keys.png", "22-experiment.png", "23-measuring.png", "24-result.png",
        "25-export.png", "26-import.png", "27-profiles.png", "28-hub.png",
    ]  # fmt: skip


def test_that_a_tour_with_a_file_that_is_no_model_fails_with_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model at all")
    done = tour("--out", str(tmp_path / "out"), "--model", str(broken))
    assert done.returncode == 1
    assert "broken.gguf" in done.stderr
