"""The report of a proof: what every part brought, written after each of them."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_RESERVE_S = 20.0


class Proof:
    """What was found so far, written after every part.

    Attributes:
        found: The content of the JSON file.
    """

    def __init__(self, out: Path, seconds: float) -> None:
        """Begin now; ``seconds`` is all there is."""
        out.mkdir(parents=True, exist_ok=True)
        self.found: dict[str, Any] = {"parts_s": {}, "failed": {}, "left_out": []}
        self.out = out
        self._began_s = time.monotonic()
        self._seconds = seconds
        self._log = (out / "proof.log").open("w", encoding="utf-8")

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return self._seconds - (time.monotonic() - self._began_s)

    def say(self, text: str) -> None:
        """A line for terminal and log."""
        line = f"[{time.monotonic() - self._began_s:5.0f} s] {text}"
        print(line, flush=True)
        print(line, file=self._log, flush=True)

    def part(self, name: str, needs_s: float, do: Callable[[], Any]) -> Any:
        """Do a part and keep what it brings; None where it failed or there was no time."""
        if self.left_s < needs_s + _RESERVE_S:
            self.found["left_out"].append(f"{name}: {self.left_s:.0f} s were left")
            self.say(f"{name}: left out, {self.left_s:.0f} s are left")
            self.write()
            return None
        begun_s = time.monotonic()
        self.say(f"{name} …")
        try:
            self.found[name] = brought = do()
        except Exception as error:  # the other parts go on; this one is in the report
            traceback.print_exc(file=self._log)
            self.found["failed"][name] = f"{type(error).__name__}: {error}"
            self.say(f"{name} FAILED: {error}")
            brought = None
        self.found["parts_s"][name] = round(time.monotonic() - begun_s, 1)
        self.write()
        return brought

    def write(self) -> None:
        """Write the JSON file."""
        text = json.dumps(self.found, indent=1, default=str)
        (self.out / "proof.json").write_text(text + "\n", encoding="utf-8")
