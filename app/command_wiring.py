"""Between the session and the command line at the bottom."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk import Desk
from app.export.effective_for import effective_for
from app.export.targets import TARGETS
from app.kept_settings import KeptSettings
from app.quoting import Shell, own_shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Severity, errors_of
from engine_bridge.settings.table import BY_KEY
from widgets.command_bar import CommandBar

_SHELL_NAMES = {Shell.POSIX: "POSIX sh", Shell.CMD: "cmd.exe", Shell.POWERSHELL: "PowerShell"}


_DEFAULTS = EngineConfig()


class CommandWiring(QObject):
    """Writes the session's settings as a line for the engine and the shell chosen."""

    def __init__(self, desk: Desk, command: CommandBar, parent: QObject) -> None:
        """Offer the engines and shells there are; whoever owns this calls ``refresh``."""
        super().__init__(parent)
        self._session = desk.session
        self._command = command
        self._kept: KeptSettings | None = None
        self._target = next(iter(TARGETS))
        self._shell = own_shell()
        self._notes: tuple[str, ...] = ()
        self._offer()
        command.target_changed.connect(self._on_target_changed)
        command.shell_changed.connect(self._on_shell_changed)

    def remember(self, kept: KeptSettings) -> None:
        """Begin with the choice of the last time, and keep every new one in ``kept``."""
        self._kept = kept
        if kept.command_target in TARGETS:
            self._target = kept.command_target
        if kept.command_shell:
            self._shell = Shell(kept.command_shell)
        self._offer()
        self.refresh()

    def set_notes(self, notes: tuple[str, ...]) -> None:
        """Say ``notes`` below the line besides its own: what it cannot know of."""
        self._notes = notes
        self.refresh()

    def refresh(self) -> None:
        """Write the line anew."""
        session, wanted = self._session, self._session.wanted
        export = TARGETS[self._target](wanted, self._effective(), session.model, self._shell)
        refusals = [
            f"llama.cpp would refuse this line: {problem.message}"
            for problem in errors_of(wanted, session.model)
        ]
        if not refusals and session.plan is not None and session.planned == wanted:
            refusals = [
                f"llama.cpp would refuse this line on this machine: {problem.message}"
                for problem in session.plan.problems
                if problem.severity is Severity.ERROR
            ]
        # Nobody misses in the line what nobody has set.
        named = {
            BY_KEY[key].label: reason
            for key, reason in export.not_carried.items()
            if getattr(wanted, key) != getattr(_DEFAULTS, key)
        }
        self._command.set_export(
            export.text, [*self._notes, *export.notes], named,
            listed=export.lines, refusals=refusals,
        )  # fmt: skip

    def _effective(self) -> EffectiveConfig | None:
        """What is known of the settings wanted; a plan that was refused has no such answer."""
        session = self._session
        if session.applied is None:
            return None
        running = (session.applied.config, session.applied.effective)
        if session.plan is None or session.planned is None:
            return effective_for(session.wanted, running)
        planned = (session.planned, session.plan.effective)
        return effective_for(session.wanted, planned, running)

    def _offer(self) -> None:
        self._command.set_targets(tuple(TARGETS), self._target)
        shells = [(str(shell), name) for shell, name in _SHELL_NAMES.items()]
        self._command.set_shells(shells, str(self._shell))

    def _on_target_changed(self, target: str) -> None:
        self._target = target
        if self._kept is not None:
            self._kept.command_target = target
        self.refresh()

    def _on_shell_changed(self, shell: str) -> None:
        self._shell = Shell(shell)
        if self._kept is not None:
            self._kept.command_shell = shell
        self.refresh()
