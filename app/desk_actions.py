"""Actions on the model, the engine and the settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.actions import Actions
from app.export_actions import add_export_actions
from app.import_actions import add_import_actions
from app.profile_actions import add_profile_actions
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.row import Group, Setting
from engine_bridge.settings.table import SETTINGS

if TYPE_CHECKING:
    from app.window import Window

MODEL, SETTINGS_GROUP = "Model and engine", "Settings"


def add_desk_actions(actions: Actions, window: Window) -> None:
    """Add what is done with the model, the engine and the settings of ``window``."""
    _add_model_actions(actions, window)
    _add_change_actions(actions, window)
    add_import_actions(actions, window, SETTINGS_GROUP)
    add_profile_actions(actions, window)
    add_export_actions(actions, window, SETTINGS_GROUP)
    for setting in SETTINGS:
        if setting.group is not Group.MODEL:
            _add_setting(actions, window, setting)


def _add_model_actions(actions: Actions, window: Window) -> None:
    session, engine = window.desk.session, window.engine_wiring

    def why_no_cancel() -> str:
        return "" if session.work else "No model is being loaded."

    actions.add(
        "model.open",
        "Choose a model…",
        "Ctrl+O",
        engine.ask_for_model,
        MODEL,
        words="open file gguf load recent folder picker",
    )
    actions.add(
        "model.hub", "Find a model on the hub…", "Ctrl+J, Shift+H", engine.picker.open_hub, MODEL,
        words="download search hugging face gguf repository",
    )  # fmt: skip
    actions.add(
        "draft.choose", "Choose what drafts…", "Ctrl+J, R", window.top.open_draft_menu, MODEL,
        words="speculation draft model ngram",
    )  # fmt: skip
    actions.add(
        "draft.hub", "Find drafts on the hub…", "Ctrl+J, Shift+D", engine.hub_drafts.open, MODEL,
        why_not=lambda: "" if session.model else "No model is loaded.",
        words="search download speculation draft hugging face gguf eagle3 mtp dflash",
    )  # fmt: skip
    actions.add(
        "model.demo", "Load the demo model", "Ctrl+J, D", engine.load_demo, MODEL,
        words="gemma example",
    )  # fmt: skip
    actions.add(
        "model.cancel", "Give up the load", "Ctrl+J, X", session.cancel_load, MODEL,
        why_not=why_no_cancel, words="cancel stop",
    )  # fmt: skip
    actions.add(
        "engine.restart", "Restart the engine", "Ctrl+F5", engine.restart, MODEL,
        words="crash dead kill",
    )  # fmt: skip


def _add_change_actions(actions: Actions, window: Window) -> None:
    session = window.desk.session

    def why_not_apply() -> str:
        if window.desk.client.state is EngineState.DEAD:
            return "The engine is not running: restart it first."
        if session.applied is None:
            return "No model is loaded."
        button = window.top.apply_button
        return "" if button.isEnabled() else button.toolTip()

    def why_no_command() -> str:
        return "" if window.command.text() else "There is no command line yet."

    actions.add(
        "settings.apply", "Apply the settings", ("Ctrl+Return", "Ctrl+Enter"), session.apply,
        SETTINGS_GROUP, why_not=why_not_apply,
    )  # fmt: skip
    actions.add(
        "settings.undo", "Undo the last change of a setting", "F9", session.undo, SETTINGS_GROUP,
        why_not=lambda: "" if session.can_undo else "No setting was changed.",
    )  # fmt: skip
    actions.add(
        "settings.redo", "Redo the change taken back", "Shift+F9", session.redo, SETTINGS_GROUP,
        why_not=lambda: "" if session.can_redo else "No change was taken back.",
    )  # fmt: skip
    actions.add(
        "command.copy", "Copy the command line", "Ctrl+Shift+C", window.command.copy,
        SETTINGS_GROUP, why_not=why_no_command, words="export llama-server clipboard",
    )  # fmt: skip


def _add_setting(actions: Actions, window: Window, setting: Setting) -> None:
    row = window.tune.row(setting.key)

    def why_not() -> str:
        return "" if row.isEnabled() else row.hint() or "It has no effect now."

    actions.add(
        f"set.{setting.key}", f"Set {setting.label}…", (),
        partial(window.show_setting, setting.key), SETTINGS_GROUP,
        why_not=why_not, words=f"{setting.key} {setting.group.value} fader",
    )  # fmt: skip
