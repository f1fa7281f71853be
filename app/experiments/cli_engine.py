"""What commands of experiments on an engine of their own have in common: options and conduct.

Only the standard library at import, so that a wrong word is refused before anything is set up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment
    from app.experiments.history_store import HistoryStore
    from app.experiments.port import EnginePort
    from app.experiments.reporter import Reporter
    from engine_bridge.settings.config import EngineConfig


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Let a command take a model and settings."""
    parser.add_argument("model", help="GGUF file")
    add_profile_option(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )


def add_profile_option(parser: argparse.ArgumentParser, whose: str = "") -> None:
    """Let a command take the settings of a profile.

    Args:
        parser: Of the command.
        whose: Which engine's they are, where there are several.
    """
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help=f"settings saved under that name{whose}; --set on top of them",
    )


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Let a command say how its result is printed."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--explain", action="store_true", help="add what each figure means to the table"
    )


def config_in(arguments: argparse.Namespace) -> EngineConfig:
    """The configuration that a command line asks for.

    Raises:
        DomainError: If a setting or the profile is unknown or a value outside its domain, in one
            sentence.
    """
    from engine_bridge.settings.config import EngineConfig  # noqa: PLC0415

    return EngineConfig.from_values(values_in(arguments))


def values_in(arguments: argparse.Namespace) -> dict[str, object]:
    """The settings that a command line names, by its profile and by itself, and the model.

    Raises:
        DomainError: If a setting or the profile is unknown, in one sentence.
    """
    from app.profile_choice import profile_values  # noqa: PLC0415
    from engine_bridge.settings.assignments import parse_assignments  # noqa: PLC0415
    from engine_bridge.settings.home_path import whole_path  # noqa: PLC0415

    values = parse_assignments(arguments.set)  # a wrong word is refused before files are read
    path = whole_path(arguments.model)
    named = profile_values(getattr(arguments, "profile", None), path)
    return {**named, **values, "model_path": path}


def refuse_no_model(config: EngineConfig) -> None:
    """Refuse a file that is no model, before an engine is started for it.

    Raises:
        DomainError: In a sentence.
    """
    from app.experiments.subject import facts_of  # noqa: PLC0415

    facts_of(config.model_path)


def said(error: Exception, *, as_json: bool = False) -> int:
    """Tell the sentence of an error, as ``{"error": sentence}`` too; gives the exit status."""
    from app.json_output import tell_error  # noqa: PLC0415

    tell_error(str(error), as_json=as_json)
    return 1


def conduct_on_own_engine(
    work: Callable[[EnginePort, Reporter], Experiment],
    lines: Callable[[Experiment], Sequence[str]],
    *,
    as_json: bool,
    as_object: Callable[[Experiment], object] | None = None,
) -> int:
    """Do ``work`` on an engine started for it, keeping in the history what comes out.

    Args:
        work: The experiment.
        lines: Its result for people.
        as_json: Print it as one JSON object instead.
        as_object: What is printed so; the experiment itself by default.

    Returns:
        The exit status, see ``terminal.conduct``.
    """
    started = _Started()
    return conduct_with_history(
        lambda reporter: started.do(work, reporter),
        lines,
        stop=started.stop,
        as_json=as_json,
        as_object=as_object,
    )


def conduct_with_history(
    work: Callable[[Reporter], Experiment],
    lines: Callable[[Experiment], Sequence[str]],
    *,
    stop: Callable[[], None],
    as_json: bool,
    as_object: Callable[[Experiment], object] | None = None,
) -> int:
    """Do ``work``, which brings what it needs, keeping in the history what comes out.

    Args:
        work: The experiment.
        lines: Its result for people.
        stop: Makes ``work`` end soon; called from the main thread.
        as_json: Print it as one JSON object instead.
        as_object: What is printed so; the experiment itself by default.

    Returns:
        The exit status, see ``terminal.conduct``.
    """
    from app.experiments.history_store import HistoryStore  # noqa: PLC0415
    from app.experiments.terminal import conduct  # noqa: PLC0415
    from app.storage.folders import own_folders  # noqa: PLC0415

    history = HistoryStore(own_folders().history)
    try:
        return conduct(
            work,
            stop=stop,
            lines=lines,
            as_json=as_json,
            as_object=as_object,
            keep=history.keep,
        )
    finally:
        _close(history)


class _Started:
    """The engine of the experiment, made in its thread: it ends with the thread that made it."""

    def __init__(self) -> None:
        self._port: EnginePort | None = None
        self._is_stopped = False

    def do(
        self, work: Callable[[EnginePort, Reporter], Experiment], reporter: Reporter
    ) -> Experiment:
        from app.experiments.own_engine import OwnEngine  # noqa: PLC0415

        reporter.progressed(0.0, "Starting the engine", None)
        with OwnEngine() as engine:
            self._port = engine
            if self._is_stopped:  # a moment ago, while there was nothing to stop
                engine.stop()
            return work(engine, reporter)

    def stop(self) -> None:
        self._is_stopped = True
        if self._port is not None:
            self._port.stop()


def _close(history: HistoryStore) -> None:
    from app.storage.storage_error import StorageError  # noqa: PLC0415

    try:
        history.close()
    except StorageError as error:
        said(error)
    for sentence in history.take_sentences():
        sys.stderr.write(f"{sentence}\n")
