"""A remote worker that went away, or no longer answers: which one it is, and how to go on.

The first takes the engine along, the second makes it wait for ever. Knows the banner and the
session; whether a worker answers is found out off the GUI thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject

from app.background import Task
from app.desk import Desk
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from engine_bridge.worker_probe import WorkerError, silent_workers
from engine_bridge.worker_wait import workers_waited_for
from widgets.status_banner import StatusBanner

_RESTART, _WITHOUT = "restart", "restart_without_workers"


class LostWorkers(QObject):
    """Says which worker was lost or hangs, and offers the model without it."""

    def __init__(
        self,
        desk: Desk,
        banner: StatusBanner,
        parent: QObject,
        *,
        load: Callable[[str, Mapping[str, object]], None],
    ) -> None:
        """Listen to deaths and to hangs.

        Args:
            desk: Its engine and what runs in it.
            banner: Where deaths are told; the one found there is told again with the name.
            parent: Owner.
            load: Loads a model with some settings changed, in an engine started for it.
        """
        super().__init__(parent)
        self._desk, self._banner, self._load = desk, banner, load
        self._ran: EngineConfig | None = None
        self._rest: tuple[str, ...] = ()
        self._asking: Task | None = None
        self._stalled_sentence = ""  # empty while the engine moves
        desk.session.applied_changed.connect(self._on_applied_changed)
        desk.client.engine_died.connect(self._on_engine_died)
        desk.client.stall_suspected.connect(self._on_stall_suspected)
        desk.client.stall_ended.connect(self._on_stall_ended)
        banner.action_requested.connect(self._on_action_requested)

    def _on_applied_changed(self, applied: Applied | None) -> None:
        if applied is not None:
            self._ran = applied.config

    def _on_engine_died(self, reason: DeathReason) -> None:
        config = self._ran
        if config is None or not config.rpc_servers or not reason.has_lost_worker:
            return
        workers = config.rpc_servers
        self._asking = Task(lambda _: silent_workers(workers), self)
        self._asking.succeeded.connect(self._on_asked)
        self._asking.start()

    def _on_asked(self, silent: tuple[WorkerError, ...]) -> None:
        self._asking = None
        config = self._ran
        if config is None or self._desk.client.state is not EngineState.DEAD:
            return  # it was restarted meanwhile; the load says what is missing
        if not silent:
            self._banner.show_problem(
                "The connection to a remote worker broke, and the engine ended with it. All of "
                f"them answer again ({', '.join(config.rpc_servers)}). Your conversations are "
                "kept; restart the engine to go on.",
                "",
                [(_RESTART, "Restart the engine")],
            )
            return
        names = self._leave_out(tuple(error.endpoint for error in silent))
        self._banner.show_problem(
            f"The remote worker at {names} was lost, and the engine ended with it. Your "
            "conversations are kept. Load the model without it, or start it again there and "
            "restart the engine.",
            "\n".join(str(error) for error in silent),
            [(_WITHOUT, f"Load without {names}"), (_RESTART, "Restart the engine")],
        )

    def _on_stall_suspected(self, sentence: str) -> None:
        self._stalled_sentence = sentence
        config = self._desk.session.tried
        if config is None or not config.rpc_servers:
            return
        self._ran = config
        pid, workers = self._desk.client.pid, config.rpc_servers
        self._asking = Task(lambda _: workers_waited_for(pid, workers), self)
        self._asking.succeeded.connect(self._on_waiting_found)
        self._asking.start()

    def _on_stall_ended(self) -> None:
        self._stalled_sentence = ""

    def _on_waiting_found(self, silent: tuple[str, ...]) -> None:
        self._asking = None
        config, sentence = self._ran, self._stalled_sentence
        if config is None or not sentence:
            return  # it moves again
        if not silent:
            self._banner.show_problem(
                f"{sentence} It runs on remote workers ({', '.join(config.rpc_servers)}): one of "
                "them may not answer. A new engine asks each of them and names it.",
                "",
                [(_RESTART, "Restart the engine")],
            )
            return
        names = self._leave_out(silent)
        self._banner.show_problem(
            f"The remote worker at {names} does not answer, and the engine waits for it. Your "
            "conversations are kept. Wait if its machine or the network is slow, load the model "
            "without it, or start it again there and restart the engine.",
            sentence,
            [(_WITHOUT, f"Load without {names}"), (_RESTART, "Restart the engine")],
        )

    def _leave_out(self, lost: tuple[str, ...]) -> str:
        """Note what is left of the workers; the names of the others, for a sentence."""
        assert self._ran is not None
        self._rest = tuple(one for one in self._ran.rpc_servers if one not in lost)
        return " and ".join(lost)

    def _on_action_requested(self, action: str) -> None:
        if action == _WITHOUT and self._ran is not None:
            self._load(self._ran.model_path, self._values_without())

    def _values_without(self) -> dict[str, object]:
        """What else names a device of a worker that is gone goes back to its default."""
        assert self._ran is not None
        values: dict[str, object] = {"rpc_servers": self._rest}
        if any(name.startswith("RPC") for name in self._ran.devices):
            values["devices"] = ()  # the numbers of the rest have changed
        kept = [one for one in self._ran.override_tensor if "[" not in one.partition("=")[2]]
        if len(kept) != len(self._ran.override_tensor):
            values["override_tensor"] = tuple(kept)
        if self._ran.tensor_split:
            values["tensor_split"] = ()
        return values
