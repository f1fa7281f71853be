"""From words to a result: what sweeps and comparisons need to know before they begin.

Everything here happens on the experiment's thread, before the first run: the file's header and
hash, the plans of all combinations, and whether the workload fits into a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.experiments import compare as comparing
from app.experiments import compare_resume as comparing_on
from app.experiments.compare import Comparison, compare
from app.experiments.experiment import Experiment, Subject
from app.experiments.grid import GridCell, Plan, TooLong, grid_of, title_of, with_reasons
from app.experiments.keys import begun_at, new_key
from app.experiments.measures import Measure
from app.experiments.model_hash import ModelHashes
from app.experiments.port import EnginePort
from app.experiments.reporter import Reporter
from app.experiments.runner import Runner, WorkloadRunner, longest_variant
from app.experiments.scripting import sample_text
from app.experiments.subject import facts_of, hashed_subject
from app.experiments.sweep import USUAL_ROUNDS, Sweep, sweep
from app.experiments.sweep_resume import begun, refuse_other_words, resumed
from app.experiments.verdict import NAMES
from app.experiments.workload import Workload
from app.experiments.workload_fit import fit_problem
from app.planning import plan_in_throwaway_process
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError


class Preparing:
    """What is found out of one model and workload before anything is measured."""

    def __init__(
        self,
        port: EnginePort,
        reporter: Reporter,
        workload: Workload,
        model_path: str,
        *,
        plan: Plan = plan_in_throwaway_process,
        hashes: ModelHashes | None = None,
    ) -> None:
        """Look at the file and at the workload's text.

        Args:
            port: The engine; asked whether the user wants to stop.
            reporter: Told what is done.
            workload: What will be run.
            model_path: The model's file.
            plan: Plans a configuration.
            hashes: Hashes of model files; those kept for this user by default.

        Raises:
            DomainError: If the file is no model, in a sentence.
            WorkloadError: If the workload, or its text, cannot be used.
        """
        self._port = port
        self._reporter = reporter
        self._workload = workload
        self._model_path = model_path
        self._plan = plan
        self._hashes = hashes or ModelHashes()
        self._model = facts_of(model_path)
        sample_text(workload)

    def judged(self, cells: Sequence[GridCell], variants: int) -> tuple[GridCell, ...]:
        """``cells`` with the reasons of those that cannot run the first ``variants`` of the work.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """

        def told(share: float, sentence: str) -> None:
            self._reporter.progressed(share, sentence, None)
            self._port.next_event(0.0)  # raises where the user wants to stop

        return judged_cells(
            cells, self._workload, variants, told, plan=self._plan, model=self._model
        )

    def subject(self) -> Subject:
        """What is measured; hashes the file if it is not known.

        Raises:
            StoppedError: If the user stopped meanwhile.
        """
        return hashed_subject(
            self._port, self._model_path, self._model, self._hashes, self._reporter
        )


def judged_cells(
    cells: Sequence[GridCell],
    workload: Workload,
    variants: int,
    told: Callable[[float, str], None],
    *,
    plan: Plan = plan_in_throwaway_process,
    model: ModelFacts | None = None,
) -> tuple[GridCell, ...]:
    """``cells`` with the reasons of those that cannot run.

    Args:
        cells: Combinations.
        workload: What will be run.
        variants: How many variants of it each will run.
        told: Told how much is judged, 0 to 1, and what is done.
        plan: Plans a configuration.
        model: The model's facts; None where they are not known.
    """

    def progressed(done: int, total: int) -> None:
        told(done / total, f"Planning the memory of {total:,} combinations")

    return with_reasons(cells, too_long_of(workload, variants), plan, model, progressed)


def variants_of(cells: Sequence[GridCell], rounds: int) -> int:
    """How many variants of the work a sweep runs: with drafts each round has another one."""
    return rounds if any(cell.config.spec_types for cell in cells) else 1


def too_long_of(workload: Workload, variants: int) -> TooLong:
    """Says why one of the first ``variants`` of ``workload`` does not fit into a slot."""
    longest = longest_variant(workload, variants)

    def too_long(slot_tok: int) -> str:
        problem = fit_problem(longest, slot_tok)
        return "" if problem is None else problem.message

    return too_long


def sweep_of_words(
    port: EnginePort,
    base: EngineConfig,
    words: Sequence[str],
    workload: Workload,
    reporter: Reporter,
    *,
    measure: Measure,
    rounds: int = USUAL_ROUNDS,
    kept: Experiment | None = None,
    plan: Plan = plan_in_throwaway_process,
    hashes: ModelHashes | None = None,
    runner: Runner | None = None,
) -> Experiment:
    """Sweep over what ``words`` vary, or go on with ``kept``.

    Args:
        port: The engine.
        base: The settings that do not vary, with the model.
        words: As ``grid_of`` reads them.
        workload: What is run.
        reporter: Told how far it is, and of every run.
        measure: By what the best is chosen.
        rounds: How often each combination is measured.
        kept: A sweep of the same words to go on with.
        plan: Plans a configuration.
        hashes: Hashes of model files.
        runner: Runs the workload; one that watches this machine by default.

    Raises:
        DomainError: If something is asked for that cannot be, in a sentence.
        WorkloadError: If the workload cannot be used.
        PortError: If the engine is of no use, or the user stopped before a run.
    """
    grid = grid_of(base, words)
    Sweep(grid, measure, rounds).check()
    if kept is not None:
        refuse_other_words(kept, grid, workload)
    preparing = Preparing(port, reporter, workload, base.model_path, plan=plan, hashes=hashes)
    judged = preparing.judged(grid, variants_of(grid, rounds))
    asked = Sweep(judged, measure, rounds, seed=workload.seed)
    subject = preparing.subject()
    if kept is not None:
        experiment = resumed(kept, asked, subject, workload)
    else:
        experiment = begun(
            asked,
            subject,
            workload,
            key=new_key(),
            begun_at=begun_at(),
            title=f"{subject.model}, {workload.name}, {title_of(words)}",
        )
    return sweep(port, asked, runner or WorkloadRunner(workload), reporter, experiment)


def compare_configs(
    port: EnginePort,
    asked: Comparison,
    names: tuple[str, str],
    workload: Workload,
    reporter: Reporter,
    *,
    kept: Experiment | None = None,
    plan: Plan = plan_in_throwaway_process,
    hashes: ModelHashes | None = None,
    runner: Runner | None = None,
) -> Experiment:
    """Compare A and B, see ``compare``, or go on with ``kept``; ``names`` tell them apart.

    Raises:
        DomainError: If one of them cannot run, the budget suffices for nothing, or ``kept`` is of
            something else, in a sentence.
        WorkloadError: If the workload cannot be used.
        PortError: If the engine is of no use, or the user stopped before a run.
    """
    asked.check()
    if kept is not None:
        comparing_on.refuse_other_words(kept, asked, workload, names)
    preparing = Preparing(
        port, reporter, workload, asked.first.model_path, plan=plan, hashes=hashes
    )
    both = [
        GridCell(name, config)
        for name, config in zip(names, (asked.first, asked.second), strict=True)
    ]
    for letter, cell in zip(NAMES, preparing.judged(both, asked.pairs), strict=True):
        if cell.skipped:
            raise DomainError(f"{letter} ({cell.name}) cannot run: {cell.skipped}")
    subject = preparing.subject()
    if kept is not None:
        experiment = comparing_on.resumed(kept, asked, subject, workload, names)
    else:
        experiment = comparing.begun(
            asked, subject, workload, key=new_key(), begun_at=begun_at(), names=names
        )
    return compare(port, asked, runner or WorkloadRunner(workload), reporter, experiment)
