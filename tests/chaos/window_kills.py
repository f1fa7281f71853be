"""The window is killed at a random moment: nothing that it started may stay behind.

The program is started as a shell would start it. All its processes inherit a mark in their
environment, so that one that slipped away from its parent is found as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import psutil

from tests import models
from tests.chaos.stage import LostError, Stage
from tests.chaos.tally import Tally

_MARK = "TUNEDECK_CHAOS_MARK"
_GONE_WITHIN_S = 2.0
# From the start of the engine to the end of its first load on two cores, and some running.
_LONGEST_LIFE_S = 3.0
_LOOK_S = 0.02
_ENGINE = "engine_bridge.child"


def run(stage: Stage) -> Tally:
    """Kill ``stage.counts.window_kills`` windows."""
    tally = Tally("window killed")
    had: Counter[str] = Counter()
    longest_s = 0.0
    model = _model(stage)
    for number in range(stage.counts.window_kills):
        life_s = stage.random.uniform(0.0, _LONGEST_LIFE_S)
        loss = ""
        try:
            # Every fourth at its own start, the others from the start of the engine on.
            what, took_s = kill_one(model, life_s, with_engine=number % 4 != 3)
            had[what] += 1
            longest_s = max(longest_s, took_s)
            if took_s > stage.limit_s(_GONE_WITHIN_S):
                loss = f"{what} stayed for {took_s:.1f} s"
        except LostError as error:
            loss = str(error)
        tally.note(loss and f"killed after {life_s:.2f} s: {loss}")
        stage.say(f"{number + 1}: killed after {life_s:.2f} s {loss or 'ok'}")
    tally.notes = [f"all gone after {longest_s:.2f} s at most"]
    tally.notes += [f"{count} with {words}" for words, count in had.most_common()]
    return tally


def kill_one(
    model: Path, life_s: float, *, with_engine: bool, patience_s: float = 60.0
) -> tuple[str, float]:
    """Start the program with ``model``, let it live for a while and kill its window.

    Args:
        model: What it loads.
        life_s: Seconds that it lives.
        with_engine: Counted from the moment when it has started its engine, not from its own start.
        patience_s: Seconds after which something is lost.

    Returns:
        What lived beside it at that moment, in words, and how many seconds until all was gone.

    Raises:
        LostError: If something is there still after ``patience_s``; it is ended then.
    """
    mark = uuid.uuid4().hex
    environment = os.environ | {_MARK: mark, "QT_QPA_PLATFORM": "offscreen"}
    window = subprocess.Popen(
        [sys.executable, "-m", "app", "--model", str(model), "--set", "threads=1"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        if with_engine:
            _wait_for_engine(mark, patience_s)
        window.wait(life_s)
        raise LostError(f"the program ended by itself with status {window.returncode}")
    except subprocess.TimeoutExpired:
        pass
    lived = [process for process in _marked(mark) if process.pid != window.pid]
    what = ", ".join(sorted({_name(process) for process in lived})) or "nothing"
    window.kill()
    killed_s = time.monotonic()
    window.wait()
    orphans = _marked(mark)
    while orphans and time.monotonic() - killed_s < patience_s:
        time.sleep(_LOOK_S)
        orphans = [orphan for orphan in _marked(mark) if orphan.is_running()]
    took_s = time.monotonic() - killed_s
    for orphan in orphans:
        orphan.kill()
    if orphans:
        raise LostError(f"{what} is still there after {took_s:.0f} s")
    return what, took_s


def _wait_for_engine(mark: str, patience_s: float) -> None:
    until_s = time.monotonic() + patience_s
    while not any(_name(process) == _ENGINE for process in _marked(mark)):
        if time.monotonic() > until_s:
            raise LostError("the program started no engine")
        time.sleep(_LOOK_S)


def _model(stage: Stage) -> Path:
    """Gemma takes long enough to load that its load is often cut; else the tiny model does."""
    try:
        return models.find_gemma()
    except models.ModelMissingError:
        return stage.chat_model()


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:  # gone meanwhile, or somebody else's
            continue
    return found


def _name(process: psutil.Process) -> str:
    """The module it runs."""
    try:
        command = process.cmdline()
    except psutil.Error:
        return "a process"
    return command[command.index("-m") + 1] if "-m" in command else " ".join(command[:2])
