"""The command line: ``tunedeck`` opens the window; its sub-commands answer without one.

Prints for a person, or one JSON object with ``--json``. Exit status: 0 done, 1 a problem with what
was asked (said in a sentence), 2 a wrong command line, 130 stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from app import inspect_command, profile_command
from app.arguments import parse_arguments
from app.experiments import (
    cli_bench,
    cli_compare,
    cli_history,
    cli_probe,
    cli_quality,
    cli_sweep,
    cli_tune,
    cli_users,
)
from app.export.dialect import Export
from app.export.targets import TARGETS
from app.export_lines import command_and_files, remarks
from app.export_out import write_files
from app.importing import cli_import
from app.json_output import tell_error, write_json
from app.library import cli_drafts, cli_hub
from app.plain_output import is_of_stream, prepare_streams, silence
from app.plan_lines import caches_bytes, plan_lines, without_effect
from app.planning import PlanningError, plan_in_throwaway_process
from app.profile_choice import profile_for_window, profile_values
from app.quoting import Shell
from app.settings_list import settings_lines, settings_values
from app.storage.storage_error import StorageError
from app.ways_out import ways_out
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.home_path import home_path, whole_path
from engine_bridge.settings.problem import Severity


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (that of the process by default).

    Returns:
        The exit status.
    """
    prepare_streams()
    arguments = parse_arguments(argv)
    try:
        status = _RUNS[arguments.command](arguments)
        sys.stdout.flush()
    except (DomainError, PlanningError) as error:
        tell_error(str(error), as_json=getattr(arguments, "json", False))
        return 1
    except KeyboardInterrupt:  # experiments answer it themselves, once they have begun
        print("Stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read has seen enough (`| head`); Python must not complain when it flushes.
        silence(sys.stdout)
        return 1
    except OSError as error:
        if not is_of_stream(error):
            raise
        silence(sys.stdout)
        reason = error.strerror or str(error)
        print(f"The output could not be written: {reason}. Write it elsewhere.", file=sys.stderr)
        return 1
    return status


def _values(arguments: argparse.Namespace) -> dict[str, object]:
    values = parse_assignments(arguments.set)
    path = whole_path(arguments.model) if arguments.model else ""
    if path:
        values["model_path"] = path
    return profile_values(getattr(arguments, "profile", None), path) | values


def _config(arguments: argparse.Namespace) -> EngineConfig:
    return EngineConfig.from_values(_values(arguments))


def _run_window(arguments: argparse.Namespace) -> int:
    # A wrong word is refused before a library of Qt is missed.
    values, profile_id = parse_assignments(arguments.set), ""
    path = whole_path(arguments.model) if arguments.model else ""
    if arguments.profile is not None:
        profile_id, named = profile_for_window(arguments.profile, path or _last_model())
        values = named | values
    if path:
        values["model_path"] = path
    # Qt takes half a second to import; the other commands do without it.
    from app.main import run_window  # noqa: PLC0415

    return run_window(values, theme=arguments.theme, profile_id=profile_id)


def _run_tour(arguments: argparse.Namespace) -> int:
    from app.main import run_tour  # noqa: PLC0415

    try:
        width, height = (int(side) for side in arguments.size.lower().split("x"))
    except ValueError:
        print(f"--size takes width x height, e.g. 1440x900; got {arguments.size!r}.",
              file=sys.stderr)  # fmt: skip
        return 2
    return run_tour(
        arguments.out, model=arguments.model, theme=arguments.theme, size=(width, height)
    )


def _run_plan(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    answer = plan_in_throwaway_process(config)
    ways = ways_out(config, answer, plan_in_throwaway_process)
    plan = msgspec.structs.replace(answer.plan, ways=ways)
    if arguments.json:
        _print_json(
            {
                "model": answer.model,
                "requested": config.values(),
                **msgspec.structs.asdict(plan),
                "bytes": _bytes_with_caches(plan),
                "without_effect": without_effect(config, answer.model),
            }
        )
    else:
        print("\n".join(plan_lines(config, plan, answer.model)))
    return 0 if plan.fits else 1


def _run_export(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    answer = plan_in_throwaway_process(config)
    export = TARGETS[arguments.to](
        config, answer.plan.effective, answer.model, Shell(arguments.shell)
    )
    problems = answer.plan.problems
    has_error = any(problem.severity is Severity.ERROR for problem in problems)
    try:
        written = _written_files(export, arguments.out)
    except StorageError as error:
        tell_error(str(error), as_json=arguments.json)
        return 1
    if arguments.json:
        _print_json(
            {
                "target": export.target,
                "text": export.lines if arguments.lines else export.text,
                "files": export.files,
                "notes": export.notes,
                "not_carried": export.not_carried,
                "carried": export.carried,
                "problems": problems,
                "written": written,
            }
        )
    else:
        print(command_and_files(export, in_lines=arguments.lines, with_files=arguments.out is None))
        for path in written:
            print(f"written: {path}")
        for line in remarks(export, config):
            print(line, file=sys.stderr)
        for problem in problems:
            print(f"{problem.severity}: {problem.message}", file=sys.stderr)
    return 1 if has_error or not export.text else 0


def _written_files(export: Export, folder: Path | None) -> tuple[str, ...]:
    """Where the files were written; nothing is where no folder is asked for.

    Raises:
        StorageError: If they cannot be, or there are none.
    """
    if folder is None:
        return ()
    if not export.text:
        raise StorageError(f"Nothing was written. {' '.join(export.notes)}")
    if not export.files:
        raise StorageError(
            f"{export.target} is told by its command line alone, so there is no file to write: "
            "leave --out away."
        )
    return tuple(map(str, write_files(home_path(folder), export.files)))


def _run_settings(arguments: argparse.Namespace) -> int:
    if arguments.json:
        _print_json(settings_values())
    else:
        print("\n".join(settings_lines()))
    return 0


def _run_diagnostics(arguments: argparse.Namespace) -> int:
    # Asks drivers and imports what the other commands do without.
    from app.diagnostics import Situation, report_on, text_of  # noqa: PLC0415
    from app.greeting import greeting_of_new_engine  # noqa: PLC0415

    hello = greeting_of_new_engine()
    state = "not started" if hello else "no engine could be started"
    report = report_on(Situation(config=_kept_config(), hello=hello, state=state))
    if arguments.json:
        _print_json(report)
    else:
        print(text_of(report), end="")
    return 0 if hello else 1


def _kept_config() -> EngineConfig:
    """The settings that the window would start with."""
    from app.storage.folders import own_folders  # noqa: PLC0415
    from app.storage.settings_store import SettingsStore  # noqa: PLC0415
    from app.storage.settings_values import engine_settings_in  # noqa: PLC0415

    return engine_settings_in(SettingsStore(own_folders().settings).peek()).config


def _last_model() -> str:
    """The model that the window loads where none is named; empty before the first."""
    from app.storage.folders import own_folders  # noqa: PLC0415
    from app.storage.settings_store import SettingsStore  # noqa: PLC0415
    from app.storage.settings_values import values_in  # noqa: PLC0415

    values, _ = values_in(SettingsStore(own_folders().settings).peek())
    return str(values.get("last_model", ""))


def _print_json(value: object) -> None:
    write_json(value, sys.stdout)


def _bytes_with_caches(plan: MemoryPlan) -> dict[str, int]:
    """Bytes by use; ``host`` counts what prompt caches may take as well, at most."""
    uses: dict[str, int] = msgspec.structs.asdict(plan.bytes)
    return uses | {"host": plan.bytes.host + caches_bytes(plan)}


# By the command; without one the window opens.
_RUNS: Mapping[str | None, Callable[[argparse.Namespace], int]] = {
    None: _run_window,
    "plan": _run_plan,
    "export": _run_export,
    "settings": _run_settings,
    "diagnostics": _run_diagnostics,
    "tour": _run_tour,
    "bench": cli_bench.run,
    "sweep": cli_sweep.run,
    "compare": cli_compare.run,
    "history": cli_history.run,
    "quality": cli_quality.run,
    "probe": cli_probe.run,
    "users": cli_users.run,
    "tune": cli_tune.run,
    "profile": profile_command.run,
    "inspect": inspect_command.run,
    "import": cli_import.run,
    "hub": cli_hub.run,
    "drafts": cli_drafts.run,
}


if __name__ == "__main__":
    sys.exit(main())
