"""``tunedeck tune``: finds settings for a purpose by measuring, step by step.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from app.experiments.cli_engine import (
    add_model_options,
    add_result_options,
    conduct_on_own_engine,
    config_in,
    said,
)
from app.experiments.cli_plan import add_plan_option, tell_plan
from app.experiments.cli_workload import add_workload_options, workload_in

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter
    from app.experiments.tune_goal import TuneGoal
    from app.experiments.workload import Workload

# Told in the help before anything else is imported; a test compares them with the goal's.
PURPOSES = ("chat", "users", "batch")
USUAL_BUDGET = 80
USUAL_SECONDS = 1_200
USUAL_MARGIN_MIB = 512
USUAL_KV_FLOOR = "q8_0"
# Where neither the option nor the workload says how many.
_USUAL_USERS = {"chat": 1, "users": 4, "batch": 8}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "tune", help="find the best settings for a purpose by measuring, step by step"
    )
    add_model_options(parser)
    parser.add_argument(
        "--for", dest="purpose", choices=PURPOSES, default=PURPOSES[0],
        help="one person chatting, --users within the workload's limits, or most tokens an hour "
        "(%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--users", type=int, metavar="N",
        help="how many at a time, with users and batch (the workload's where it has more than "
        "one, else 4 and 8)",
    )  # fmt: skip
    for option, what in (("ttft", "to the first token"), ("tpot", "per token after it")):
        parser.add_argument(
            f"--{option}", type=float, metavar="S",
            help=f"most seconds {what}, with users (the workload's by default)",
        )  # fmt: skip
    parser.add_argument(
        "--context", type=int, default=0, metavar="TOK",
        help="context that each slot must have (what the workload needs by default)",
    )  # fmt: skip
    parser.add_argument(
        "--margin", type=int, default=USUAL_MARGIN_MIB, metavar="MIB",
        help="memory that must stay free on every device, in MiB (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--kv-floor", default=USUAL_KV_FLOOR, metavar="TYPE",
        help="the coarsest KV cache that is allowed where memory is the limit, f16 for none "
        "(%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--keep", action="append", default=[], metavar="KEY",
        help="a setting that must not be touched; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--draft", action="append", default=[], metavar="FILE",
        help="a draft model that may be tried; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=int, default=USUAL_BUDGET, metavar="RUNS",
        help="most runs (%(default)s by default); fewer where all is clear before",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=USUAL_SECONDS, metavar="S",
        help="no run begins after so long, %(default)s s (20 minutes) by default; 0 for no limit",
    )  # fmt: skip
    add_workload_options(parser)
    add_plan_option(parser)
    add_result_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.port_bench import PortBench  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415
    from app.experiments.tune_files import refuse_files  # noqa: PLC0415
    from app.experiments.tune_table import tune_lines, tune_object  # noqa: PLC0415
    from app.experiments.tune_words import planned_tune  # noqa: PLC0415
    from app.experiments.tuner import tune  # noqa: PLC0415

    try:
        config, goal = config_in(arguments), goal_in(arguments)
        goal.check()
        refuse_files(config.model_path, goal.drafts)
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    if without_users := _unused_limits(arguments):
        sys.stderr.write(f"{without_users}\n")
    if tell_plan(planned_tune(goal), arguments):
        return 0

    def work(port: EnginePort, reporter: Reporter) -> Experiment:
        return tune(PortBench(port, goal, config.model_path, reporter), config, goal, reporter)

    return conduct_on_own_engine(
        work,
        lambda experiment: tune_lines(experiment, config, goal, explain=arguments.explain),
        as_json=arguments.json,
        as_object=lambda experiment: tune_object(experiment, config),
    )


def goal_in(arguments: argparse.Namespace) -> TuneGoal:
    """The goal that a command line asks for.

    Raises:
        DomainError: If a word is wrong, in a sentence.
        WorkloadError: If there is no such workload, or it cannot be used.
    """
    from app.experiments.tune_goal import Purpose, TuneGoal  # noqa: PLC0415
    from engine_bridge.settings.home_path import whole_path  # noqa: PLC0415

    workload = _limited(workload_in(arguments), arguments)
    return TuneGoal(
        purpose=Purpose(arguments.purpose),
        workload=workload,
        users=_users(arguments, workload),
        ctx_needed_tok=arguments.context,
        margin_bytes=arguments.margin * 2**20,
        kv_floor=arguments.kv_floor,
        kept=_keys(arguments.keep),
        drafts=tuple(whole_path(path) for path in arguments.draft),
        measurements=arguments.budget,
        seconds=arguments.seconds,
    )


def _users(arguments: argparse.Namespace, workload: Workload) -> int:
    if arguments.users is not None:
        return int(arguments.users)
    if arguments.purpose == "chat" or workload.users == 1:
        return _USUAL_USERS[arguments.purpose]
    return workload.users


def _unused_limits(arguments: argparse.Namespace) -> str:
    """That limits were asked for which count for users alone; empty where that is not so."""
    named = [f"--{option}" for option in ("ttft", "tpot") if getattr(arguments, option) is not None]
    if not named or arguments.purpose == "users":
        return ""
    verb = "counts" if len(named) == 1 else "count"
    return (
        f"{' and '.join(named)} {verb} with --for users only: --for {arguments.purpose} is tuned "
        "as if there were no limit."
    )


def _limited(workload: Workload, arguments: argparse.Namespace) -> Workload:
    import msgspec  # noqa: PLC0415

    limits = {"ttft_slo_s": arguments.ttft, "tpot_slo_s": arguments.tpot}
    told = {key: limit for key, limit in limits.items() if limit is not None}
    return msgspec.structs.replace(workload, **told)


def _keys(words: list[str]) -> tuple[str, ...]:
    """Settings that exist, each once.

    Raises:
        DomainError: In a sentence.
    """
    from engine_bridge.settings.assignments import unknown_key_sentence  # noqa: PLC0415
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415
    from engine_bridge.settings.table import BY_KEY  # noqa: PLC0415

    if not all(key.strip() for word in words for key in word.split(",")):
        raise DomainError("--keep takes keys of settings, such as slots,threads; got an empty one.")
    keys = [key.strip() for word in words for key in word.split(",")]
    for key in keys:
        if key not in BY_KEY:
            raise DomainError(unknown_key_sentence(key))
    return tuple(dict.fromkeys(keys))
