"""Commands of experiments as they are typed: whose they are, and what the history kept of them."""

from __future__ import annotations

from pathlib import Path

from app.experiments.experiment import Experiment
from app.experiments.history_store import HistoryStore

_HOMES = ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


def newcomer(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """``environment`` of a user who has kept nothing yet; what he keeps lies below ``folder``."""
    return environment | {name: str(folder / name.lower()) for name in _HOMES}


def kept_one(environment: dict[str, str]) -> Experiment:
    """The only experiment of the history."""
    history = HistoryStore(Path(environment["XDG_DATA_HOME"]) / "tunedeck" / "history")
    try:
        (row,) = history.listing()
        return history.experiment(row.key)
    finally:
        history.close()
