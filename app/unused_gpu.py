"""A GPU that is there while llama.cpp was built without it: said at start, with the line to run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.background import Task
from app.desk import Desk
from engine_bridge.hardware.board_here import BoardHere, board_here
from engine_bridge.protocol import Hello
from widgets.status_banner import StatusBanner

_COPY, _ENOUGH = "copy_gpu_line", "gpu_line_known"
_CHECKOUT = Path(__file__).resolve().parents[1]
_OPTIONS = {"cuda": "GGML_CUDA", "rocm": "GGML_HIP", "metal": "GGML_METAL"}


class BoardsTold(Protocol):
    """Where it is kept which boards the user has heard enough of."""

    boards_told: list[str]


def line_to_build(board: BoardHere, binding_version: str, checkout: Path = _CHECKOUT) -> str:
    """The line that builds the engine for ``board``; it names what its toolchain lacks.

    Args:
        board: The GPU.
        binding_version: Of llama-cpp-python.
        checkout: Where this program lies; with its set-up beside it, that does the work.
    """
    if (checkout / "bootstrap" / "__main__.py").is_file():
        if sys.platform == "win32":
            return f"py -m bootstrap --gpu {board.backend} run"
        return f"make run GPU={board.backend}"
    options = f"-DGGML_RPC=ON -D{_OPTIONS[board.backend]}=ON"
    return (
        f'CMAKE_ARGS="{options}" {sys.executable} -m pip install --force-reinstall --no-cache-dir '
        f"--no-deps --no-binary llama-cpp-python llama-cpp-python=={binding_version}"
    )


class UnusedGpu(QObject):
    """Looks for a GPU once the engine has said which devices it sees."""

    def __init__(
        self,
        desk: Desk,
        banner: StatusBanner,
        parent: QObject,
        told: BoardsTold | None = None,
        find: Callable[[], BoardHere | None] = board_here,
    ) -> None:
        """Wait for the engine.

        Args:
            desk: Its engine.
            banner: Where it is said, unless something else stands there.
            parent: Owner.
            told: What was heard enough of; None remembers nothing.
            find: Looks for a GPU; called in a thread.
        """
        super().__init__(parent)
        self._desk, self._banner, self._told, self._find = desk, banner, told, find
        self._line = ""
        self._board: BoardHere | None = None
        self._looking: Task | None = None
        desk.engine_said_hello.connect(self._on_engine_said_hello)
        # A load clears the banner; what was not answered stands there again afterwards.
        desk.session.applied_changed.connect(self._say)
        banner.dismissed.connect(self._on_dismissed)
        banner.action_requested.connect(self._on_action_requested)

    def _on_engine_said_hello(self, _: Hello) -> None:
        if self._looking is not None or self._desk.has_gpu:
            return
        find = self._find
        self._looking = Task(lambda _: find(), self)
        self._looking.succeeded.connect(self._on_looked)
        self._looking.start()

    def _on_looked(self, board: BoardHere | None) -> None:
        if board is None or (self._told is not None and board.name in self._told.boards_told):
            return
        self._board = board
        self._say()

    def _say(self) -> None:
        """Show it, unless something else is shown or a GPU is used."""
        hello, board = self._desk.hello, self._board
        if board is None or hello is None or self._desk.has_gpu or self._banner.sentence():
            return
        self._line = line_to_build(board, hello.binding_version)
        self._banner.show_problem(
            f"{board.name} is here, but this build of llama.cpp cannot use it, so everything runs "
            f"on the processor. To build it with {board.title}, quit and run: {self._line}",
            "",
            [(_COPY, "Copy the line"), (_ENOUGH, "Stay on the processor")],
        )

    def _on_dismissed(self) -> None:
        """A person closed the banner: once this stood in it, that is heard enough for today."""
        if self._line:
            self._board = None

    def _on_action_requested(self, action: str) -> None:
        board = self._board
        if board is None or action not in (_COPY, _ENOUGH):
            return
        if action == _COPY:
            QGuiApplication.clipboard().setText(self._line)
        elif self._told is not None:
            self._told.boards_told = [*self._told.boards_told, board.name]
        self._board = None
