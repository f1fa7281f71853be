"""``tunedeck users``: simulated users on some settings, or how many of them keep the limits.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

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
from engine_bridge.typed_text import quoted, whole_number

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter

_USUAL_SHARE = 0.95
_USUAL_MOST = 64
Number = TypeVar("Number", int, float)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "users", help="simulate users: what each gets, and how many are served within limits"
    )
    add_model_options(parser)
    add_workload_options(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--users",
        metavar="N,N,…",
        help="numbers of users to measure, such as 1,2,4,8 (the workload's by default)",
    )
    how.add_argument(
        "--rates",
        metavar="R,R,…",
        help="requests per second to measure, such as 0.5,1,2: they arrive in a Poisson process, "
        "whoever waits, and there are no users",
    )
    how.add_argument(
        "--find",
        action="store_true",
        help="search for the largest number of users within the workload's ttft_slo_s and "
        "tpot_slo_s",
    )
    parser.add_argument(
        "--share", type=float, default=_USUAL_SHARE, metavar="S",
        help="share of requests that must keep the limits (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--most", type=int, default=_USUAL_MOST, metavar="N",
        help="with --find, try no more users than these (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--requests", type=int, metavar="N",
        help="requests by which a number of users is judged (40 by default; with --find as few "
        "as can show the share, 73 for 0.95)",
    )  # fmt: skip
    parser.add_argument(
        "--long-prompt", type=int, default=0, metavar="TOK",
        help="at the end, have prompts of so many tokens arrive among the chats, and tell what "
        "they do to others' answers",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=math.inf, metavar="S",
        help="begin no run after so long (no limit by default)",
    )  # fmt: skip
    add_resume_option(parser, "an experiment with users", "loads, --requests and --seconds")
    add_plan_option(parser)
    add_result_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.planned import planned_users  # noqa: PLC0415
    from app.experiments.scripting import sample_text  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415
    from app.experiments.users import simulate_users  # noqa: PLC0415
    from app.experiments.users_plan import UsersPlan  # noqa: PLC0415
    from app.experiments.users_resume import refuse_other_words  # noqa: PLC0415
    from app.experiments.users_table import users_lines  # noqa: PLC0415

    try:
        config, workload = config_in(arguments), workload_in(arguments)
        plan = UsersPlan(
            workload,
            numbers=_numbers("--users", arguments.users, whole_number, "1,2,4,8"),
            rates=_numbers("--rates", arguments.rates, float, "0.5,1,2"),
            is_search=arguments.find,
            share=arguments.share,
            most=arguments.most,
            requests=arguments.requests,
            seconds=arguments.seconds,
            long_prompt_tok=arguments.long_prompt,
        )
        plan.refuse_impossible(config)
        sample_text(workload)
        kept = kept_in(arguments)
        if kept is not None:
            refuse_other_words(kept, plan, config)
        refuse_no_model(config)
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    for sentence in plan.remarks(config):
        sys.stderr.write(f"{sentence}\n")
    if tell_plan(planned_users(plan, kept), arguments):
        return 0

    def work(port: EnginePort, reporter: Reporter) -> Experiment:
        return simulate_users(port, config, plan, reporter, kept=kept)

    return conduct_on_own_engine(
        work,
        lambda experiment: [
            *users_lines(experiment, explain=arguments.explain),
            *way_on(experiment),
        ],
        as_json=arguments.json,
    )


def _numbers(
    option: str, text: str | None, read: Callable[[str], Number], example: str
) -> tuple[Number, ...]:
    """``1,2,4``.

    Raises:
        DomainError: In a sentence.
    """
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    if text is None:
        return ()
    try:
        return tuple(read(word) for word in text.split(","))
    except ValueError:
        raise DomainError(
            f"{option} takes numbers such as {example}; got {quoted(text)}."
        ) from None
