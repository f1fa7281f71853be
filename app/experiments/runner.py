"""Runs of a workload on the configuration in force, as experiments with many of them need it.

A run is played from start to end while the machine is watched; a warm-up is the beginning of the
same work, and nobody looks at its figures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from app.experiments.conditions import Conditions
from app.experiments.measuring import Measured, measured_run
from app.experiments.peak_source import peak_of
from app.experiments.play import play, tok_per_char
from app.experiments.player import Progressed
from app.experiments.port import EnginePort
from app.experiments.script import Script
from app.experiments.scripting import sample_text, scripts_of
from app.experiments.workload import Workload
from engine_bridge.protocol import Applied

# Enough steps that weights are in memory and graphs are built; more would only take time.
_WARM_UP_TOK = 16


class Runner(Protocol):
    """Runs one workload again and again."""

    def warm_up(self, port: EnginePort) -> None:
        """Have the engine work a moment; may raise ``PortError``."""

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
    ) -> Measured:
        """Run it once; may raise ``PortError``.

        Args:
            port: The engine, with the configuration to measure.
            applied: What that configuration came to.
            variant: Runs of the same number do exactly the same work; others have other texts and
                lengths of the same kind.
            progressed: Told how many requests have ended, and how many there are.
        """


class WorkloadRunner:
    """Plays a workload."""

    def __init__(self, workload: Workload, watch: Callable[[int], Conditions] = Conditions) -> None:
        """Play ``workload``; ``watch`` makes what watches the machine, for the engine's process."""
        self._workload = workload
        self._watch = watch
        self._tok_per_char: float | None = None
        self._variant = 0
        self._scripts: tuple[Script, ...] = ()

    def for_workload(self, workload: Workload) -> WorkloadRunner:
        """One for another workload of the same texts, whose tokens need not be counted again."""
        other = WorkloadRunner(workload, self._watch)
        other._tok_per_char = self._tok_per_char
        return other

    def warm_up(self, port: EnginePort) -> None:
        """Play the first prompt of as many conversations as there are users, with short answers."""
        users = self._workload.users if self._workload.rate_req_s is None else 1
        scripts = self._scripts or self._scripts_of(port, self._variant)
        play(port, [_opening(script) for script in scripts[:users]], users)

    def run(
        self,
        port: EnginePort,
        applied: Applied,
        *,
        variant: int = 0,
        progressed: Progressed | None = None,
        beside: tuple[Script, ...] = (),
    ) -> Measured:
        """Play all of it, see ``Runner``; ``beside`` begin when they are due."""
        scripts = (*self._scripts_of(port, variant), *beside)
        # A new one each time, for the engine may be another process than before.
        with self._watch(port.pid) as conditions:
            return measured_run(
                port,
                scripts,
                self._workload,
                conditions,
                peak_bytes_per_s=peak_of(port, applied).bytes_per_s,
                progressed=progressed,
            )

    def _scripts_of(self, port: EnginePort, variant: int) -> tuple[Script, ...]:
        if self._tok_per_char is None:
            self._tok_per_char = tok_per_char(port, sample_text(self._workload))
        if not self._scripts or variant != self._variant:
            self._variant = variant
            self._scripts = scripts_of(variant_of(self._workload, variant), self._tok_per_char)
        return self._scripts


def variant_of(workload: Workload, variant: int) -> Workload:
    """The same kind of work with other texts and lengths; 0 is ``workload`` itself."""
    return msgspec.structs.replace(workload, seed=workload.seed + variant)


def longest_variant(workload: Workload, variants: int) -> Workload:
    """That of the first ``variants`` of it whose longest conversation takes the most context."""
    kinds = [variant_of(workload, number) for number in range(variants)]
    return max(kinds, key=lambda kind: kind.needed_ctx_tok())


def _opening(script: Script) -> Script:
    first = script.turns[0]
    short = msgspec.structs.replace(first, new_tok=min(first.new_tok, _WARM_UP_TOK), think_s=0.0)
    return msgspec.structs.replace(script, turns=(short,), start_s=None)
