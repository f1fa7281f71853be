"""Files that are no models any more: listed, planned and loaded in the window while a chat runs.

For each there must be a sentence (or a model that works) within ten seconds, memory stays bounded,
and neither the window nor the chat that runs feels anything.
"""

from __future__ import annotations

import os
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine_wiring import EngineWiring
from app.fit_check import Fit, FitCheck
from app.library.model_entry import ModelEntry
from app.model_sheets import key_of
from app.window import Window
from engine_bridge.engine_state import EngineState
from engine_bridge.hardware.read_bandwidth import whole_bytes
from engine_bridge.protocol import PlanReady, Refused
from engine_bridge.settings.config import EngineConfig
from tests.chaos import gguf_mutations
from tests.chaos.hostile_templates import HOSTILE_TEMPLATES
from tests.chaos.peaks import Peaks
from tests.chaos.stage import LostError, Stage, open_window, until
from tests.chaos.tally import Tally
from tests.tiny_model import (
    CHATML,
    TinyLlama,
    TinyMamba,
    write_tiny_llama,
    write_tiny_mamba,
)

_SENTENCE_WITHIN_S = 10.0
# Far above what a tiny model takes, far below what a lie of a header would.
_MOST_HELPER_BYTES = 2 * 2**30
# Beside what the engine borrows to measure the memory's bandwidth: up to a gigabyte where the
# processor's caches are large. Lies ask for a thousand of them.
_MOST_GROWTH_BYTES = 256 * 2**20
_LONGEST_SENTENCE = 1_200
_THREADS = 1
_SMALL = TinyLlama(layers=1, width=64, ffn=96, vocab_tok=512)


def run(stage: Stage) -> Tally:
    """Try ``stage.counts.files`` files."""
    tally = Tally("mutated GGUF file")
    folder = stage.folder / "mutated"
    files = write_files(stage, folder)
    config = EngineConfig.from_values(
        {
            "model_path": str(stage.chat_model()), "threads": _THREADS, "ctx_per_slot_tok": 4096,
            "slots": 2, "temperature": 0.0, "max_new_tok": -1,
        }
    )  # fmt: skip
    outcomes: Counter[str] = Counter()
    longest_s = 0.0
    with open_window(config) as window, Peaks(window.desk.client) as peaks:
        losses = _list_all(stage, window, folder, files)
        for number, (path, name) in enumerate(files.items(), start=1):
            one = _Try(stage, window, path)
            try:
                one.play()
            except LostError as error:
                losses[path] = f"{losses.get(path, '')} {error}".strip()
                _recover(window, config)
            losses[path] = f"{losses.get(path, '')} {stage.take_faults()}".strip()
            outcomes[one.outcome] += 1
            longest_s = max(longest_s, one.longest_s)
            loss = losses[path]
            tally.note(loss and f"{name} ({path.name}): {loss}")
            stage.say(f"{number}: {name} {one.outcome} {loss or 'ok'}")
            if loss:
                _keep(path)
        tally.notes = [f"longest answer {longest_s:.1f} s", peaks.words()]
        borrowed_bytes = whole_bytes(_THREADS)
        grown_bytes = peaks.growth_bytes - borrowed_bytes
        if peaks.helper_bytes > _MOST_HELPER_BYTES or grown_bytes > _MOST_GROWTH_BYTES:
            tally.note(f"memory was not bounded: {peaks.words()}")
    tally.notes += [f"{count} {words}" for words, count in outcomes.most_common()]
    return tally


