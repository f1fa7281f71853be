"""``tunedeck sweep``: every combination of some settings, measured in rounds.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from app.experiments.cli_engine import (
    add_model_options,
    add_result_options,
    conduct_on_own_engine,
    config_in,
    refuse_no_model,
    said,
)
from app.experiments.cli_plan import add_plan_option, tell_plan
from app.experiments.cli_resume import add_resume_option, kept_in, way_on
from app.experiments.cli_workload import add_workload_options, workload_in
from app.experiments.measures import BY_FIGURE

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.grid import GridCell
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter
    from app.experiments.workload import Workload

_USUAL_ROUNDS = 5


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "sweep", help="measure every combination of some settings, and tell the best"
    )
    add_model_options(parser)
    parser.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="KEY=VALUE,VALUE",
        help="values of a setting to try, such as slots=1,2,4,8, or of several that change "
        "together, such as cache_type_k+cache_type_v=f16,q8_0; repeatable",
    )
    add_workload_options(parser)
    add_figure_option(
        parser,
        None,
        "by which the best is chosen",
        "total_tok_s by default, of one user user_tok_s",
    )
    parser.add_argument(
        "--rounds", type=int, default=_USUAL_ROUNDS, metavar="N",
        help="how often each combination is measured (%(default)s by default)",
    )  # fmt: skip
    add_resume_option(parser, "a sweep", "--by and --rounds")
    add_plan_option(parser)
    add_result_options(parser)


def add_figure_option(
    parser: argparse.ArgumentParser, usual: str | None, purpose: str, otherwise: str
) -> None:
    """Let a command take the figure that matters."""
    parser.add_argument(
        "--by",
        choices=tuple(BY_FIGURE),
        default=usual,
        metavar="FIGURE",
        help=f"the figure {purpose}: {', '.join(BY_FIGURE)} ({otherwise})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.grid import grid_of  # noqa: PLC0415
    from app.experiments.planned import planned_sweep  # noqa: PLC0415
    from app.experiments.sweep import Sweep, usual_measure  # noqa: PLC0415
    from app.experiments.sweep_resume import refuse_other_words  # noqa: PLC0415
    from app.experiments.sweep_start import sweep_of_words  # noqa: PLC0415
    from app.experiments.sweep_table import sweep_lines  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415

    try:
        config, workload = config_in(arguments), workload_in(arguments)
        measure = BY_FIGURE[arguments.by] if arguments.by else usual_measure(workload)
        # A wrong word is told before an engine is started for it.
        grid = grid_of(config, arguments.vary)
        Sweep(grid, measure, arguments.rounds).check()
        kept = kept_in(arguments)
        if kept is not None:
            refuse_other_words(kept, grid, workload)
        refuse_no_model(config)
        if arguments.plan:
            grid = _judged(grid, workload, arguments.rounds)
            Sweep(grid, measure, arguments.rounds).check()
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    if tell_plan(planned_sweep(grid, arguments.rounds, workload, kept), arguments):
        return 0

    def work(port: EnginePort, reporter: Reporter) -> Experiment:
        return sweep_of_words(
            port,
            config,
            arguments.vary,
            workload,
            reporter,
            measure=measure,
            rounds=arguments.rounds,
            kept=kept,
        )

    return conduct_on_own_engine(
        work,
        lambda experiment: [
            *sweep_lines(experiment, explain=arguments.explain),
            *way_on(experiment),
        ],
        as_json=arguments.json,
    )


def _judged(grid: tuple[GridCell, ...], workload: Workload, rounds: int) -> tuple[GridCell, ...]:
    """``grid`` with the reasons of those that cannot run, as they would be found before a run."""
    from app.experiments.sweep_start import judged_cells, variants_of  # noqa: PLC0415
    from app.experiments.terminal import Terminal  # noqa: PLC0415

    terminal = Terminal()

    def told(share: float, sentence: str) -> None:
        terminal.progressed(share, sentence, None)

    judged = judged_cells(grid, workload, variants_of(grid, rounds), told)
    terminal.clear()
    return judged
