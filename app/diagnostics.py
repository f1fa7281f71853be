"""A file that tells whoever helps what runs here: versions, hardware, settings, log.

It holds no text of a conversation and no name: the report is built from what may be told, and then
all of it goes through ``redaction`` once more. No Qt, so that the command line writes the same.
"""

from __future__ import annotations

import importlib.metadata
import locale
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import msgspec
import psutil

from app.figures import bytes_text
from app.redaction import Redactor, names_here
from app.storage.atomic_file import write_whole
from engine_bridge.hardware.identity import nvidia_driver, processor_name, system_name
from engine_bridge.hardware.machine import open_readers
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.protocol import PROTOCOL_VERSION, Applied, Hello
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_items import endpoint, lora_file
from engine_bridge.settings.table import BY_KEY
from engine_bridge.settings.text_domain import TextDomain
from widgets.board_words import sentence as board_sentence
from widgets.log_line import LogLine

_PACKAGES = (
    "tunedeck", "PySide6-Essentials", "llama-cpp-python", "numpy", "msgspec",
    "jinja2", "psutil", "nvidia-ml-py",
)  # fmt: skip
# What of the environment changes what runs; none of it holds a name.
_VARIABLES = (
    "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "QT_QPA_PLATFORM", "QT_SCALE_FACTOR",
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "OMP_NUM_THREADS",
)  # fmt: skip
_LOG_LINES = 2000


@dataclass(frozen=True)
class Situation:
    """What is known of a desk at one moment.

    Attributes:
        config: Settings wanted.
        applied: What the engine runs; None without a model.
        plan: The newest plan; None without one.
        hello: How the engine introduced itself; None if it never did.
        state: What the engine is doing, in a word.
        last_death: Why it died last; empty if it never did.
        log: The log, oldest line first.
        notes: What else may be told, by name.
        conversations: Texts of conversations, only to be recognised and left out.
    """

    config: EngineConfig = field(default_factory=EngineConfig)
    applied: Applied | None = None
    plan: MemoryPlan | None = None
    hello: Hello | None = None
    state: str = "not started"
    last_death: str = ""
    log: Sequence[LogLine] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    conversations: Sequence[str] = ()


def report_on(situation: Situation, redactor: Redactor | None = None) -> dict[str, object]:
    """The whole report as nested mappings and lists of plain values.

    Asks the system and the drivers, which can take seconds: never call it on the GUI thread.

    Args:
        situation: The desk.
        redactor: What takes the names out; by default that of this machine and this desk.
    """
    if redactor is None:
        configs = [situation.config]
        if situation.applied is not None:
            configs.append(situation.applied.config)
        paths = [path for config in configs for path in _paths_in(config)]
        hosts = [host for config in configs for host in _hosts_in(config)]
        redactor = Redactor(names_here(paths, hosts), situation.conversations)
    plain = {
        "made": datetime.now().astimezone().isoformat(timespec="seconds"),
        "versions": _versions(situation.hello),
        "system": _system(),
        "hardware": _hardware(situation.hello),
        "engine": {"state": situation.state},
        "settings": _settings(situation.config),
        "effective": _effective(situation.applied),
        "memory": _memory(situation),
        "notes": dict(situation.notes),
    }
    report = redactor.value(plain)
    if not isinstance(report, dict):
        raise TypeError("A redacted mapping is a mapping.")
    report["engine"]["last_death"] = redactor.line(situation.last_death)
    report["log"] = [
        # The line is looked at as a whole: what was quoted may go over its parts.
        f"{line.time_text()} {line.level:<7} {redactor.text(line.source)}: "
        + redactor.line(line.text)
        for line in situation.log[-_LOG_LINES:]
    ]
    return report


def text_of(report: Mapping[str, object]) -> str:
    """The report for people: a heading for each part, a line for each value."""
    lines = [
        "TuneDeck diagnostics",
        "Without names, folders, access tokens and any text of a conversation. Read it before you "
        "give it away.",
    ]
    for name, part in report.items():
        lines += ["", f"== {name} =="]
        lines += _lines_of(part)
    return "\n".join(lines) + "\n"


def save(situation: Situation, path: Path) -> None:
    """Write the report on ``situation`` to ``path``: as JSON where its name says so, else as text.

    Raises:
        StorageError: If it could not be written.
    """
    report = report_on(situation)
    is_json = path.suffix.lower() == ".json"
    content = (
        msgspec.json.format(msgspec.json.encode(report)) if is_json else text_of(report).encode()
    )
    write_whole(path, content, "The diagnostics could not be saved")


# --- The parts ----------------------------------------------------------------------------------


