"""Between the session and the command line at the bottom."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.desk import Desk
from app.export import llama_flags, llama_serve, llama_server
from app.export.about import OTHERS, about
from app.export.dialect import Export
from app.export.effective_for import effective_for
from app.export.llama_flag import situation_of
from app.export.targets import TARGETS
from app.export_sheets import export_targets
from app.kept_settings import KeptSettings
from app.quoting import Shell, own_shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Severity, errors_of
from engine_bridge.settings.table import BY_KEY
from widgets.command_bar import CommandBar

SHELL_NAMES = {Shell.POSIX: "POSIX sh", Shell.CMD: "cmd.exe", Shell.POWERSHELL: "PowerShell"}
TRIED, UNITED = llama_server.TARGET, llama_serve.TARGET
"""The targets whose line is tried, by the name of the program."""


_DEFAULTS = EngineConfig()


class CommandWiring(QObject):
    """Writes the session's settings as a line for the engine and the shell chosen.

    Signals:
        refreshed: The line was written anew.
    """

    refreshed = Signal()

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
        command.target_changed.connect(self.choose_target)
        command.shell_changed.connect(self.choose_shell)

    def remember(self, kept: KeptSettings) -> None:
        """Begin with the choice of the last time, and keep every new one in ``kept``."""
        self._kept = kept
        if kept.command_target in TARGETS:
            self._target = kept.command_target
        if kept.command_shell:
            self._shell = Shell(kept.command_shell)
        self._offer()
        self.refresh()

    @property
    def target(self) -> str:
        """The engine that the line is for."""
        return self._target

    @property
    def shell(self) -> Shell:
        """The shell that the line is quoted for."""
        return self._shell

    @property
    def notes(self) -> tuple[str, ...]:
        """What no dialect can know of."""
        return self._notes

    @property
    def wanted(self) -> EngineConfig:
        """The settings that are written."""
        return self._session.wanted

    def choose_target(self, target: str) -> None:
        """Write for another engine from now on."""
        self._target = target
        if self._kept is not None:
            self._kept.command_target = target
        self._command.choose(target, str(self._shell))
        self.refresh()

    def choose_shell(self, shell: str) -> None:
        """Quote for another shell, by its id, from now on."""
        self._shell = Shell(shell)
        if self._kept is not None:
            self._kept.command_shell = shell
        self._command.choose(self._target, shell)
        self.refresh()

    def set_notes(self, notes: tuple[str, ...]) -> None:
        """Say ``notes`` below the line besides its own: what it cannot know of."""
        self._notes = notes
        self.refresh()

    def refresh(self) -> None:
        """Write the line anew."""
        wanted, export = self.wanted, self.exported(self._target)
        # Nobody misses in the line what nobody has set.
        named = {
            BY_KEY[key].label: reason
            for key, reason in export.not_carried.items()
            if getattr(wanted, key) != getattr(_DEFAULTS, key)
        }
        self._command.set_export(
            export.text, [*self._notes, *export.notes], named,
            listed=export.lines, refusals=self.refusals(self._target),
        )  # fmt: skip
        self.refreshed.emit()

    def exported(self, target: str) -> Export:
        """The settings wanted in the words of ``target``."""
        return TARGETS[target](self.wanted, self._effective(), self._session.model, self._shell)

    def server_flags(self) -> tuple[str, ...]:
        """The same as flags of llama-server, a word each, quoted for nobody."""
        effective, model = self._effective(), self._session.model
        return llama_flags.words(situation_of(self.wanted, effective, model, TRIED))

    def refusals(self, target: str = TRIED) -> tuple[str, ...]:
        """Why llama.cpp would not take the line, in sentences; empty where it would.

        Other engines have rules of their own, of which nothing is known here.
        """
        if about(target).group == OTHERS:
            return ()
        session, wanted = self._session, self._session.wanted
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
        return tuple(refusals)

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
        self._command.set_targets(export_targets(), self._target)
        shells = [(str(shell), name) for shell, name in SHELL_NAMES.items()]
        self._command.set_shells(shells, str(self._shell))
