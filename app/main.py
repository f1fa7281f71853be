"""The program: an application, a desk, a window."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.desk import Desk
from app.faults import Faults, FaultsTold
from app.garbage import Garbage
from app.interrupts import Interrupts
from app.kept_settings import KeptSettings
from app.storage.conversation_store import ConversationStore
from app.storage.folders import own_folders
from app.storage.measurement_store import MeasurementStore
from app.storage.settings_store import SettingsStore
from app.tour import Tour
from app.window import Window
from engine_bridge.settings.config import EngineConfig
from widgets.theme import TuneTheme, app_icon


def run_window(
    values: Mapping[str, object], *, theme: str | None = None, profile_id: str = ""
) -> int:
    """Open the window and stay until it is closed.

    Args:
        values: Settings to start with; they go before those kept from the last time. Without a
            ``model_path`` the model that ran last is loaded, or the demo model.
        theme: ``dark`` or ``light`` for this time; None takes what was chosen in the window.
        profile_id: The profile that ``values`` are of; empty for none.

    Returns:
        Exit status.

    Raises:
        DomainError: If a setting is unknown or cannot take its value.
    """
    sentence = missing_display_sentence(sys.platform, dict(os.environ))
    if sentence:
        sys.stderr.write(sentence + "\n")
        return 1
    app = application()
    faults = Faults(app)
    faults.install()
    garbage = Garbage(app)
    folders = own_folders()
    kept = KeptSettings(SettingsStore(folders.settings))
    config = kept.start_config(values)
    desk = Desk(
        config, kept=kept, store=ConversationStore(folders.conversations),
        measured=MeasurementStore(folders.measurements),
    )  # fmt: skip
    window = _dressed_window(app, desk, theme)
    FaultsTold(
        faults, window.log_wiring, window.banner, window,
        say=window.say, save_diagnostics=window.diagnostics.ask,
    )  # fmt: skip
    if profile_id:
        window.tune_wiring.profiles.use.begin_with(profile_id)
    interrupts = Interrupts(app)
    interrupts.interrupted.connect(window.close)
    desk.open()
    model = config.model_path or kept.last_model
    if model:
        window.engine_wiring.load(model)
    else:
        window.engine_wiring.load_demo()
    window.show()
    status = app.exec()
    garbage.give_back()
    faults.remove()
    for sentence in desk.unsaved:
        sys.stderr.write(sentence + "\n")
    return status


def run_tour(out: Path, *, model: str | None, theme: str, size: tuple[int, int]) -> int:
    """Drive the scripted session in the real window and save a picture of each step.

    Returns:
        0 only if each step showed what it should.
    """
    if missing_display_sentence(sys.platform, dict(os.environ)):
        # Pictures need no screen: the same window, drawn into memory.
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = application()
    garbage = Garbage(app)
    # A tour shows conversations of its own and leaves nothing behind.
    with tempfile.TemporaryDirectory(prefix="tunedeck-tour-") as folder:
        desk = Desk(EngineConfig(), store=ConversationStore(Path(folder)))
        window = _dressed_window(app, desk, theme, Path(folder) / "history")
        window.resize(*size)
        window.show()
        tour = Tour(window, out, model)
        tour.finished.connect(app.exit)
        desk.open()
        tour.start()
        status = app.exec()
        garbage.give_back()
        return status


def application() -> QApplication:
    """The one application object, named so that settings and windows can be told from others'."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    app.setApplicationName("TuneDeck")
    app.setDesktopFileName("tunedeck")
    app.setWindowIcon(app_icon())
    return app


def missing_display_sentence(platform: str, environment: dict[str, str]) -> str:
    """What to do where no window can be shown; empty where one can."""
    if platform != "linux" or environment.get("QT_QPA_PLATFORM"):
        return ""
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        return ""
    return (
        "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can "
        "open. On a machine without a screen run it as `xvfb-run -a make run` (package xvfb)."
    )


def _dressed_window(
    app: QApplication, desk: Desk, theme: str | None, history: Path | None = None
) -> Window:
    kept = desk.kept
    font_scale, mode = (kept.font_scale, kept.theme) if kept else (1.0, "system")
    look = TuneTheme(app, font_scale, theme or mode)
    return Window(desk, look.palette, theme=look, history=history)
