"""``tunedeck bench``: one configuration measured with one workload.

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
from app.experiments.cli_workload import add_workload_options, workload_in

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter

_USUAL_RUNS = 5


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "bench", help="measure TTFT, TPOT, throughput, bandwidth and memory of some settings"
    )
    add_model_options(parser)
    add_workload_options(parser)
    parser.add_argument(
        "--runs", type=int, default=_USUAL_RUNS, metavar="N",
        help="runs after a warm-up that is thrown away (%(default)s by default)",
    )  # fmt: skip
    add_plan_option(parser)
    add_result_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.bench import bench, refuse_impossible  # noqa: PLC0415
    from app.experiments.planned import planned_runs  # noqa: PLC0415
    from app.experiments.tables import experiment_lines  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415

    try:
        config, workload = config_in(arguments), workload_in(arguments)
        refuse_impossible(config, workload, arguments.runs)
        refuse_no_model(config)
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    if tell_plan(planned_runs(workload, arguments.runs), arguments):
        return 0

    def work(port: EnginePort, reporter: Reporter) -> Experiment:
        return bench(port, config, workload, reporter, arguments.runs)

    return conduct_on_own_engine(
        work,
        lambda experiment: experiment_lines(experiment, explain=arguments.explain),
        as_json=arguments.json,
    )
