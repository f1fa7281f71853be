"""llama.cpp's server as one ``docker run``."""

from __future__ import annotations

from app.export.container import Board, Contained, Mount, contained, why_not_mounted
from app.export.dialect import Export, ExportedFile, exported, refused
from app.export.file_links import with_links_followed
from app.export.told import GRAMMAR_FILE, grammar_file, in_a_file, why_not_in_file, without_grammar
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

TARGET = "docker-run"
_NEEDS_QUOTES = frozenset(',"')


def export(
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell = Shell.POSIX,
) -> Export:
    """``config`` as a ``docker run`` command line."""
    config = with_links_followed(config)
    plain, grammar = config, ""
    if shell is not Shell.POSIX:  # which alone can be given a text of several lines
        plain, grammar = without_grammar(config)
    server = contained(plain, effective, facts)
    if reason := why_not_in_file(config, "a docker command") or why_not_mounted(config):
        return refused(TARGET, reason, server.answers)
    answers = dict(server.answers)
    docker, words = _docker(server), list(server.words)
    files: tuple[ExportedFile, ...] = ()
    if grammar:
        answers |= in_a_file(config)
        mounted, path, about = _place_of_grammar(server)
        docker += mounted
        words += ["--grammar-file", path]
        files = (grammar_file(grammar, about),)
    return exported(
        TARGET, (*docker, server.image, *words), server.notes, answers, shell, files=files,
        begins_line=len(docker),
    )  # fmt: skip


def _docker(server: Contained) -> list[str]:
    """The words in front of the image."""
    words = ["docker", "run", "--rm", "-p", f"127.0.0.1:{server.port}:{server.port}"]
    words += _gpu(server.board)
    if server.locks_memory:
        words += ["--ulimit", "memlock=-1"]
    for mount in server.mounts:
        words += ["--mount", _mount(mount)]
    return words


def _gpu(board: Board | None) -> list[str]:
    if board is None:
        return []
    if not board.files:
        return ["--gpus", "all"]
    return [word for file in board.files for word in ("--device", file)]


def _mount(mount: Mount) -> str:
    """A mount as a row of CSV, which is how docker reads it."""
    cells = ["type=bind", f"source={mount.source}", f"target={mount.target}"]
    cells += [] if mount.is_written else ["readonly"]
    return ",".join(map(_cell, cells))


def _cell(text: str) -> str:
    if _NEEDS_QUOTES.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _place_of_grammar(server: Contained) -> tuple[list[str], str, str]:
    """What mounts the grammar's file, its path inside, and where it belongs, a sentence."""
    folder = next((mount for mount in server.mounts if not mount.is_file), None)
    if folder is not None:
        about = f"Put it in {folder.source}, which the container sees as {folder.target}."
        return [], f"{folder.target}/{GRAMMAR_FILE}", about
    mount = Mount(f"./{GRAMMAR_FILE}", f"/{GRAMMAR_FILE}", is_file=True)
    return ["--mount", _mount(mount)], mount.target, "Put it in the folder the line runs in."
