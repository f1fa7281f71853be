"""How much time the charts show outlives the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.desk import Desk
from app.kept_settings import KeptSettings
from app.storage.settings_store import SettingsStore
from app.window import Window
from resources.tokens import DARK

pytestmark = pytest.mark.gui


def test_that_the_charts_show_as_much_time_as_before(windows: list[Window], tmp_path: Path) -> None:
    """Newcomer 40: 10 min had become 2 min after a restart."""

    def start() -> Window:
        kept = KeptSettings(SettingsStore(tmp_path / "settings"))
        window = Window(Desk(kept.start_config(), kept=kept), DARK)
        windows.append(window)
        window.show()
        return window

    first = start()
    first.live.time_view.show_length(600.0)
    first.close()
    assert start().live.time_view.length_s == 600.0
