"""llama.cpp's server in a container: which image, which folders it sees, under which names.

The images are those that llama.cpp publishes (``.devops/`` of its tree): they listen at 0.0.0.0
inside, have ``llama-server`` as their entry point, and are built without RPC. Opens no file; which
folders are links it looks up, as nothing is found inside by a link that leads elsewhere.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import msgspec

from app.export import llama_answers
from app.export.carried import Carried, Manner, not_carried, translated
from app.export.file_links import repository_of, stands_below
from app.export.llama_flag import Situation, situation_of
from app.export.told import (
    PROGRAM,
    is_flag,
    paths_in,
    port_in,
    told_in,
    with_paths,
    without_flags,
)
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.extra_flag import flag_words
from engine_bridge.settings.table import BY_KEY

IMAGE = "ghcr.io/ggml-org/llama.cpp"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
# Where a folder appears inside, by the first setting that needs it.
_FOLDERS = {
    "model_path": "models",
    "draft_model_path": "draft",
    "mmproj_path": "mmproj",
    "lora": "lora",
    "lookup_cache_static_path": "lookup",
    "lookup_cache_dynamic_path": "lookup-written",
}
# The program writes this one.
_WRITTEN = "lookup_cache_dynamic_path"
# Flags beside the settings that name a file or a folder.
_WITH_PATHS = (
    "--chat-template-file", "--grammar-file", "--json-schema-file", "--slot-save-path",
    "--media-path", "--log-file", "--api-key-file", "--ssl-key-file", "--ssl-cert-file", "--path",
    "--control-vector", "--control-vector-scaled", "--lora", "--lora-scaled", "--mmproj", "--model",
    "--model-draft", "--spec-draft-model", "--models-dir", "--models-preset",
)  # fmt: skip


@dataclass(frozen=True)
class Board:
    """How a kind of GPU reaches a container.

    Attributes:
        image: Tag of the image that drives it.
        files: Device files that the container needs; empty where the runtime hands it over.
        maker: Whose GPUs these are, for sentences.
    """

    image: str
    files: tuple[str, ...]
    maker: str


NVIDIA = Board("server-cuda", (), "NVIDIA")
# By the beginning of the names that ggml gives to devices.
_BOARDS = {
    "CUDA": NVIDIA,
    "ROCm": Board("server-rocm", ("/dev/kfd", "/dev/dri"), "AMD"),
    "SYCL": Board("server-intel", ("/dev/dri",), "Intel"),
    "Vulkan": Board("server-vulkan", ("/dev/dri",), "Vulkan"),
}


@dataclass(frozen=True)
class Mount:
    """A folder that the container sees, or a single file.

    Attributes:
        source: The folder on this machine.
        target: Its path inside.
        is_written: Whether the program writes there.
        is_file: Whether it is a file and no folder.
    """

    source: str
    target: str
    is_written: bool = False
    is_file: bool = False


@dataclass(frozen=True)
class Contained:
    """What the server is told inside a container, and what the container needs.

    Attributes:
        words: Flags of the server, with paths as the container sees them.
        image: The image with its tag.
        board: The kind of GPU; None for the processor alone.
        mounts: Folders that it sees.
        port: Where the server listens inside, and outside on the loopback address.
        locks_memory: Whether it holds the model in RAM, for which a container needs a permission.
        notes: What the user should know before running it.
        answers: What becomes of each setting.
    """

    words: tuple[str, ...]
    image: str
    board: Board | None
    mounts: tuple[Mount, ...]
    port: int
    locks_memory: bool
    notes: tuple[str, ...]
    answers: dict[str, Carried]


def contained(
    config: EngineConfig, effective: EffectiveConfig | None, facts: ModelFacts | None
) -> Contained:
    """``config`` as the server is told it inside a container."""
    folders = _Folders()
    inside = without_flags(with_paths(config, folders.path_inside), "--host")
    outer = situation_of(config, effective, facts, PROGRAM)
    inner = situation_of(inside, effective, facts, PROGRAM)
    missing = _without_workers(config) | _without_host(config)
    changes = {key: BY_KEY[key].default for key in missing if key != "extra_flags"}
    inner = dataclasses.replace(inner, config=msgspec.structs.replace(inner.config, **changes))
    server = told_in(inner)
    board = _board(outer)
    mounts = tuple(folders.mounts)
    return Contained(
        server.words,
        f"{IMAGE}:{board.image if board else 'server'}",
        board,
        mounts,
        port_in(config),
        "mlock" in config.load_mode,
        (*_notes(config, mounts, board), *server.notes),
        _answers(outer) | missing,
    )


def _answers(s: Situation) -> dict[str, Carried]:
    answers = llama_answers.answers(s)
    for key in _FOLDERS:
        if answers[key].manner is Manner.SAID:
            answers[key] = translated(f"{answers[key].how} with the path inside the container.")
    return answers


def _without_workers(config: EngineConfig) -> dict[str, Carried]:
    """The answers for workers and for what names their devices."""
    reason = "llama.cpp's images are built without RPC, and the program in them refuses --rpc."
    missing = {"rpc_servers": not_carried(reason)}
    if any(device.startswith("RPC") for device in config.devices):
        missing["devices"] = not_carried(f"It names a worker. {reason}")
        missing["tensor_split"] = not_carried(f"It counts a worker. {reason}")
    return missing


def _without_host(config: EngineConfig) -> dict[str, Carried]:
    """The answer where a flag beside the settings says at which address to listen."""
    said = [item for item in config.extra_flags if is_flag(item, "--host")]
    if not said:
        return {}
    return {
        "extra_flags": not_carried(
            f"{said[-1]} is left out: inside a container the server has to listen at every "
            "address, and which one it is reached by is said where its port is published."
        )
    }


def _board(s: Situation) -> Board | None:
    """The kind of GPU that the layers lie on; NVIDIA's where nothing says which."""
    made = s.effective.n_gpu_layers if s.effective is not None else None
    if made == 0 or (s.config.n_gpu_layers == 0 and not made):
        return None
    for device in s.config.devices:
        for start, board in _BOARDS.items():
            if device.startswith(start):
                return board
    return None if s.config.devices else NVIDIA


