"""The kernel's files about GPUs (Linux): which cards there are, what a file says, or why not.

Nothing here is one maker's; ``amd`` and ``intel`` know which files theirs have.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_AnswerT = TypeVar("_AnswerT")

UNTRIED = "not tried on real hardware"
"""Said of every board whose reader was only ever run on recorded files."""

_WHY = {
    errno.ENOENT: "this board, or its driver, has no file for it",
    errno.ENODEV: "the board is gone or asleep",
    errno.EACCES: "this user has no permission to read it",
    errno.EPERM: "the driver does not let it be read at the moment",
}
_NOT_NOW = "it has no reading at the moment"
# No counter of the kernel is longer; what is would break the sums that follow.
_MOST = 1 << 64
_NO_NUMBER = "what the file for it says is no number"
ASLEEP = "the board is asleep, and asking would wake it"
"""Why a board that its driver switched off is asked for nothing but its memory."""


@dataclass(frozen=True)
class Card:
    """A GPU as the kernel lists it.

    Attributes:
        folder: ``/sys/class/drm/card1``.
        slot: Where it sits on the PCI bus, ``0000:03:00.0``.
        driver: ``amdgpu``, ``i915`` or ``xe``.
        device_id: Of its maker, four hex digits.
        revision: Two hex digits; empty where the kernel does not tell.
    """

    folder: Path
    slot: str
    driver: str
    device_id: str
    revision: str

    @property
    def device(self) -> Path:
        """Where most of its files lie."""
        return self.folder / "device"

    @property
    def is_asleep(self) -> bool:
        """Whether its driver switched it off (a laptop's second GPU); asking wakes nothing."""
        try:
            return text_in(self.device / "power" / "runtime_status") == "suspended"
        except OSError:
            return False


def cards(root: Path, drivers: Collection[str]) -> tuple[Card, ...]:
    """The cards below ``root`` that one of ``drivers`` drives, in the kernel's order."""
    found = []
    folders = (f for f in (root / "sys/class/drm").glob("card*") if f.name[4:].isdecimal())
    # Connectors, as card1-DP-1, stand beside the cards.
    for folder in sorted(folders, key=lambda folder: int(folder.name[4:])):
        try:
            words = _words_of(folder / "device" / "uevent")
        except OSError:
            continue  # a card that is no PCI device
        driver = words.get("DRIVER", "")
        if driver not in drivers:
            continue
        device_id = words.get("PCI_ID", "").partition(":")[2].lower()
        revision = _revision(folder / "device" / "revision")
        found.append(Card(folder, words.get("PCI_SLOT_NAME", ""), driver, device_id, revision))
    return tuple(found)


def text_in(path: Path) -> str:
    """What stands in a small file, without the space around it.

    Raises:
        OSError: If it is not there or does not answer.
    """
    return path.read_text(encoding="utf-8", errors="replace").strip()


def number_in(path: Path) -> int:
    """The whole number that stands in a file.

    Raises:
        OSError: If it is not there or does not answer.
        ValueError: If something else stands in it.
    """
    number = int(text_in(path))
    if abs(number) >= _MOST:
        raise ValueError("too large for a counter")
    return number


def size_in(path: Path) -> int:
    """The bytes that stand in a file.

    Raises:
        OSError: If it is not there or does not answer.
        ValueError: If something else stands in it.
    """
    size = number_in(path)
    if size < 0:
        raise ValueError(size)
    return size


def monitor(device: Path, names: Collection[str]) -> Path | None:
    """The folder of sensors whose name is one of ``names``; None for a board without."""
    for folder in sorted(device.glob("hwmon/hwmon*")):
        try:
            if text_in(folder / "name") in names:
                return folder
        except OSError:
            continue
    return None


def labelled(folder: Path, kind: str) -> Mapping[str, str]:
    """Channels of a kind of sensor by their label: ``{"edge": "temp1"}``; unlabelled by number."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob(f"{kind}[0-9]*_input")):
        channel = path.name.removesuffix("_input")
        try:
            label = text_in(folder / f"{channel}_label")
        except OSError:
            label = channel
        found.setdefault(label, channel)
    return found


class Asked:
    """One reading of a board: answers, and why there is none.

    Attributes:
        refused: Why a figure is None, by its name in ``BoardActivity``.
    """

    def __init__(self) -> None:
        """Start without an answer."""
        self.refused: dict[str, str] = {}

    def ask(self, question: Callable[[], _AnswerT], *names: str) -> _AnswerT | None:
        """The answer; None with a reason under ``names`` where there is none."""
        try:
            return question()
        except (OSError, ValueError) as error:
            self.refuse(why_not(error), *names)
            return None

    def refuse(self, reason: str, *names: str) -> None:
        """There is none, for a known reason."""
        self.refused.update(dict.fromkeys(names, reason))


def why_not(error: OSError | ValueError) -> str:
    """Why there is no figure; goes on after "not reported by the driver: "."""
    if isinstance(error, OSError):
        return _WHY.get(error.errno or 0, _NOT_NOW)
    return _NO_NUMBER


def _words_of(path: Path) -> Mapping[str, str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _revision(path: Path) -> str:
    try:
        return text_in(path).lower().removeprefix("0x")
    except OSError:
        return ""
