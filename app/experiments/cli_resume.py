"""How a command goes on with an experiment of the history: ``--resume``, and what says so.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment


def add_resume_option(parser: argparse.ArgumentParser, noun: str, free: str) -> None:
    """Let a command take ``--resume``.

    Args:
        parser: Of the command.
        noun: What its experiments are called, with its article.
        free: Which words may be others than before.
    """
    parser.add_argument(
        "--resume", metavar="KEY",
        help=f"go on with {noun} of the history that was stopped or cut; {free} may be others, "
        "all other words as they were",
    )  # fmt: skip


def kept_in(arguments: argparse.Namespace) -> Experiment | None:
    """The experiment that a command line goes on with; None for a new one.

    Raises:
        StorageError: If there is none of that key, it cannot be read, or it is still going on.
        DomainError: If it is about another model.
    """
    if arguments.resume is None:
        return None
    from app.experiments.experiment import State  # noqa: PLC0415
    from app.experiments.history_store import HistoryStore  # noqa: PLC0415
    from app.experiments.model_hash import ModelHashes  # noqa: PLC0415
    from app.experiments.resume import refuse_other_model  # noqa: PLC0415
    from app.storage.folders import own_folders  # noqa: PLC0415
    from app.storage.storage_error import StorageError  # noqa: PLC0415
    from engine_bridge.settings.home_path import whole_path  # noqa: PLC0415

    history = HistoryStore(own_folders().history)
    try:
        kept = history.experiment(history.resolve(arguments.resume))
    finally:
        history.close()
    if kept.state is State.RUNNING:  # that of a program that is gone is called cut
        raise StorageError(f"{kept.key} is being measured by another program at the moment.")
    # Here already: where nothing is left to be measured, an engine would be started to say it.
    refuse_other_model(kept, ModelHashes().of(whole_path(arguments.model)))
    return kept


def way_on(experiment: Experiment) -> list[str]:
    """How to go on with an experiment, where it was stopped."""
    from app.experiments.experiment import State  # noqa: PLC0415

    if experiment.state is not State.STOPPED:
        return []
    return ["", f"The same command with --resume {experiment.key} goes on with it."]
