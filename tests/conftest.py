"""What every test stands on: a desk of its own, no display, and nothing left behind."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import shiboken6
from hypothesis import HealthCheck, settings
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication

from tests import models
from tests.tiny_model import CHATML, TinyLlama, write_tiny_llama, write_tiny_mamba

# A thread or process that was told to end gets this long to do it.
_FAREWELL_S = 5.0
_XDG = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
# A loaded machine is slow, not wrong; the same submission gets the same examples in CI.
settings.register_profile(
    "tunedeck",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tunedeck")
_home = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Redirect settings and caches before anything reads them; models are linked, not copied."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # Who is started in the background by a shell has these ignored, and so would our children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.environ["HF_HUB_OFFLINE"] = "1"  # no test downloads 400 MB because a network is there
    with contextlib.suppress(models.ModelMissingError):  # told by the tests that need it
        models.find_gemma()
    home = Path(tempfile.mkdtemp(prefix="tunedeck-tests-"))
    config.stash[_home] = home
    for name in _XDG:
        os.environ[name] = str(home / name.lower())
    cache = home / "xdg_cache_home" / "tunedeck"
    cache.mkdir(parents=True)
    for model in models.CACHE.glob("*.gguf"):
        (cache / model.name).symlink_to(model)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported out of every later look at all objects: half a million of them."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the redirected folders."""
    shutil.rmtree(config.stash[_home], ignore_errors=True)


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny base model: llama, F32, 8.8 million parameters, no chat template."""
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny_chat_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a ChatML template."""
    shape = TinyLlama(chat_template=CHATML)
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny-chat.gguf", shape)


@pytest.fixture(scope="session")
def tiny_moe_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny mixture of experts: 8 experts a layer, 2 used."""
    shape = TinyLlama(experts=8, experts_used=2)
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny-moe.gguf", shape)


@pytest.fixture(scope="session")
def tiny_mamba_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny recurrent model."""
    return write_tiny_mamba(tmp_path_factory.mktemp("models") / "tiny-mamba.gguf")


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, child process, active timer or window behind."""
    # The census of Qt looks at every Python object: too dear for tests that ask for no application.
    uses_qt = "qapp" in request.fixturenames
    threads, children = set(threading.enumerate()), set(_children())
    qt_before = _qt_objects() if uses_qt else {}
    if uses_qt:
        gc.disable()  # as in the program: a worker must not collect widgets (app/garbage.py)
    yield
    new_threads = [thread for thread in threading.enumerate() if thread not in threads]
    for thread in new_threads:
        thread.join(_FAREWELL_S)
    new_children = set(_children()) - children
    _, alive = psutil.wait_procs(new_children, timeout=_FAREWELL_S)
    left = [f"thread {thread.name}" for thread in new_threads if thread.is_alive()]
    left += [f"child process {' '.join(_command(child))}" for child in alive]
    if uses_qt:
        left += [text for key, text in _qt_objects(qt_before).items() if key not in qt_before]
        gc.collect()
        gc.enable()
    for child in alive:
        child.kill()
    if left:
        pytest.fail("left behind: " + "; ".join(left), pytrace=False)


def _children() -> list[psutil.Process]:
    """Processes below this one; Linux tells quickly where there are none, as nearly always."""
    told = list(Path("/proc/self/task").glob("*/children"))
    try:
        if told and not any(path.read_bytes() for path in told):
            return []
    except OSError:  # a thread that has just ended
        pass
    return psutil.Process().children(recursive=True)


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return [str(process.pid)]


def _qt_objects(before: dict[int, str] | None = None) -> dict[int, str]:
    """Top-level widgets and active timers; given those of before, new ones get a collection."""
    if QApplication.instance() is None:
        return {}
    found = _qt_census()
    if before is not None and not found.keys() <= before.keys():
        gc.collect()
        found = _qt_census()
    return found


def _qt_census() -> dict[int, str]:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    found = {
        shiboken6.getCppPointer(widget)[0]: f"widget {type(widget).__name__} {widget.objectName()}"
        for widget in QApplication.topLevelWidgets()
    }
    timers = [thing for thing in gc.get_objects() if isinstance(thing, QTimer)]
    for timer in timers:
        if shiboken6.isValid(timer) and timer.isActive():
            found[shiboken6.getCppPointer(timer)[0]] = f"active timer of {timer.parent()!r}"
    return found