def write_files(stage: Stage, folder: Path) -> dict[Path, str]:
    """Mutated files, each with the name of what was done to it."""
    folder.mkdir()
    random, count = stage.random, stage.counts.files
    files: dict[Path, str] = {}
    templates = list(HOSTILE_TEMPLATES)
    random.shuffle(templates)
    for number, template in enumerate(templates[: max(1, count // 12)]):
        path = folder / f"template-{number}.gguf"
        write_tiny_llama(path, replace(_SMALL, chat_template=template))
        files[path] = f"template {template[:40]!r}"
    bases = [path.read_bytes() for path in write_bases(stage.folder / "bases")]
    names = list(gguf_mutations.BY_NAME)
    for number in range(count - len(files)):
        name = names[number % len(names)]
        path = folder / f"{number:04d}.gguf"
        path.write_bytes(gguf_mutations.BY_NAME[name](random.choice(bases), random))
        files[path] = name
    order = list(files)
    random.shuffle(order)
    return {path: files[path] for path in order}


def write_bases(folder: Path) -> list[Path]:
    """Small whole models of several kinds."""
    dense = replace(_SMALL, chat_template=CHATML)
    experts = replace(_SMALL, experts=4, experts_used=2)
    return [
        write_tiny_llama(folder / "dense.gguf", dense),
        write_tiny_llama(folder / "experts.gguf", experts),
        write_tiny_mamba(folder / "mamba.gguf", TinyMamba(layers=1, width=64, vocab_tok=512)),
    ]


def fault_of_sentence(sentence: str) -> str:
    """What is wrong with a sentence for the user; empty if nothing."""
    if not sentence:
        return "no sentence"
    if len(sentence) > _LONGEST_SENTENCE:
        return f"a sentence of {len(sentence):,} characters"
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in sentence):
        return f"a sentence with control characters: {sentence!r}"
    if sentence.rstrip()[-1] not in ".`”’!?)":
        return f"no end to the sentence {sentence!r}"
    if "Traceback" in sentence or "mistake in TuneDeck" in sentence:
        return f"our own mistake: {sentence}"
    return ""


# --- The list -----------------------------------------------------------------------------


def _list_all(
    stage: Stage, window: Window, folder: Path, files: dict[Path, str]
) -> dict[Path, str]:
    """List the folder in the picker and look at every sheet; what is lost, by file."""
    wiring: EngineWiring = window.engine_wiring
    ended: list[str] = []
    wiring.models.ended.connect(ended.append)
    wiring.picker.add_folder(str(folder))
    until(lambda: bool(ended), "the list of models", stage.limit_s(_SENTENCE_WITHIN_S * 6))
    picker = wiring.picker.picker
    losses: dict[Path, str] = {}
    for path in files:
        entry = wiring.models.entry(os.fsencode(path))
        loss = _fault_of_entry(entry)
        if picker is not None and entry is not None:
            picker.list.select(key_of(entry.location))
        if loss:
            losses[path] = f"in the list: {loss}"
    if ended != [""]:
        losses[next(iter(files))] = f"the list ended with “{ended[0]}”"
    if picker is not None:
        picker.reject()
    return losses


def _fault_of_entry(entry: ModelEntry | None) -> str:
    if entry is None:
        return "it is not listed"
    if not entry.is_read:
        return "its header was not read"
    if entry.facts is None:
        return fault_of_sentence(entry.problem)
    texts = (entry.facts.name, entry.facts.architecture, entry.facts.licence, entry.name)
    broken = [text for text in texts if any(unicodedata.category(each) == "Cc" for each in text)]
    return f"control characters in {broken}" if broken else ""


# --- One file -----------------------------------------------------------------------------


class _Try:
    """One file planned, looked at and loaded."""

    def __init__(self, stage: Stage, window: Window, path: Path) -> None:
        self._stage = stage
        self._window = window
        self._path = path
        self.outcome = "lost"
        self.longest_s = 0.0

    def play(self) -> None:
        """All of it.

        Raises:
            LostError: If there is no sentence in time, or the chat that runs feels it.
        """
        window = self._window
        good = window.desk.session.applied
        assert good is not None
        live = self._begin_chat()
        engine_pid = window.desk.client.pid
        self._plan()
        if self._stage.random.random() < 0.2:
            self._fit()
        told = window.desk.chats.conversation(live).turns[-1].text
        is_loaded = self._load()
        turn = window.desk.chats.conversation(live).turns[-1]
        if not turn.text.startswith(told):
            raise LostError("the chat that ran lost words")
        if window.desk.client.pid != engine_pid:
            raise LostError("the engine of the chat that ran is gone")
        if not is_loaded:
            if turn.end == "failed":
                raise LostError(f"the chat that ran was ended: {turn.note}")
            return
        self._ask()
        self._load_good(good.config.model_path)

    def _begin_chat(self) -> str:
        window = self._window
        before = window.chat.conversation_ids()
        name = window.chat_wiring.open_conversation()
        for old in before:
            window.chat.conversation_closed.emit(old)
        window.chat.conversation(name).submit("Hello")
        chats = window.desk.chats
        until(lambda: chats.has_begun(name) or not chats.answering_count(), "the chat to run")
        return name

    def _timed(self, is_done: Callable[[], bool], what: str) -> None:
        limit_s = self._stage.limit_s(_SENTENCE_WITHIN_S)
        self.longest_s = max(self.longest_s, until(is_done, what, limit_s))

    def _plan(self) -> None:
        client, session = self._window.desk.client, self._window.desk.session
        # The newest question wins: one of the session's own would take this one's place.
        until(lambda: not session.is_planning, "the session's own plan")
        answers: list[PlanReady | Refused] = []

        def take(event: Any) -> None:
            is_plan = isinstance(event, PlanReady) and event.plan_id == number
            is_refusal = isinstance(event, Refused) and event.command == "plan"
            if is_plan or (is_refusal and event.request_id == number):
                answers.append(event)

        client.event_received.connect(take)
        config = self._window.desk.session.wanted.with_values({"model_path": str(self._path)})
        number = client.plan(config)
        self._timed(lambda: bool(answers), "a plan")
        client.event_received.disconnect(take)
        if isinstance(answers[0], Refused):
            self._check(answers[0].problem.message, "planned")

    def _fit(self) -> None:
        answers: list[Fit] = []
        check = FitCheck(self._window)
        check.answered.connect(answers.append)
        config = self._window.desk.session.wanted
        check.ask(config.with_values({"model_path": str(self._path)}), None)
        self._timed(lambda: bool(answers), "whether it fits")
        check.close()
        check.deleteLater()
        if answers[0].problem:
            self._check(answers[0].problem, "looked at in the picker")

    def _load(self) -> bool:
        """Whether it runs now."""
        window = self._window
        refused: list[Refused] = []
        applied: list[object] = []
        died: list[Any] = []
        session, client = window.desk.session, window.desk.client
        session.refused.connect(refused.append)
        session.applied_changed.connect(applied.append)
        client.engine_died.connect(died.append)
        try:
            window.engine_wiring.load(str(self._path))
            self._timed(lambda: bool(refused or any(applied) or died), "an answer to the load")
        finally:
            session.refused.disconnect(refused.append)
            session.applied_changed.disconnect(applied.append)
            client.engine_died.disconnect(died.append)
        if died:
            raise LostError(f"the load ended the engine: {died[0].sentence}")
        if refused:
            self.outcome = "refused"
            if refused[0].problem.message != window.banner.sentence():
                raise LostError("the refusal is not said in the banner")
            self._check(window.banner.sentence(), "loaded")
        else:
            self.outcome = "loaded"
        return not refused

    def _ask(self) -> None:
        """A file that could be loaded answers, or says why not."""
        window, chats = self._window, self._window.desk.chats
        died: list[Any] = []
        window.desk.client.engine_died.connect(died.append)
        name = window.chat_wiring.open_conversation()
        view = window.chat.conversation(name)
        view.submit("What is a slot?")
        try:
            self._timed(lambda: chats.has_begun(name) or not chats.answering_count(), "an answer")
            view.stop_requested.emit()
            self._timed(lambda: not chats.answering_count() or bool(died), "the answer to stop")
        finally:
            window.desk.client.engine_died.disconnect(died.append)
        if died:
            raise LostError(f"the answer ended the engine: {died[0].sentence}")
        turns = chats.conversation(name).turns
        if not turns:
            self.outcome = "loaded, question refused"
        elif turns[-1].end == "failed":
            self.outcome = "loaded, answer failed"
            self._check(turns[-1].note, "asked")

    def _load_good(self, path: str) -> None:
        window = self._window
        window.engine_wiring.load(path)
        session = window.desk.session
        until(lambda: session.model is not None and session.model.path == path, "the good model")

    def _check(self, sentence: str, when: str) -> None:
        fault = fault_of_sentence(sentence)
        if fault:
            raise LostError(f"when it was {when}: {fault}")


def _recover(window: Window, config: EngineConfig) -> None:
    """After a loss: a fresh engine with the good model."""
    client = window.desk.client
    client.restart()
    until(lambda: client.state is EngineState.READY, "an engine after a loss")
    window.engine_wiring.load(config.model_path)
    session = window.desk.session
    until(
        lambda: (
            session.model is not None
            and session.model.path == config.model_path
            and not session.work
        ),
        "the good model after a loss",
    )


def _keep(path: Path) -> None:
    """Leave a file that was lost to where it can be looked at after the run."""
    folder = Path("build") / "chaos"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{time.time_ns()}-{path.name}").write_bytes(path.read_bytes())
