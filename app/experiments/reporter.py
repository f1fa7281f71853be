"""Where an experiment says how far it is and hands over what it has.

Called in the experiment's thread; whoever listens takes care of his own.
"""

from __future__ import annotations

from typing import Protocol

from app.experiments.experiment import Experiment


class Reporter(Protocol):
    """Listens to one experiment."""

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        """How far it is.

        Args:
            share: Done so far, 0 to 1.
            sentence: What is done now.
            left_s: Seconds it will still take by what the parts so far took; None if not known yet.
        """

    def kept(self, experiment: Experiment) -> None:
        """The experiment as it is after another part has ended; written before the next begins."""
