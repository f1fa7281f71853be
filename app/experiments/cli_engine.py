"""What commands of experiments on an engine of their own have in common: options and conduct.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    started = _Started()
    return conduct_with_history(
        lambda reporter: started.do(work, reporter), lines, stop=started.stop, as_json=as_json
    )


def conduct_with_history(
    work: Callable[[Reporter], Experiment],
    lines: Callable[[Experiment], Sequence[str]],
    *,
    stop: Callable[[], None],
    as_json: bool,
) -> int:
    """Do ``work``, which brings what it needs, keeping in the history what comes out.

    Args:
        work: The experiment.
        lines: Its result for people.
        stop: Makes ``work`` end soon; called from the main thread.
        as_json: Print it as one JSON object instead.

    Returns:
        The exit status, see ``terminal.conduct``.
    """
    from app.experiments.history_store import HistoryStore  # noqa: PLC0415
    from app.experiments.terminal import conduct  # noqa: PLC0415
    from app.storage.folders import own_folders  # noqa: PLC0415

    history = HistoryStore(own_folders().history)
    try:
        return conduct(work, stop=stop, lines=lines, as_json=as_json, keep=history.keep)
    finally:
        _close(history)


class _Started:
    """The engine of the experiment, made in its thread: it ends with the thread that made it."""

    def __init__(self) -> None:
        self._port: EnginePort | None = None
        self._is_stopped = False

    def do(
        self, work: Callable[[EnginePort, Reporter], Experiment], reporter: Reporter
    ) -> Experiment:
        from app.experiments.own_engine import OwnEngine  # noqa: PLC0415

        reporter.progressed(0.0, "Starting the engine", None)
        with OwnEngine() as engine:
            self._port = engine
            if self._is_stopped:  # a moment ago, while there was nothing to stop
                engine.stop()
            return work(engine, reporter)

    def stop(self) -> None:
        self._is_stopped = True
        if self._port is not None:
            self._port.stop()


def _close(history: HistoryStore) -> None:
    from app.storage.storage_error import StorageError  # noqa: PLC0415

    try:
        history.close()
    except StorageError as error:
        said(error)
    for sentence in history.take_sentences():
        sys.stderr.write(f"{sentence}\n")