def _versions(hello: Hello | None) -> dict[str, str]:
    versions = {name: _version(name) for name in _PACKAGES}
    versions["Python"] = f"{platform.python_implementation()} {platform.python_version()}"
    versions["protocol"] = str(PROTOCOL_VERSION)
    if hello is not None:
        versions["llama-cpp-python in the engine"] = hello.binding_version
        versions["llama.cpp build"] = hello.system_info
    return versions


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _system() -> dict[str, object]:
    return {
        "name": system_name(),
        "architecture": platform.machine(),
        "locale": ".".join(filter(None, locale.getlocale())),
        "encoding": sys.getfilesystemencoding(),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }


def _hardware(hello: Hello | None) -> dict[str, object]:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    found: dict[str, object] = {
        "processor": processor_name(),
        "cores": f"{psutil.cpu_count(logical=False)} cores, {psutil.cpu_count()} threads",
        "memory": f"{bytes_text(memory.total)}, {bytes_text(memory.available)} available",
        "swap": f"{bytes_text(swap.total)}, {bytes_text(swap.used)} used",
        "boards": _boards(),
        "NVIDIA driver": nvidia_driver(),
    }
    if hello is not None:
        found["devices of ggml"] = [
            f"{d.name} ({d.kind}, {d.backend}): {d.description}, {bytes_text(d.free)} of "
            f"{bytes_text(d.total)} free"
            for d in hello.devices
        ]
    return found


def _boards() -> list[str]:
    told = []
    for reader in open_readers():
        try:
            memories = reader.read()
        finally:
            reader.close()
        told += [board_sentence(board) for board in reader.activity] or [
            f"{memory.name}: {bytes_text(memory.used_bytes)} of {bytes_text(memory.total_bytes)} "
            f"used"
            for memory in memories
        ]
        # Of boards the sentence stands with them.
        told += [reader.problem] if reader.problem and not reader.activity else []
    return told


def _settings(config: EngineConfig) -> dict[str, object]:
    changed = config.changed_from(EngineConfig())
    return {
        "changed": {key: _told(key, getattr(config, key)) for key in changed},
        "all": {key: _told(key, value) for key, value in config.values().items()},
    }


def _paths_in(config: EngineConfig) -> list[str]:
    """Files that settings name."""
    named = [
        value
        for key, value in config.values().items()
        if key.endswith("_path") and isinstance(value, str)
    ]
    return [*named, *(lora_file(item).path for item in config.lora)]


def _hosts_in(config: EngineConfig) -> list[str]:
    """Other machines that settings name."""
    workers = [endpoint(item) for item in config.rpc_servers]
    return [worker.host for worker in workers if not worker.is_loopback]


def _told(key: str, value: object) -> object:
    """A setting as it may be told: of a file its name, of a text that somebody wrote its length."""
    if isinstance(value, str) and isinstance(BY_KEY[key].domain, TextDomain) and value:
        return f"a text of {len(value):,} characters"
    if key.endswith("_path") and isinstance(value, str):
        return value.replace("\\", "/").rpartition("/")[2]
    if isinstance(value, tuple):
        # An empty list has a word of its own: no device named is every device.
        return list(value) or BY_KEY[key].domain.format(value)
    return value


def _effective(applied: Applied | None) -> object:
    if applied is None:
        return "no model is loaded"
    facts = msgspec.to_builtins(applied.model)
    if isinstance(facts, dict):
        facts["path"] = _told("model_path", str(facts.get("path", "")))
    return {
        "asked for": {
            key: _told(key, getattr(applied.config, key))
            for key in applied.config.changed_from(EngineConfig())
        },
        "made of it": msgspec.to_builtins(applied.effective),
        "cost": f"{applied.cost}, {applied.seconds:.2f} s",
        "model": facts,
    }


def _memory(situation: Situation) -> dict[str, object]:
    told: dict[str, object] = {}
    if situation.applied is not None:
        told["allocated"] = _plan(situation.applied.memory)
    if situation.plan is not None:
        told["planned"] = _plan(situation.plan)
    return told or {"plan": "none"}


def _plan(plan: MemoryPlan) -> object:
    return {
        "bytes": msgspec.to_builtins(plan.bytes),
        "devices": [msgspec.to_builtins(device) for device in plan.devices],
        "fits": plan.fits,
        "problems": [f"{problem.severity}: {problem.message}" for problem in plan.problems],
    }


# --- As text ------------------------------------------------------------------------------------


def _lines_of(part: object, indent: str = "") -> list[str]:
    if isinstance(part, dict):
        lines = []
        for key, value in part.items():
            if isinstance(value, dict | list) and value:
                lines += [f"{indent}{key}:", *_lines_of(value, indent + "  ")]
            else:
                lines.append(f"{indent}{key}: {_plain(value)}")
        return lines or [f"{indent}none"]
    if isinstance(part, list):
        return [line for item in part for line in _lines_of(item, indent)] or [f"{indent}none"]
    return [f"{indent}{_plain(part)}"]


def _plain(value: object) -> str:
    if value in ((), [], {}, "", None):
        return "none"
    return f"{value:,}" if type(value) is int else str(value)
