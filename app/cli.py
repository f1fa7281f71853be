"""The command line: ``tunedeck`` opens the window; its sub-commands answer without one.

Prints for a person, or one JSON object with ``--json``. Exit status: 0 done, 1 a problem with what
was asked (said in a sentence), 2 a wrong command line.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.export.targets import TARGETS
from app.figures import bytes_text
from app.planning import PlanningError, plan_in_throwaway_process
from app.quoting import Shell, own_shell
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.config import EngineConfig, parse_assignments
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import BY_KEY, SETTINGS


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (that of the process by default).

    Returns:
        The exit status.
    """
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except (DomainError, PlanningError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read has seen enough (`| head`); Python must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tunedeck",
        description="A mixing desk for a local model. Without a command, the window opens.",
    )
    parser.set_defaults(run=_run_window, model=None, set=[], theme=None)
    _add_window_options(parser)
    commands = parser.add_subparsers(metavar="COMMAND")

    plan = commands.add_parser("plan", help="memory that a model would take with some settings")
    plan.set_defaults(run=_run_plan)
    _add_model_options(plan)
    plan.add_argument("--json", action="store_true", help="print one JSON object")

    export = commands.add_parser("export", help="the settings as another engine's command line")
    export.set_defaults(run=_run_export)
    _add_model_options(export)
    export.add_argument("--to", choices=tuple(TARGETS), default="llama-server")
    export.add_argument(
        "--shell",
        choices=tuple(str(shell) for shell in Shell),
        default=str(own_shell()),
        help="who will read the line (%(default)s by default)",
    )
    export.add_argument("--lines", action="store_true", help="a line for each flag")
    export.add_argument("--json", action="store_true", help="print one JSON object")

    settings = commands.add_parser("settings", help="list what can be set")
    settings.set_defaults(run=_run_settings)

    diagnostics = commands.add_parser(
        "diagnostics", help="versions, hardware and settings for whoever helps; no names, no chats"
    )
    diagnostics.set_defaults(run=_run_diagnostics)
    diagnostics.add_argument("--json", action="store_true", help="print one JSON object")

    tour = commands.add_parser("tour", help="drive a scripted session and save its pictures")
    tour.set_defaults(run=_run_tour)
    tour.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    tour.add_argument("--model", help="GGUF file (the demo model by default)")
    tour.add_argument("--theme", choices=("dark", "light"), default="dark")
    tour.add_argument("--size", default="1440x900", help="width x height of the window")
    return parser


def _add_window_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", help="GGUF file to load at the start")
    parser.add_argument(
        "--theme",
        choices=("dark", "light"),
        help="pin the colours; the system's are followed otherwise",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )


def _add_model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="GGUF file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable"
    )


def _values(arguments: argparse.Namespace) -> dict[str, object]:
    values = parse_assignments(arguments.set)
    if arguments.model:
        values["model_path"] = str(Path(arguments.model).expanduser().absolute())
    return values


def _config(arguments: argparse.Namespace) -> EngineConfig:
    return EngineConfig.from_values(_values(arguments))


def _run_window(arguments: argparse.Namespace) -> int:
    # Qt takes half a second to import; the other commands do without it.
    from app.main import run_window  # noqa: PLC0415

    return run_window(_values(arguments), theme=arguments.theme)


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
    if arguments.json:
        _print_json(
            {
                "model": answer.model,
                "requested": config.values(),
                **msgspec.structs.asdict(answer.plan),
                "bytes": _bytes_with_caches(answer.plan),
            }
        )
    else:
        print("\n".join(_plan_lines(answer.plan)))
    return 0 if answer.plan.fits else 1


def _run_export(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    answer = plan_in_throwaway_process(config)
    export = TARGETS[arguments.to](
        config, answer.plan.effective, answer.model, Shell(arguments.shell)
    )
    text = export.lines if arguments.lines else export.text
    if arguments.json:
        _print_json(
            {
                "target": export.target,
                "text": text,
                "notes": export.notes,
                "not_carried": export.not_carried,
            }
        )
    else:
        print(text)
        for note in export.notes:
            print(f"note: {note}", file=sys.stderr)
        for key, reason in export.not_carried.items():
            print(f"not carried: {key}: {reason}", file=sys.stderr)
    errors = errors_of(config, answer.model)
    for problem in answer.plan.problems:
        print(f"{problem.severity}: {problem.message}", file=sys.stderr)
    return 1 if errors or not text else 0


def _run_settings(_: argparse.Namespace) -> int:
    for setting in SETTINGS:
        default = setting.domain.format(setting.default)
        print(f"{setting.key} = {default}  ({setting.domain.describe()}; {setting.applies})")
        print(f"    {setting.help}")
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


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def _bytes_with_caches(plan: MemoryPlan) -> dict[str, int]:
    """Bytes by use; ``host`` counts what prompt caches may take as well, at most."""
    uses: dict[str, int] = msgspec.structs.asdict(plan.bytes)
    return uses | {"host": plan.bytes.host + plan.host_caches}


def _plan_lines(plan: MemoryPlan) -> list[str]:
    rows = [
        (name, getattr(plan.bytes, name))
        for name in ("weights", "weights_mapped", "kv", "recurrent", "compute", "output", "draft")
    ]
    lines = [f"{name.replace('_', ' '):<16}{bytes_text(size):>12}" for name, size in rows if size]
    lines.append(f"{'total':<16}{bytes_text(plan.bytes.total):>12}")
    if plan.host_caches:
        lines.append(f"prompt caches may take up to {bytes_text(plan.host_caches)} of free RAM")
    for device in plan.devices:
        need = device.needed
        free = f", {bytes_text(device.free)} free" if device.free >= 0 else ""
        lines.append(f"{device.name}: {bytes_text(need)} needed{free}")
    if plan.effective is not None:
        e = plan.effective
        lines.append(
            f"{e.slots} slots, {e.ctx_per_slot_tok:,} tokens each, pool {e.ctx_total_tok:,}, "
            f"flash attention {e.flash_attn}"
        )
        lines += [e.placement] if e.placement else []
    problems = [f"{problem.severity}: {problem.message}" for problem in plan.problems]
    fixes = plan.ways or tuple(problem.fix for problem in plan.problems if problem.fix)
    problems += [f"would do: {_assignments(fix)}" for fix in fixes]
    if plan.effective is None:
        return [*problems, "cannot run"]
    return [*lines, *problems, "fits" if plan.fits else "does not fit"]


def _assignments(values: dict[str, Value]) -> str:
    """Values as ``--set`` takes them."""
    words = [f"{key}={BY_KEY[key].domain.format(value)}" for key, value in values.items()]
    return " ".join(f"--set {word}" for word in words)


if __name__ == "__main__":
    sys.exit(main())