def _notes(config: EngineConfig, mounts: tuple[Mount, ...], board: Board | None) -> tuple[str, ...]:
    notes = [_mount_note(mount) for mount in mounts]
    if board is NVIDIA:
        notes.append("The image is for NVIDIA GPUs, whose container toolkit this machine needs.")
        if not config.devices:
            notes.append(
                "For AMD take server-rocm with the devices /dev/kfd and /dev/dri, for Intel "
                "server-intel and for others server-vulkan with /dev/dri."
            )
    elif board is not None:
        notes.append(f"The image is for {board.maker} GPUs and gets {' and '.join(board.files)}.")
    else:
        notes.append("No layer is on a GPU, so the image is the one for processors.")
    named = [flag_words(item)[0] for item in config.extra_flags if is_flag(item, *_WITH_PATHS)]
    if named:
        notes.append(
            f"{', '.join(dict.fromkeys(named))} names a path that only this machine has: mount it, "
            "and write the path inside."
        )
    return tuple(notes)


def _mount_note(mount: Mount) -> str:
    manner = "and may write there" if mount.is_written else "and can only read it"
    kind = "file" if mount.is_file else "folder"
    return f"The container sees the {kind} {mount.source} as {mount.target}, {manner}."


# --- Folders -------------------------------------------------------------------------------------


@dataclass
class _Folders:
    """The folders that are mounted so far."""

    mounts: list[Mount] = field(default_factory=list)

    def path_inside(self, key: str, path: str) -> str:
        """The path of a file inside; its folder is mounted if it is not yet."""
        file = _pure(path)
        folder = _folder_of(file)
        is_written = key == _WRITTEN
        for mount in self.mounts:
            if mount.is_written == is_written and stands_below(file, _pure(mount.source)):
                return _joined(mount.target, file.relative_to(_pure(mount.source)))
        target = self._free_target(_FOLDERS[key])
        if folder == folder.parent and folder.is_absolute():
            # Not all of the machine: the file alone.
            target = _joined(target, PurePosixPath(file.name))
            self.mounts.append(Mount(str(file), target, is_written, is_file=True))
            return target
        self.mounts.append(Mount(_source(folder), target, is_written))
        return _joined(target, file.relative_to(folder))

    def _free_target(self, name: str) -> str:
        taken = {mount.target for mount in self.mounts}
        names = (f"/{name}{number or ''}" for number in (0, *range(2, len(taken) + 3)))
        return next(target for target in names if target not in taken)


def _pure(path: str) -> PurePath:
    return PureWindowsPath(path) if _WINDOWS.match(path) else PurePosixPath(path)


def _folder_of(file: PurePath) -> PurePath:
    """The folder to mount: of a file in the hub's cache, that of its repository.

    There the file is a link into another folder of the repository.
    """
    return repository_of(file) or file.parent


def _source(folder: PurePath) -> str:
    """The folder as docker takes it: from the root on, or with a dot in front."""
    text = str(folder)
    return text if folder.is_absolute() or text == "." else f"./{text}"


def _joined(target: str, inside: PurePath) -> str:
    return str(PurePosixPath(target, *inside.parts))


def why_not_mounted(config: EngineConfig) -> str:
    """Why a folder cannot be mounted; else empty."""
    for key, paths in paths_in(config).items():
        for path in paths:
            if path.startswith("~"):
                return (
                    f"{BY_KEY[key].label}: the path {path} begins with ~, which docker does not "
                    "read: write the whole path."
                )
            if ".." in _pure(path).parts:
                return (
                    f"{BY_KEY[key].label}: the path {path} holds .., which leads elsewhere inside "
                    "a container: write the whole path."
                )
    return ""
