"""What the user set, kept between two starts: read once, written in a thread of its own.

The window never waits for the disk but once, at the start, before it is there.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.storage.settings_merge import Document
from app.storage.settings_store import NewerSettingsError, SettingsStore
from app.storage.settings_values import (
    KEPT,
    changed_settings,
    engine_settings_in,
    values_in,
)
from app.storage.settings_writer import Outcome, SettingsWriter
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import MODEL_KINDS

# A drag changes a value sixty times a second; the disk hears of it twice.
_COALESCED_MS = 500
# A disk that was full or gone may be back.
_RETRY_MS = 30_000
_CLOSING_WAIT_S = 2.0
_RECENT_MODELS = 12
# A drive that is asleep takes a second or two to answer, one that is gone minutes.
_FILE_WAIT_S = 3.0


class KeptSettings(QObject):
    """The settings of one user, as this copy of the program wants them.

    Signals:
        changed: The name (str) of a property that has a new value.
        failed: A sentence: nothing can be saved for now. Said once until it works again.
        recovered: A sentence: what was changed in the meantime is saved now.
    """

    changed = Signal(str)
    failed = Signal(str)
    recovered = Signal(str)
    _tried = Signal(object)

    def __init__(self, store: SettingsStore, parent: QObject | None = None) -> None:
        """Read the settings of ``store``; waits for the disk, so before the window is shown."""
        super().__init__(parent)
        found = store.read()
        self._values, bad_values = values_in(found.document)
        engine = engine_settings_in(found.document)
        self._engine = engine.config
        self._passing: dict[str, object] = {}
        self._sentences = (*found.sentences, *bad_values, *engine.sentences)
        known = self._document() | {"settings": engine.stored}
        self._writer = SettingsWriter(store, known, self._tried.emit)
        self._is_writable = found.is_writable
        self._is_failing = self._is_trying_out = False
        self._soon = self._timer(_COALESCED_MS, self._write)
        self._again = self._timer(_RETRY_MS, self._write)
        self._tried.connect(self._on_tried)

    def open(self) -> None:
        """Find out in the background whether anything can be saved; ``failed`` tells if not."""
        if self._is_writable:
            self._writer.probe()
            # What had to be repaired is kept so.
            self._write_soon()

    def close(self) -> str:
        """Save what is not saved yet, within two seconds.

        Returns:
            A sentence if it could not be saved, else nothing.
        """
        self._soon.stop()
        self._again.stop()
        document = self._document() if self._is_writable else None
        return self._writer.close(document, _CLOSING_WAIT_S)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the user should know about the file that was read, and about values in it."""
        return self._sentences

    # --- What is kept -------------------------------------------------------------------

    @property
    def theme(self) -> str:
        """``system``, ``dark`` or ``light``."""
        return str(self._get("theme"))

    @theme.setter
    def theme(self, value: str) -> None:
        self._set("theme", value)

    @property
    def font_scale(self) -> float:
        """Size of the window's type relative to the system's, 0.75 to 2.5."""
        value = self._get("font_scale")
        return value if isinstance(value, float) else 1.0

    @font_scale.setter
    def font_scale(self, value: float) -> None:
        self._set("font_scale", value)

    @property
    def last_model(self) -> str:
        """The model file that ran last; empty before the first."""
        return str(self._get("last_model"))

    @property
    def recent_models(self) -> list[str]:
        """Model files, the one used last in front."""
        return self._texts("recent_models")

    @recent_models.setter
    def recent_models(self, value: list[str]) -> None:
        self._set("recent_models", value)

    @property
    def model_folders(self) -> list[str]:
        """Folders that the model picker looks into."""
        return self._texts("model_folders")

    @model_folders.setter
    def model_folders(self, value: list[str]) -> None:
        self._set("model_folders", value)

    @property
    def boards_told(self) -> list[str]:
        """GPUs that the user has heard enough of: this build cannot use them."""
        return self._texts("boards_told")

    @boards_told.setter
    def boards_told(self, value: list[str]) -> None:
        self._set("boards_told", value)

    @property
    def open_conversations(self) -> list[str]:
        """Ids of the conversations that stand in tabs."""
        return self._texts("open_conversations")

    @open_conversations.setter
    def open_conversations(self, value: list[str]) -> None:
        self._set("open_conversations", value)

    @property
    def window_state(self) -> dict[str, str]:
        """Geometry and layout by name, as texts."""
        value = self._get("window")
        return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}

    @window_state.setter
    def window_state(self, value: dict[str, str]) -> None:
        self._set("window", value, "window_state")

    @property
    def last_folders(self) -> dict[str, str]:
        """Where file dialogs of each purpose were left last."""
        value = self._get("last_folders")
        return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}

    @last_folders.setter
    def last_folders(self, value: dict[str, str]) -> None:
        self._set("last_folders", value)

    @property
    def command_shell(self) -> str:
        """The shell that the exported line is quoted for; empty for this system's own."""
        return str(self._get("command_shell"))

    @command_shell.setter
    def command_shell(self, value: str) -> None:
        self._set("command_shell", value)

    @property
    def command_target(self) -> str:
        """The engine that the exported line is for; empty for the first one."""
        return str(self._get("command_target"))

    @command_target.setter
    def command_target(self, value: str) -> None:
        self._set("command_target", value)

    @property
    def server_program(self) -> str:
        """File of the llama-server that was chosen for trials; empty for the one of ``PATH``."""
        return str(self._get("server_program"))

    @server_program.setter
    def server_program(self, value: str) -> None:
        self._set("server_program", value)

    @property
    def profile(self) -> str:
        """Id of the profile that was chosen last; empty for none."""
        return str(self._get("profile"))

    @profile.setter
    def profile(self, value: str) -> None:
        self._set("profile", value)

    def note_model(self, path: str) -> None:
        """``path`` runs now: it comes first among the recent models."""
        others = [model for model in self.recent_models if model != path]
        self._set("recent_models", [path, *others][:_RECENT_MODELS])
        self._set("last_model", path)

    # --- The engine's settings ----------------------------------------------------------

    def start_config(self, values: Mapping[str, object] | None = None) -> EngineConfig:
        """The engine's settings as kept; always a configuration that the rules allow.

        The model is not one of them, see ``last_model``.

        Args:
            values: Settings for this run alone, as the command line gives them: they go before
                those kept, and are not kept themselves unless the user changes them.

        Raises:
            DomainError: If one of ``values`` cannot be taken.
        """
        given = self._instead_of_gone_draft() | dict(values or {})
        config = self._engine.with_values(given)
        self._passing = {key: getattr(config, key) for key in given}
        return config

    def _instead_of_gone_draft(self) -> dict[str, object]:
        """Settings without the draft model where its file is gone: the engine would refuse all."""
        path = self._engine.draft_model_path
        if not path or _answers(Path(path).is_file, _FILE_WAIT_S):
            return {}
        self._sentences += (
            f"The draft model {Path(path).name} is not there, or its drive does not answer, so "
            "nothing is drafted with it this time. Choose it again once it is back.",
        )
        types = tuple(name for name in self._engine.spec_types if name not in MODEL_KINDS)
        return {"draft_model_path": "", "spec_types": types}

    def hold(self, is_trying_out: bool) -> None:
        """Whether an experiment moves the settings: those before it are the user's meanwhile."""
        self._is_trying_out = is_trying_out

    @property
    def is_held(self) -> bool:
        """Whether an experiment moves the settings."""
        return self._is_trying_out

    def note_wanted(self, config: EngineConfig) -> None:
        """Keep what of ``config`` differs from the defaults, unless an experiment tries it out."""
        if self._is_trying_out:
            return
        self._passing = {k: v for k, v in self._passing.items() if getattr(config, k) == v}
        config = config.with_values({key: getattr(self._engine, key) for key in self._passing})
        if changed_settings(config) != changed_settings(self._engine):
            self._engine = config
            self.changed.emit("settings")
            self._write_soon()

    # --- Inside -------------------------------------------------------------------------

    def _timer(self, interval_ms: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=interval_ms)
        timer.timeout.connect(slot)
        return timer

    def _get(self, name: str) -> object:
        return self._values.get(name, KEPT[name].default)

    def _texts(self, name: str) -> list[str]:
        value = self._get(name)
        return [str(item) for item in value] if isinstance(value, list) else []

    def _set(self, name: str, value: object, told: str = "") -> None:
        """Take a value.

        Raises:
            ValueError: If it cannot be kept; the message says what would be right.
        """
        checked = KEPT[name].check(value)
        if checked == self._get(name):
            return
        self._values[name] = checked
        self.changed.emit(told or name)
        self._write_soon()

    def _document(self) -> Document:
        """Everything that differs from the defaults."""
        differing = {k: v for k, v in self._values.items() if v != KEPT[k].default}
        return copy.deepcopy(differing | {"settings": changed_settings(self._engine)})

    def _write_soon(self) -> None:
        # Not restarted by every change: a long drag is kept while it lasts.
        if self._is_writable and not self._soon.isActive():
            self._soon.start()

    def _write(self) -> None:
        self._writer.write(self._document())

    def _on_tried(self, outcome: Outcome) -> None:
        if isinstance(outcome.error, NewerSettingsError):
            self._is_writable = False
            self._soon.stop()
            self.failed.emit(str(outcome.error))
        elif outcome.error is not None:
            self._again.start()
            if not self._is_failing:
                self._is_failing = True
                self.failed.emit(
                    f"{outcome.error} TuneDeck goes on without saving them and tries again."
                )
        elif self._is_failing:
            self._is_failing = False
            self._again.stop()
            self.recovered.emit("The settings can be saved again; nothing that you set is lost.")


def _answers(ask: Callable[[], bool], wait_s: float) -> bool:
    """Whether ``ask`` says yes within ``wait_s`` seconds; a refusal of the system is a no."""
    said: list[bool] = []

    def run() -> None:
        with contextlib.suppress(OSError):
            said.append(ask())

    asking = threading.Thread(target=run, name="file", daemon=True)
    asking.start()
    asking.join(wait_s)
    return said == [True]
