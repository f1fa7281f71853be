"""``tunedeck compare``: two configurations take turns until the difference is clear.

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
from app.experiments.cli_sweep import add_figure_option
from app.experiments.cli_workload import add_workload_options, workload_in
from app.experiments.measures import BY_FIGURE
from app.experiments.setting_words import changed_by, words_in

if TYPE_CHECKING:
    from app.experiments.compare import Comparison
    from app.experiments.experiment import Experiment
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter

_USUAL_PAIRS = 12
_USUAL_SECONDS = 600.0
_USUAL_FIGURE = "tpot_s"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "compare", help="A against B, taking turns on the same work until the difference is clear"
    )
    add_model_options(parser)
    for letter, other in (("a", "b"), ("b", "a")):
        parser.add_argument(
            f"--{letter}",
            default="",
            metavar="KEY=VALUE,…",
            help=f"settings of {letter.upper()} beside --set, such as slots=4,flash_attn=on; "
            f"none makes it what --set says, against --{other}",
        )
    add_workload_options(parser)
    add_figure_option(parser, _USUAL_FIGURE, "that decides", f"{_USUAL_FIGURE} by default")
    parser.add_argument(
        "--pairs", type=int, default=_USUAL_PAIRS, metavar="N",
        help="most pairs of runs, 4 or more (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=_USUAL_SECONDS, metavar="S",
        help="begin no pair after so long (%(default)g by default)",
    )  # fmt: skip
    add_resume_option(parser, "a comparison", "--by, --pairs and --seconds")
    add_plan_option(parser)
    add_result_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.compare import Comparison  # noqa: PLC0415
    from app.experiments.compare_resume import refuse_other_words  # noqa: PLC0415
    from app.experiments.planned import planned_compare  # noqa: PLC0415
    from app.experiments.sweep_start import compare_configs  # noqa: PLC0415
    from app.experiments.tables import CELL_KEYS, experiment_lines  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415

    try:
        base, workload = config_in(arguments), workload_in(arguments)
        names = (_name(arguments.a), _name(arguments.b))
        asked = Comparison(
            changed_by(base, arguments.a, "--a"),
            changed_by(base, arguments.b, "--b"),
            BY_FIGURE[arguments.by],
            arguments.pairs,
            arguments.seconds,
        )
        # Told before an engine is started for it.
        asked.check()
        _refuse_twice_the_same(asked)
        kept = kept_in(arguments)
        if kept is not None:
            refuse_other_words(kept, asked, workload, names)
        refuse_no_model(base)
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    if tell_plan(planned_compare(asked, workload, kept), arguments):
        return 0

    def work(port: EnginePort, reporter: Reporter) -> Experiment:
        return compare_configs(port, asked, names, workload, reporter, kept=kept)

    keys = [*([] if arguments.by in CELL_KEYS else [arguments.by]), *CELL_KEYS]
    return conduct_on_own_engine(
        work,
        lambda experiment: [
            *experiment_lines(experiment, keys=keys, explain=arguments.explain),
            *way_on(experiment),
        ],
        as_json=arguments.json,
    )


def _refuse_twice_the_same(asked: Comparison) -> None:
    """Nobody waits ten minutes on purpose to hear that something is as fast as itself.

    Raises:
        DomainError: In a sentence.
    """
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    if asked.first == asked.second:
        raise DomainError(
            "A and B are the same settings, so there is nothing to compare. Say what differs, "
            "such as --a slots=1 --b slots=4."
        )


def _name(text: str) -> str:
    return ", ".join(words_in(text)) or "as set"
