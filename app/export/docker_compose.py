"""llama.cpp's server as a service of Docker Compose.

Compose puts variables in for ``$NAME`` and ``${NAME}`` in every value; ``$$`` is a dollar sign.
"""

from __future__ import annotations

from app.export.container import Board, Contained, Mount, contained, why_not_mounted
from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.file_links import with_links_followed
from app.export.told import why_not_in_file
from app.export.yaml_text import yaml_text
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "docker-compose"
FILE = "compose.yaml"
SERVICE = "llama-server"


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a compose file, and the line that starts it."""
    config = with_links_followed(config)
    server = contained(config, effective, facts)
    if reason := why_not_in_file(config, "a compose file") or why_not_mounted(config):
        return refused(TARGET, reason, server.answers)
    text = yaml_text({"services": {SERVICE: _service(server)}})
    file = ExportedFile(FILE, text, "Put it in a folder of its own and run the command there.")
    return exported(
        TARGET, ("docker", "compose", "up", "-d"), server.notes, server.answers, shell,
        files=(file,),
    )  # fmt: skip


def _service(server: Contained) -> dict[str, object]:
    service: dict[str, object] = {"image": server.image}
    service["ports"] = [f"127.0.0.1:{server.port}:{server.port}"]
    if server.mounts:
        service["volumes"] = [_volume(mount) for mount in server.mounts]
    service["command"] = [_literal(word) for word in server.words]
    if server.locks_memory:
        service["ulimits"] = {"memlock": -1}
    service |= _gpu(server.board)
    service["restart"] = "unless-stopped"
    return service


def _volume(mount: Mount) -> dict[str, object]:
    volume: dict[str, object] = {
        "type": "bind", "source": _literal(mount.source), "target": _literal(mount.target),
    }  # fmt: skip
    return volume if mount.is_written else volume | {"read_only": True}


def _gpu(board: Board | None) -> dict[str, object]:
    if board is None:
        return {}
    if board.files:
        return {"devices": [f"{file}:{file}" for file in board.files]}
    device = {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    return {"deploy": {"resources": {"reservations": {"devices": [device]}}}}


def _literal(text: str) -> str:
    """``text`` without a variable for compose to put in."""
    return text.replace("$", "$$")
