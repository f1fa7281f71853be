"""Eight streams, random cancels and changes, for as long as it takes to see a leak.

Laps of random work; after each the desk is brought back to where it began (all conversations
closed, the first settings), and the memory of both processes is looked at.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from random import Random

import psutil

from app.window import Window
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.config import EngineConfig
from tests.chaos.stage import LostError, Stage, open_window, run_for, until
from tests.chaos.tally import Tally

_STREAMS = 8
_LAPS = 20
# Caches of Qt, Python and the allocator fill up in the first of them.
_WARM_UP_SHARE = 0.4
_FLAT_BYTES = 20 * 2**20
_LONGEST_PAUSE_S = 0.15
_BORROWED_S = 20.0
_WORDS = [
    "slot",
    "draft",
    "cache",
    "token",
    "batch",
    "context",
    "pool",
    "prefix",
    "window",
    "expert",
    "layer",
    "step",
]
_START: dict[str, object] = {
    "threads": 1, "threads_batch": 1, "ctx_per_slot_tok": 1024, "slots": _STREAMS,
    "max_new_tok": 400, "temperature": 0.8, "top_k": 40, "cache_type_k": "f16",
    "cache_type_v": "f16", "flash_attn": "auto", "kv_unified": False, "spec_types": (),
}  # fmt: skip
_CHANGES: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("ctx_per_slot_tok", (512, 1024, 2048)),
    ("slots", (4, 6, _STREAMS)),
    ("cache_type_k", ("f16", "q8_0", "f32")),
    ("flash_attn", ("auto", "on")),
    ("kv_unified", (True, False)),
    ("temperature", (0.0, 0.8)),
    ("top_k", (0, 40)),
    ("max_new_tok", (50, 400, -1)),
    ("spec_types", ((), ("ngram-simple",))),
)


def run(stage: Stage) -> Tally:
    """Work for ``stage.counts.soak_s`` seconds."""
    tally = Tally("soak, 8 streams")
    report = stage.folder / "caches.json"
    config = EngineConfig.from_values({"model_path": str(stage.chat_model()), **_START})
    client = EngineClient(arguments=("-m", "tests.chaos.watched_child", str(report)))
    sizes: list[tuple[int, int]] = []
    done: Counter[str] = Counter()
    with open_window(config, client) as window:
        work = _Work(window, stage.random, done)
        died: list[object] = []
        client.engine_died.connect(died.append)
        lap_s = stage.counts.soak_s / _LAPS
        for lap in range(_LAPS):
            try:
                work.lap(lap_s)
                work.settle()
                sizes.append(_settled_sizes(client, sizes))
                loss = stage.take_faults()
            except LostError as error:
                loss = str(error)
            if died:
                loss = f"the engine ended: {died.pop()}"
            tally.note(loss and f"lap {lap + 1}: {loss}")
            words = ", ".join(f"{size / 2**20:,.1f}" for size in sizes[-1]) if sizes else ""
            stage.say(f"lap {lap + 1}: window and engine {words} MiB {loss or 'ok'}")
            if loss:
                break
        client.shutdown()  # closing the window would not wait for what it says at its end
        until(lambda: client.state is EngineState.DEAD, "the engine to end in good order")
    warm = sizes[int(_WARM_UP_SHARE * len(sizes)) :]
    for name, numbers in (("window", [w for w, _ in warm]), ("engine", [e for _, e in warm])):
        grown = max(numbers, default=0) - min(numbers, default=0)
        tally.notes.append(f"{name} within {grown / 2**20:.1f} MiB")
        tally.note(f"{name} was not flat" if grown > _FLAT_BYTES else "")
    tally.note(fault_of_caches(report))
    tally.notes.append(", ".join(f"{count} {what}" for what, count in done.most_common()))
    return tally


def fault_of_caches(report: Path) -> str:
    """What is left in the caches by the report of ``watched_child``; empty if nothing."""
    if not report.exists():
        return "the engine did not say at its end what its caches hold"
    told = json.loads(report.read_text())
    left = [number for number, highest in enumerate(told["seq_pos_max"]) if highest != -1]
    return f"sequences {left} are left in the cache ({told})" if left else ""


class _Work:
    """Does what impatient users do."""

    def __init__(self, window: Window, random: Random, done: Counter[str]) -> None:
        self._window = window
        self._random = random
        self._done = done

    def lap(self, seconds: float) -> None:
        """Work for a while."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            self._keep_busy()
            self._do_something()
            run_for(self._random.uniform(0, _LONGEST_PAUSE_S))

    def settle(self) -> None:
        """Bring everything back to where it was at the start.

        Raises:
            LostError: If something does not come to rest.
        """
        window, session = self._window, self._window.desk.session
        until(lambda: not session.work, "the change under way")
        for name in window.chat.conversation_ids():
            window.chat.conversation_closed.emit(name)
        until(lambda: not window.desk.chats.answering_count(), "the answers to stop")
        session.want(dict(_START))
        until(lambda: not session.work, "live settings")
        session.apply()
        until(lambda: not session.work and session.cost() is None, "the first settings")
        until(lambda: window.desk.client.state is EngineState.READY, "the engine to be idle")
        run_for(0.3)  # what comes by the clock: reports, charts, deleted widgets

    def _keep_busy(self) -> None:
        window = self._window
        while len(window.chat.conversation_ids()) < _STREAMS:
            window.chat_wiring.open_conversation()
        for name in window.chat.conversation_ids():
            conversation = window.desk.chats.conversation(name)
            if window.desk.session.applied is None or conversation.is_answering:
                continue
            if len(conversation.turns) > 8:
                window.chat.conversation_closed.emit(name)
                continue
            count = self._random.choice((1, 5, 30, 200))
            window.chat.conversation(name).submit(" ".join(self._random.choices(_WORDS, k=count)))
            self._done["questions"] += 1

    def _do_something(self) -> None:
        random, window = self._random, self._window
        name = random.choice(window.chat.conversation_ids())
        dice = random.random()
        if dice < 0.35:
            window.chat.conversation(name).stop_requested.emit()
            self._done["cancels"] += 1
        elif dice < 0.45:
            window.chat.conversation_closed.emit(name)
            self._done["closed"] += 1
        elif dice < 0.75:
            key, values = random.choice(_CHANGES)
            window.desk.session.commit(key, random.choice(values))
            window.desk.session.apply()
            self._done["changes"] += 1


def _settled_sizes(client: EngineClient, before: list[tuple[int, int]]) -> tuple[int, int]:
    """The sizes, once what is only borrowed has been given back.

    In quiet moments the engine reads a quarter of a gigabyte to learn how fast memory is.
    """
    most = min((engine for _, engine in before), default=0) + _FLAT_BYTES
    deadline_s = time.monotonic() + _BORROWED_S
    while (sizes := _sizes(client))[1] > most > _FLAT_BYTES and time.monotonic() < deadline_s:
        run_for(0.2)
    return sizes


def _sizes(client: EngineClient) -> tuple[int, int]:
    """Resident bytes of this process and of the engine."""
    return psutil.Process().memory_info().rss, psutil.Process(client.pid).memory_info().rss
