"""Actions by which a command of elsewhere becomes settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.actions import Actions
from app.import_reading import Reader
from app.import_wiring import ImportWiring
from app.importing.found_settings import settings_for
from app.importing.importer import import_text

if TYPE_CHECKING:
    from app.window import Window

_BUSY = "An experiment is under way; use the settings once it has ended."
_READER = Reader(import_text, settings_for)


def add_import_actions(actions: Actions, window: Window, group: str) -> None:
    """Add what is done with commands of elsewhere, and the button beside the command line."""

    def why_not() -> str:
        return _BUSY if window.experiments.run.is_under_way else ""

    imports = ImportWiring(
        window.desk, window, _READER,
        load=window.engine_wiring.load, say=window.say, why_not=why_not,
    )  # fmt: skip
    window.command.paste_requested.connect(imports.open)
    actions.add(
        "command.paste", "Import a command: paste it or open a file…", "Ctrl+Shift+V",
        imports.open, group, words="clipboard llama-server ollama vllm docker compose preset ini",
    )  # fmt: skip
    actions.add(
        "command.open", "Open a file with a command in it…", "Ctrl+Shift+O",
        imports.ask_for_file, group,
        words="import yaml ini service env modelfile kcpps sh bat ps1",
    )  # fmt: skip
    keys = actions.action("command.paste").keys_text
    window.command.paste_button.setToolTip(
        f"Make settings of a command or a file from elsewhere ({keys})"
    )
