"""Actions on what leaves: the export view and the trial, which are made once they are wanted."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from app.actions import Actions
from app.export_wiring import ExportWiring
from app.try_wiring import TryWiring

if TYPE_CHECKING:
    from app.window import Window


class ExportViews:
    """Both views of one window."""

    def __init__(self, window: Window) -> None:
        """Make neither yet: a start that opens none need not wait for them."""
        self._window = window

    @cached_property
    def trial(self) -> TryWiring:
        """In which a line is tried."""
        window = self._window
        show = partial(window.go_to, "experiments")
        command = window.tune_wiring.command_wiring
        return TryWiring(window.desk, command, window.experiments, window, show)

    @cached_property
    def export(self) -> ExportWiring:
        """In which settings leave."""
        window = self._window
        command = window.tune_wiring.command_wiring
        made = ExportWiring(command, window.desk.last_folder, window.say, self.open_trial, window)
        made.set_palette(window.command.colours)
        window.command.palette_changed.connect(made.set_palette)
        return made

    def open_trial(self) -> None:
        """Show the trial."""
        self.trial.open()

    def open_export(self) -> None:
        """Show the export."""
        self.export.open()


def add_export_actions(actions: Actions, window: Window, group: str) -> ExportViews:
    """Add what is done with the settings of ``window`` elsewhere, and wire its views."""
    views = ExportViews(window)
    window.command.export_requested.connect(views.open_export)
    actions.add(
        "command.export", "Export the settings…", "Ctrl+Shift+E", views.open_export, group,
        words="engines files docker compose systemd ollama vllm python preset not carried",
    )  # fmt: skip
    actions.add(
        "command.try", "Try the command line in llama-server…", "Ctrl+J, Shift+R",
        views.open_trial, group, words="run start server probe side by side measure memory",
    )  # fmt: skip
    keys = actions.action("command.export").keys_text
    window.command.export_button.setToolTip(
        f"Every engine, the files they need, and what becomes of each setting ({keys})"
    )
    return views
