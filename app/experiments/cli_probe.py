"""``tunedeck probe``: any OpenAI-compatible server, with the ruler of the embedded engine.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from app.experiments.cli_engine import (
    add_profile_option,
    add_result_options,
    conduct_with_history,
    config_in,
    refuse_no_model,
    said,
)
from app.experiments.cli_plan import add_plan_option, tell_plan
from app.experiments.cli_workload import add_workload_options, workload_in

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.own_engine import OwnEngine
    from app.experiments.probe_port import ServerPort
    from app.experiments.reporter import Reporter
    from app.experiments.workload import Workload
    from engine_bridge.settings.config import EngineConfig

_USUAL_RUNS = 5
_USUAL_WAIT_S = 300.0


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "probe", help="measure a server (llama-server, Ollama, vLLM, …) with the same ruler"
    )
    parser.add_argument("url", metavar="URL", help="its address, such as http://localhost:8080")
    parser.add_argument(
        "--model", dest="served", default="", metavar="NAME",
        help="what the server calls the model; needed where it has several",
    )  # fmt: skip
    add_workload_options(parser)
    parser.add_argument(
        "--concurrency", type=int, metavar="N",
        help="users at a time, each with as many conversations as the workload has for one",
    )  # fmt: skip
    parser.add_argument(
        "--runs", type=int, default=_USUAL_RUNS, metavar="N",
        help="runs after a warm-up that is thrown away (%(default)s by default)",
    )  # fmt: skip
    parser.add_argument(
        "--beside", default="", metavar="GGUF",
        help="measure the embedded engine with this model on the same work, in turns",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a setting of the engine of --beside; repeatable",
    )  # fmt: skip
    add_profile_option(parser, " for the engine of --beside")
    parser.add_argument(
        "--api-key-env", metavar="NAME",
        help="variable of the environment that holds the server's key (OPENAI_API_KEY is sent "
        "unasked only to this machine and to https addresses)",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=float, default=_USUAL_WAIT_S, metavar="S",
        help="longest wait for a first token (%(default)g by default)",
    )  # fmt: skip
    add_plan_option(parser)
    add_result_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do it; gives the exit status."""
    from app.experiments.planned import planned_runs  # noqa: PLC0415
    from app.experiments.probe import check_runs  # noqa: PLC0415
    from app.experiments.tables import PROBE_KEYS, experiment_lines  # noqa: PLC0415
    from app.experiments.terminal import SENTENCES  # noqa: PLC0415

    try:
        check_runs(arguments.runs)
        workload = _workload(arguments)
        conducted = _Conducted(_port(arguments), arguments, workload, _config(arguments))
    except SENTENCES as error:
        return said(error, as_json=arguments.json)
    sides = 2 if arguments.beside else 1
    if tell_plan(planned_runs(workload, arguments.runs, sides), arguments):
        return 0
    return conduct_with_history(
        conducted.do,
        lambda experiment: experiment_lines(experiment, keys=PROBE_KEYS, explain=arguments.explain),
        stop=conducted.stop,
        as_json=arguments.json,
    )


class _Conducted:
    """The probe with the engine beside it, which is made in the thread of the experiment."""

    def __init__(
        self,
        port: ServerPort,
        arguments: argparse.Namespace,
        workload: Workload,
        config: EngineConfig | None,
    ) -> None:
        self._port = port
        self._arguments = arguments
        self._workload = workload
        self._config = config
        self._engine: OwnEngine | None = None
        self._is_stopped = False

    def do(self, reporter: Reporter) -> Experiment:
        from app.experiments.own_engine import OwnEngine  # noqa: PLC0415
        from app.experiments.probe import Beside, probe  # noqa: PLC0415

        given = (self._port, self._arguments.served, self._workload, reporter, self._arguments.runs)
        with self._port:
            if self._config is None:
                return probe(*given)
            reporter.progressed(0.0, "Starting the engine", None)
            with OwnEngine() as engine:
                self._engine = engine
                if self._is_stopped:  # a moment ago, while there was nothing to stop
                    engine.stop()
                return probe(*given, beside=Beside(engine, self._config))

    def stop(self) -> None:
        self._is_stopped = True
        self._port.stop()
        if self._engine is not None:
            self._engine.stop()


def _port(arguments: argparse.Namespace) -> ServerPort:
    """The way to the server.

    Raises:
        DomainError: If the address, the key or the wait cannot be.
    """
    from app.experiments.probe_port import ServerPort  # noqa: PLC0415
    from app.experiments.server_address import address_of, key_of  # noqa: PLC0415
    from app.experiments.server_answer import Limits  # noqa: PLC0415
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    if not 0 < arguments.wait <= 86_400:
        raise DomainError(f"--wait is above 0 and at most 86,400 s; got {arguments.wait:g}.")
    address = address_of(arguments.url)
    return ServerPort(
        address, key_of(address, arguments.api_key_env, os.environ), Limits(arguments.wait)
    )


def _workload(arguments: argparse.Namespace) -> Workload:
    """The workload, with as many users as asked for.

    Raises:
        WorkloadError: If it cannot be used.
    """
    workload = workload_in(arguments)
    if arguments.concurrency is None:
        return workload
    from app.experiments.workload import LIMIT_USERS  # noqa: PLC0415
    from app.experiments.workload_error import WorkloadError  # noqa: PLC0415

    if not 1 <= arguments.concurrency <= LIMIT_USERS:
        raise WorkloadError(
            f"--concurrency is from 1 to {LIMIT_USERS:,} users; got {arguments.concurrency:,}."
        )
    if workload.rate_req_s is not None:
        raise WorkloadError("--concurrency is for users who wait; this workload has a rate.")
    changed = workload.with_users(arguments.concurrency)
    changed.check()
    return changed


def _config(arguments: argparse.Namespace) -> EngineConfig | None:
    """What the embedded engine runs beside; None without ``--beside``.

    Raises:
        DomainError: If a setting is wrong, or there is no engine to set.
    """
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    if not arguments.beside:
        for flag, value in (("--set", arguments.set), ("--profile", arguments.profile)):
            if value:
                raise DomainError(f"{flag} is for the engine of --beside; a server has its own.")
        return None
    config = config_in(
        argparse.Namespace(set=arguments.set, profile=arguments.profile, model=arguments.beside)
    )
    refuse_no_model(config)
    return config
