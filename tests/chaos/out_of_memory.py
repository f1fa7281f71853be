"""The engine may not have the memory it is asked for: said with the bytes, mended with one click.

The system limits the engine from outside, while it runs. Where the limit leaves it some room, it is
asked for far more: by a change or by a load, foreseen or found out by llama.cpp; the button of the
banner has to bring what really runs. Where the limit leaves it next to nothing while it works, it
may end, but only with a sentence that names memory, and it has to come back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from PySide6.QtWidgets import QPushButton

from app.window import Window
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import DeathReason, EngineState
from engine_bridge.protocol import Refused
from engine_bridge.settings.config import EngineConfig
from tests.chaos.stage import LostError, Stage, open_window, run_for, until
from tests.chaos.tally import Tally

_MIB = 2**20
# Room beside what the engine has: a quarter of a gigabyte of it is kept free by every plan.
_ROOM_MIB = (500, 900)
_SQUEEZED_MIB = (0, 64)
_LONGEST_WAIT_S = 0.5
_KINDS = ("found out load", "foreseen load", "foreseen change", "squeezed", "found out change")
_START: dict[str, object] = {
    "threads": 1, "threads_batch": 1, "ctx_per_slot_tok": 4096, "slots": 2, "max_new_tok": -1,
    "ubatch_tok": 512, "cache_type_k": "f16", "cache_type_v": "f16", "temperature": 0.0,
}  # fmt: skip
# Caches from 1 GiB on: 2 KiB a token, 16 slots.
_SHAPE = {"kv_heads": 8, "heads": 8, "ctx_train_tok": 65_536}
_TOO_MUCH: dict[str, tuple[object, ...]] = {
    "slots": (16,),
    "ctx_per_slot_tok": (32_768, 49_152, 65_536),
    "ubatch_tok": (512, 2048),
    "cache_type_k": ("f16", "f32"),
}
_SAYS = {
    "foreseen": re.compile(
        r"^System memory does not suffice: [\d.]+ [GM]iB are needed \(KV cache [\d.]+ [GM]iB"
    ),
    "found out": re.compile(
        r"^Memory ran out: (the KV cache|the compute buffer|the output buffer|a buffer)"
    ),
}
_BY_HOW_MUCH = re.compile(r"[\d.]+ [GM]iB are missing|[\d.]+ [GM]iB too little")
_LONG_PROMPT = "a slot holds the tokens of one conversation and nothing else at all " * 100


def run(stage: Stage) -> Tally:
    """Run out of memory ``stage.counts.shortages`` times."""
    tally = Tally("out of memory")
    if sys.platform != "linux":
        tally.notes = ["other systems give no process a limit from outside"]
        return tally
    done: Counter[str] = Counter()
    path = stage.chat_model("wide-cache.gguf", **_SHAPE)
    config = EngineConfig.from_values({"model_path": str(path), **_START})
    kinds = [_KINDS[number % len(_KINDS)] for number in range(stage.counts.shortages)]
    for is_trusting in (False, True):
        here = [kind for kind in kinds if kind.startswith("found out") is is_trusting]
        if not here:
            continue
        arguments = ("-m", "tests.chaos.trusting_child") if is_trusting else None
        with open_window(config, EngineClient(arguments=arguments)) as window:
            for kind in here:
                one = _Shortage(stage, window, kind)
                try:
                    one.play()
                    loss = stage.take_faults()
                except LostError as error:
                    loss = str(error)
                    _recover(window, config)
                done[one.outcome] += 1
                tally.note(loss and f"{kind}: {loss}")
                stage.say(f"{tally.tried}: {kind}, {one.outcome} {loss or 'ok'}")
    tally.notes = [f"{count} {words}" for words, count in done.most_common()]
    return tally


class _Shortage:
    """One time that memory runs out."""

    def __init__(self, stage: Stage, window: Window, kind: str) -> None:
        self._stage = stage
        self._window = window
        self._kind = kind
        self.outcome = "lost"

    def play(self) -> None:
        """All of it.

        Raises:
            LostError: If it is not said as it should be, or there is no way on.
        """
        self._ask("Hello")
        if self._kind == "squeezed":
            self._squeeze()
        else:
            self._ask_for_too_much()
        self._settle()

    # --- Too much is asked for --------------------------------------------------------

    def _ask_for_too_much(self) -> None:
        window, session = self._window, self._window.desk.session
        model = session.model
        assert model is not None
        wanted = {key: self._stage.random.choice(values) for key, values in _TOO_MUCH.items()}
        refused: list[Refused] = []
        session.refused.connect(refused.append)
        with self._limited(_ROOM_MIB):
            if self._kind.endswith("load"):
                window.engine_wiring.load(model.path, wanted)
            else:
                session.want(wanted)
                session.apply()
            until(lambda: bool(refused), "the refusal")
            session.refused.disconnect(refused.append)
            # The model that had to make room for it comes back before anything is pressed.
            until(lambda: session.applied is not None and not session.work, "the model that ran")
            run_for(self._stage.random.uniform(0, _LONGEST_WAIT_S))
            self._check_sentence(window.banner.sentence())
            self._press_repair()
            self._ask("Is it enough now?")
        self.outcome = f"{self._kind}, mended"

    def _check_sentence(self, sentence: str) -> None:
        says = _SAYS["foreseen" if self._kind.startswith("foreseen") else "found out"]
        if not says.search(sentence):
            raise LostError(f"the banner does not say which buffer: “{sentence}”")
        if not _BY_HOW_MUCH.search(sentence):
            raise LostError(f"the banner does not say by how much: “{sentence}”")

    def _press_repair(self) -> None:
        """The one click."""
        window, session = self._window, self._window.desk.session
        before = session.applied
        buttons = [b for b in window.banner.findChildren(QPushButton) if b.text().startswith("Set")]
        if not buttons:
            raise LostError(f"there is no button that mends it: “{window.banner.sentence()}”")
        buttons[0].click()
        until(lambda: not session.work and session.applied is not before, "what the button brings")
        applied = session.applied
        if applied is None or applied.config.slots != 16:
            raise LostError(f"the button brought something else: {window.banner.sentence()}")

    # --- Nothing is left ----------------------------------------------------------------

    def _squeeze(self) -> None:
        """Take the memory away while it works; whatever comes of it has to be said."""
        window, chats = self._window, self._window.desk.chats
        client, session = window.desk.client, window.desk.session
        died: list[DeathReason] = []
        client.engine_died.connect(died.append)
        try:
            name = self._begin(self._stage.random.choice(("Hello", _LONG_PROMPT)))
            run_for(self._stage.random.uniform(0, _LONGEST_WAIT_S))
            with self._limited(_SQUEEZED_MIB):
                if self._stage.random.random() < 0.5:
                    session.commit("ctx_per_slot_tok", 8192)
                    session.apply()
                run_for(self._stage.random.uniform(0, _LONGEST_WAIT_S))
                other = self._begin("And now?")
                until(
                    lambda: bool(died) or chats.has_begun(other) or not self._answers(other),
                    "something to come of it",
                )
                if not died:
                    self._stop(name, died)
                    self._stop(other, died)
                until(lambda: bool(died) or not session.work, "the change to come to an end")
        finally:
            client.engine_died.disconnect(died.append)
        if not died:
            self.outcome = "squeezed, went on"
            return
        self.outcome = "squeezed, ended and came back"
        sentence = died[0].sentence
        if "emory" not in sentence:
            raise LostError(f"its end is not put down to memory: “{sentence}” {died[0].stderr}")
        window.engine_wiring.restart()
        until(lambda: client.state is EngineState.READY, "another engine")
        until(lambda: session.applied is not None and not session.work, "the model to come back")

    def _answers(self, name: str) -> bool:
        return self._window.desk.chats.conversation(name).is_answering

    def _stop(self, name: str, died: list[DeathReason]) -> None:
        self._window.chat.conversation(name).stop_requested.emit()
        until(lambda: bool(died) or not self._answers(name), "the answer to stop")

    # --- Before and after ---------------------------------------------------------------

    @contextmanager
    def _limited(self, room_mib: tuple[int, int]) -> Iterator[None]:
        """The engine may have so much more than it has now."""
        pid = self._window.desk.client.pid
        process = psutil.Process(pid)
        room = int(self._stage.random.uniform(*room_mib) * _MIB)
        most = process.memory_info().vms + room
        process.rlimit(psutil.RLIMIT_AS, (most, psutil.RLIM_INFINITY))
        try:
            yield
        finally:
            if self._window.desk.client.pid == pid and psutil.pid_exists(pid):
                process.rlimit(psutil.RLIMIT_AS, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))

    def _begin(self, words: str) -> str:
        name = self._window.chat_wiring.open_conversation()
        self._window.chat.conversation(name).submit(words)
        return name

    def _ask(self, words: str) -> None:
        """It answers."""
        chats = self._window.desk.chats
        name = self._begin(words)
        until(lambda: chats.has_begun(name) or not self._answers(name), "an answer")
        self._window.chat.conversation(name).stop_requested.emit()
        until(lambda: not self._answers(name), "the answer to stop")
        turns = chats.conversation(name).turns
        if not turns or turns[-1].end == "failed":
            note = turns[-1].note if turns else self._window.banner.sentence()
            raise LostError(f"“{words}” was not answered: {note}")

    def _settle(self) -> None:
        """Everything as it was at the start, and it answers."""
        window, session = self._window, self._window.desk.session
        for old in window.chat.conversation_ids():
            window.chat.conversation_closed.emit(old)
        session.want(dict(_START))
        until(lambda: not session.work, "live settings")
        session.apply()
        until(lambda: not session.work and session.cost() is None, "the first settings")
        self._ask("Is all as before?")
        for old in window.chat.conversation_ids():
            window.chat.conversation_closed.emit(old)


def _recover(window: Window, config: EngineConfig) -> None:
    """After a loss: a fresh engine with what it began with."""
    client, session = window.desk.client, window.desk.session
    for old in window.chat.conversation_ids():
        window.chat.conversation_closed.emit(old)
    client.restart()
    until(lambda: client.state is EngineState.READY, "an engine after a loss")
    until(lambda: not session.work, "what it loads by itself")
    session.want(dict(_START))
    window.engine_wiring.load(config.model_path, dict(_START))
    until(lambda: session.applied is not None and not session.work, "the model after a loss")
