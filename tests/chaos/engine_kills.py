"""The engine is killed, aborted or stopped at a random moment: the window goes on with all words.

Each round begins an answer, lets the engine be at something, waits a random while and strikes. Then
the banner has to name the cause, its button has to bring engine and model back, every character
that was shown has to be there still, and the conversation has to go on. At the end everything is
read again from the disk.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import psutil
from PySide6.QtWidgets import QPushButton

from app.storage.conversation_store import ConversationStore
from app.window import Window
from engine_bridge.client import EngineClient
from engine_bridge.client_limits import ClientLimits
from engine_bridge.engine_state import EngineState
from engine_bridge.settings.config import EngineConfig
from tests.chaos.stage import LostError, Stage, open_window, run_for, until
from tests.chaos.tally import Tally
from widgets.chat_view import ChatView

_STALL_S = 3.0
# An answer of a second may be 7,000 tokens when it is read again: the tiny model's words are none.
_CTX_TOK, _OTHER_CTX_TOK, _CTX_TRAIN_TOK = 16_384, 32_768, 65_536
# Random waits of up to so many seconds before the blow; on two cores each moment lasts about that.
_LONGEST_WAIT_S = {"load": 0.4, "prefill": 0.4, "decode": 1.0, "apply": 0.05, "start": 1.0}
_BLOWS = (signal.SIGKILL, signal.SIGABRT, signal.SIGSTOP)
_PAIRS = [(moment, blow) for moment in _LONGEST_WAIT_S for blow in _BLOWS]
_LONG_PROMPT = "a slot holds the tokens of one conversation and nothing else at all " * 40


def run(stage: Stage) -> Tally:
    """Strike ``stage.counts.engine_kills`` times."""
    tally = Tally("engine killed, aborted, stopped")
    doing: Counter[str] = Counter()
    store_folder = stage.folder / "conversations"
    client = EngineClient(limits=ClientLimits(stall_after_s=_STALL_S))
    config = EngineConfig.from_values(
        {
            "model_path": str(_model(stage)), "threads": 1, "ctx_per_slot_tok": _CTX_TOK,
            "slots": 2, "temperature": 0.0, "max_new_tok": -1,
        }
    )  # fmt: skip
    texts: dict[str, list[str]] = {}
    store = ConversationStore(store_folder)
    with open_window(config, client, store=store) as window:
        pairs: list[tuple[str, signal.Signals]] = []
        for number in range(stage.counts.engine_kills):
            pairs = pairs or stage.random.sample(_PAIRS, len(_PAIRS))
            moment, blow = pairs.pop()
            one = _Round(stage, window, moment, blow)
            try:
                one.play()
                loss = stage.take_faults()
            except LostError as error:
                loss = str(error)
                _recover(window)
            doing[one.doing] += 1
            texts[one.name] = one.words()
            tally.note(loss and f"{blow.name} at {moment}, round {number}: {loss}")
            stage.say(f"{number + 1}: {blow.name} at {moment} while {one.doing} {loss or 'ok'}")
    for name in _differing(store_folder, texts):
        tally.note(f"the conversation {name} is not on the disk as it was shown")
    tally.notes = [f"{count} while {words}" for words, count in doing.most_common()]
    return tally


class _Round:
    """One blow and what comes after it."""

    def __init__(self, stage: Stage, window: Window, moment: str, blow: signal.Signals) -> None:
        self._stage = stage
        self._window = window
        self._moment = moment
        self._blow = blow
        self._deaths: list[str] = []
        self.doing = "idle"
        before = window.chat.conversation_ids()
        self.name = window.chat_wiring.open_conversation()
        for old in before:  # what was said before is on the disk, and found there at the end
            window.chat.conversation_closed.emit(old)

    @property
    def _view(self) -> ChatView:
        return self._window.chat.conversation(self.name)

    def words(self) -> list[str]:
        """Every turn of the conversation."""
        return [turn.text for turn in self._window.desk.chats.conversation(self.name).turns]

    def shown(self) -> list[str]:
        """What stands in the window."""
        return [row.record.text for row in self._view.messages_area.rows]

    def play(self) -> None:
        """All of it.

        Raises:
            LostError: If something is not as it should be.
        """
        client = self._window.desk.client
        self._set_the_scene()
        run_for(self._stage.random.uniform(0, _LONGEST_WAIT_S[self._moment]))
        # Between two processes there is none to strike; number 0 would be our own group.
        until(lambda: client.pid != 0, "a process to strike")
        before = self.shown()
        self._strike(client.pid)
        self.doing = self._doing()
        self._check_cause()
        self._check_words(before)
        self._press_restart()
        self._check_words(before)
        self._go_on(before)

    # --- Before the blow --------------------------------------------------------------

    def _set_the_scene(self) -> None:
        window, view = self._window, self._view
        arrived: list[str] = []
        window.desk.chats.text_arrived.connect(lambda _, text: arrived.append(text))
        view.submit("Hello")
        until(lambda: bool(arrived), "the first word")
        match self._moment:
            case "load":
                other = _model(self._stage, "other-long.gguf", seed=1)
                loaded = window.desk.session.model
                path = _model(self._stage) if loaded and loaded.path == str(other) else other
                window.engine_wiring.load(str(path))
            case "prefill":
                view.stop_requested.emit()
                until(lambda: not view.is_streaming, "the first answer to stop")
                view.submit(_LONG_PROMPT)
            case "apply":
                now = window.desk.session.wanted.ctx_per_slot_tok
                window.desk.session.commit(
                    "ctx_per_slot_tok", _OTHER_CTX_TOK if now == _CTX_TOK else _CTX_TOK
                )
                window.desk.session.apply()
            case "start":
                window.desk.client.restart()
                until(lambda: window.desk.client.pid != 0, "a new process")

    # --- The blow ---------------------------------------------------------------------

    def _strike(self, pid: int) -> None:
        client = self._window.desk.client
        client.engine_died.connect(self._note_death)
        if self._blow is not signal.SIGSTOP:
            _send(pid, self._blow)
            until(lambda: bool(self._deaths), "the death to be noticed")
            return
        stalls: list[str] = []
        client.stall_suspected.connect(stalls.append)
        try:
            _send(pid, signal.SIGSTOP)
            if client.state is EngineState.READY:  # it had done its work: one that stands still is
                self._view.submit("Are you there?")  # only missed by who waits for something
            until(lambda: bool(stalls), "the hang to be noticed")
            if self._window.banner.sentence() != stalls[-1]:
                raise LostError("the hang is not said in the banner")
        finally:
            client.stall_suspected.disconnect(stalls.append)

    def _note_death(self, reason: object) -> None:
        self._deaths.append(str(reason))

    def _doing(self) -> str:
        """What the engine was at, by its own sentence, without figures and names."""
        _, _, rest = self._window.banner.sentence().partition(" while ")
        return rest.split(".")[0].split(":")[0].split(" (")[0].split(" tiny")[0].split(" other")[0]

    # --- After the blow ---------------------------------------------------------------

    def _check_cause(self) -> None:
        sentence = self._window.banner.sentence()
        wanted = "seems to hang" if self._blow is signal.SIGSTOP else self._blow.name
        if wanted not in sentence or not self.doing:
            raise LostError(f"the banner does not name the cause: “{sentence}”")

    def _check_words(self, before: list[str]) -> None:
        """What was shown is there; the last answer may have got what was still in the pipe."""
        after = self.shown()
        is_kept = after[: len(before) - 1] == before[:-1] and after[len(before) - 1].startswith(
            before[-1]
        )
        if not is_kept:
            raise LostError(f"characters that were shown are gone: {before} became {after}")
        if after != self.words():
            raise LostError("the window shows something else than the conversation holds")

    def _press_restart(self) -> None:
        window = self._window
        pid = window.desk.client.pid
        buttons = [b for b in window.banner.findChildren(QPushButton) if "Restart" in b.text()]
        if not buttons:
            raise LostError("the banner offers no restart")
        buttons[-1].click()
        applied: list[object] = []
        window.desk.session.applied_changed.connect(applied.append)
        until(lambda: any(each is not None for each in applied), "the model to come back")
        window.desk.session.applied_changed.disconnect(applied.append)
        if pid and psutil.pid_exists(pid):
            raise LostError("the old engine process is still there")
        window.desk.client.engine_died.disconnect(self._note_death)

    def _go_on(self, before: list[str]) -> None:
        """The answer that was cut short goes on behind its own words, and can be stopped."""
        view, chats = self._view, self._window.desk.chats
        until(lambda: not view.is_streaming, "the cut answer to be over")
        held = self.shown()
        if self._stage.random.random() < 0.5:
            view.continue_requested.emit()
        else:
            view.submit("And then?")
        until(lambda: "".join(self.words()) != "".join(held), "the conversation to go on")
        until(lambda: chats.has_begun(self.name) or not chats.answering_count(), "a token")
        view.stop_requested.emit()
        until(lambda: not chats.answering_count(), "the answer to stop")
        self._check_words(before)


def _model(stage: Stage, name: str = "long.gguf", seed: int = 0) -> Path:
    return stage.chat_model(name, ctx_train_tok=_CTX_TRAIN_TOK, seed=seed)


def _recover(window: Window) -> None:
    """After a loss: another engine for the next round."""
    client = window.desk.client
    if client.state is not EngineState.STARTING:
        client.restart()
    until(lambda: client.state is EngineState.READY, "an engine after a loss")
    if window.desk.session.applied is None and window.desk.session.load_path:
        window.engine_wiring.load(window.desk.session.load_path)
        until(lambda: window.desk.session.applied is not None, "a model after a loss")


def _send(pid: int, blow: signal.Signals) -> None:
    try:
        os.kill(pid, blow)
    except ProcessLookupError:
        raise LostError("the engine was gone before it was struck") from None


def _differing(folder: Path, texts: dict[str, list[str]]) -> list[str]:
    """Conversations that are not on the disk as they were in the window."""
    store = ConversationStore(folder)
    wrong = []
    for name, turns in texts.items():
        stored = [turn.text for turn in store.read(name).turns]
        if stored != turns:
            wrong.append(name)
    store.close()
    return wrong
