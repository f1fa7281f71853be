"""From readings and the engine's events to strip and banner, on an engine the test plays."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.crowd_wiring import crowding_sentence
from app.desk import Desk
from app.hardware_wiring import HardwareWiring
from engine_bridge.memory_plan import BytesByUse, DeviceBytes, MemoryPlan
from engine_bridge.metrics.board_activity import BoardActivity, SharedMemory
from engine_bridge.metrics.core_crowding import CoreUse, Crowding
from engine_bridge.metrics.meters import Meters
from engine_bridge.metrics.snapshot import MemorySnapshot
from engine_bridge.protocol import (
    Applied,
    DeviceFacts,
    MemoryMeasured,
    RequestFinished,
    RequestStarted,
    RequestTiming,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import FakeClient, applied
from widgets.live_panel import LivePanel
from widgets.status_banner import StatusBanner

pytestmark = pytest.mark.gui
GIB = 1 << 30
SECOND = 1_000_000_000
RAM = MemorySnapshot(
    1, "system", "System memory", 32 * GIB, 12 * GIB, 4 * GIB, 2 * GIB, GIB // 4,
    swap_used_bytes=GIB, swap_total_bytes=8 * GIB,
)  # fmt: skip
NAME = "NVIDIA GeForce RTX 3070"
CUDA0 = DeviceFacts("CUDA0", NAME, "gpu", "CUDA", GIB // 8, 8 * GIB)


class FakeSession(QObject):
    """A session that writes down what is wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.applied: Applied | None = None
        self.wanted: list[dict[str, object]] = []
        self.applies = 0

    def want(self, values: dict[str, object]) -> None:
        """Write it down."""
        self.wanted.append(values)

    def apply(self) -> None:
        """Count it."""
        self.applies += 1


class FakeDesk(QObject):
    """A desk whose hardware and engine the test plays."""

    hardware_measured = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.client = FakeClient()
        self.session = FakeSession()
        self.boards: tuple[BoardActivity, ...] = ()
        self.idle_cores: float | None = None
        self.core_use: CoreUse | None = None
        self.seconds = 1000

    def say(self, event: object) -> None:
        """The engine says something."""
        if isinstance(event, Applied):
            self.session.applied = event
        self.client.event_received.emit(event)


class House:
    """The wiring with all that it stands between."""

    def __init__(self, qtbot: QtBot) -> None:
        self.desk = FakeDesk()
        self.live = LivePanel(Meters())
        self.banner = StatusBanner()
        for widget in (self.live, self.banner):
            qtbot.addWidget(widget)
        self.parent = QObject()
        self.wiring = HardwareWiring(cast(Desk, self.desk), self.live, self.parent, self.banner)

    @property
    def strip(self) -> str:
        """All that the strip says."""
        return self.live.boards.text()

    def read(self, *boards: BoardActivity) -> None:
        """A reading of the hardware."""
        self.desk.boards = boards
        self.desk.hardware_measured.emit((RAM,))

    def prompt(self, number: int, speed_tok_s: float, tokens: int = 1000) -> None:
        """A prompt is read, and its answer begins."""
        begin = number * 100 * SECOND
        self.desk.say(RequestStarted(number, 0, tokens, 0, "", begin))
        end = begin + int(tokens / speed_tok_s * SECOND)
        self.answer(number, end)

    def answer(self, number: int, first_ns: int) -> None:
        """An answer of one token."""
        self.desk.say(TokensDelivered(number, "x", (first_ns,), (1,), first_ns))
        timing = RequestTiming(0.0, 1.0, 1.0, None, None, None, 1000, 0, 1)
        self.desk.say(RequestFinished(number, "end", "", timing, 9))


@pytest.fixture
def house(qtbot: QtBot, themed: QApplication) -> House:
    return House(qtbot)


def on_gpu(config: EngineConfig, needed: int = 6 * GIB) -> Applied:
    event = applied(config)
    devices = (DeviceBytes("CPU", GIB, 0, 0), DeviceBytes("CUDA0", needed, 0, 0))
    return replace_memory(event, devices)


def replace_memory(event: Applied, devices: tuple[DeviceBytes, ...]) -> Applied:
    sizes = BytesByUse(host=GIB, weights_mapped=GIB)
    memory = MemoryPlan(sizes, devices, event.effective, True, (), 0.0)
    return Applied(1, event.config, event.effective, event.cost, event.seconds, memory, event.model)


def test_that_main_memory_is_told_with_or_without_boards(house: House) -> None:
    house.read()
    assert not house.live.boards.isHidden()
    for words in (
        "12.0 of 32.0 GiB in use", "engine 4.00", "mapped 2.00", "window 0.25",
        "available 20.0 GiB", "swap 1.00 of 8.00 GiB",
    ):  # fmt: skip
        assert words in house.strip
    house.read(BoardActivity(NAME, busy=0.5))
    assert NAME in house.strip
    assert "12.0 of 32.0 GiB in use" in house.strip


def test_that_a_board_only_ggml_sees_stands_in_the_strip(house: House) -> None:
    house.desk.say(MemoryMeasured(1, 0, 0, (CUDA0,)))
    house.read()
    assert "7.88 of 8.00 GiB" in house.strip
    assert "Only as full as ggml tells" in house.strip


def test_that_a_board_that_holds_more_than_it_has_is_a_warning(house: House) -> None:
    house.desk.say(MemoryMeasured(1, 0, 0, (CUDA0,)))
    board = BoardActivity(NAME, memory=MemorySnapshot(1, "gpu", NAME, 8 * GIB, 7 * GIB))
    house.desk.say(on_gpu(EngineConfig()))
    house.read(board)
    assert "machine's memory" not in house.strip
    house.desk.say(on_gpu(EngineConfig(), needed=9 * GIB))
    house.read(board)
    labels = {label.text(): label for label in house.live.boards.findChildren(QLabel)}
    (warning,) = [text for text in labels if "allocated 9.0 GiB" in text]
    assert labels[warning].property("role") == "hint-warning"
    assert warning in house.strip


def test_that_shared_memory_that_grows_past_a_full_board_is_a_warning(house: House) -> None:
    memory = MemorySnapshot(1, "gpu", "AMD Radeon RX 7600", 8 * GIB, 4 * GIB)
    board = BoardActivity(memory.name, memory=memory, shared=SharedMemory(GIB // 4, 16 * GIB))
    house.read(board)
    full = replace(memory, used_bytes=8 * GIB - GIB // 16)
    house.read(replace(board, memory=full, shared=SharedMemory(2 * GIB, 16 * GIB)))
    assert "1.75 GiB so far" in house.strip
    house.read(board)
    assert "so far" not in house.strip


SLOW = EngineConfig.from_values({"cache_type_v": "q5_1"})


def collapse(house: House) -> None:
    """Fast prompts, a change, slow prompts."""
    house.desk.say(on_gpu(EngineConfig()))
    for number in (1, 2, 3):
        house.prompt(number, 1200)
    house.desk.say(on_gpu(SLOW))
    house.prompt(4, 100)
    assert not house.banner.sentence()
    house.prompt(5, 100)


def test_that_a_silent_fallback_is_said_with_what_changed_and_what_to_check(house: House) -> None:
    collapse(house)
    sentence = house.banner.sentence()
    assert "12 times slower" in sentence
    assert "1,200 → 100 tok/s" in sentence
    assert "V cache: f16 → q5_1" in sentence
    assert "flash attention" in sentence


def test_that_the_change_can_be_taken_back_from_there(house: House) -> None:
    collapse(house)
    press(house, "Take the change back")
    assert house.desk.session.wanted == [{"cache_type_v": "f16"}]
    assert house.desk.session.applies == 1
    assert not house.banner.sentence()


def test_that_who_keeps_it_is_left_in_peace_until_the_next_change(house: House) -> None:
    collapse(house)
    press(house, "Keep it")
    for number in (6, 7, 8):
        house.prompt(number, 100)
    assert not house.banner.sentence()
    assert house.desk.session.wanted == []


def test_that_a_banner_that_says_something_else_goes_first(house: House) -> None:
    house.banner.show_problem("The engine died.", "", [])
    house.desk.say(on_gpu(EngineConfig()))
    for number in (1, 2, 3):
        house.prompt(number, 1200)
    house.desk.say(on_gpu(SLOW))
    for number in (4, 5):
        house.prompt(number, 100)
    assert house.banner.sentence() == "The engine died."
    house.banner.dismiss()
    house.prompt(6, 100)
    assert "times slower" in house.banner.sentence()


def test_that_a_prompt_beside_another_answer_says_nothing(house: House) -> None:
    house.desk.say(on_gpu(EngineConfig()))
    for number in (1, 2, 3):
        house.prompt(number, 1200)
    house.desk.say(on_gpu(SLOW))
    house.desk.say(RequestStarted(50, 1, 10, 0, "", SECOND))  # goes on all the while
    for number in (4, 5, 6):
        house.prompt(number, 100)
    assert not house.banner.sentence()


def test_that_a_gpu_at_work_during_the_prompt_is_no_fallback(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.prefill_wiring.time.perf_counter_ns", lambda: 10**18)
    house.desk.say(on_gpu(EngineConfig()))
    for number in (1, 2, 3):
        house.prompt(number, 1200)
    house.desk.say(on_gpu(SLOW))
    for number in (4, 5):
        house.desk.say(RequestStarted(number, 0, 1000, 0, "", number * 100 * SECOND))
        house.read(BoardActivity(NAME, busy=0.96))
        house.answer(number, (number * 100 + 10) * SECOND)
    assert not house.banner.sentence()


def press(house: House, words: str) -> None:
    buttons = house.banner.findChildren(QPushButton)
    next(one for one in buttons if one.text() == words).click()


# --- Cores ----------------------------------------------------------------------------------


def crowd(house: House, others: float, seconds: int = 6) -> None:
    """So many seconds in which other programs keep so many of two cores busy."""
    for _ in range(seconds):
        house.desk.seconds += 1
        at_ns = house.desk.seconds * SECOND
        house.desk.core_use = CoreUse(at_ns, 1.0, 2, 2.0 - others, others)
        house.read()


def test_that_other_programs_on_the_engine_s_cores_are_told_until_they_are_gone(
    house: House,
) -> None:
    house.desk.say(applied(EngineConfig()))
    house.desk.say(RequestStarted(1, 0, 10, 0, "", 5))
    crowd(house, 0.1)
    assert "Other programs" not in house.strip
    crowd(house, 1.2)
    said = (
        "Other programs keep 1.2 of 2 cores busy, and the engine wants 2 for its threads: its "
        "threads wait for each other at every step. Speeds measured now are too low. Close those "
        "programs, or set threads to 1."
    )
    assert said in house.strip
    (label,) = [found for found in house.live.boards.findChildren(QLabel) if found.text() == said]
    assert not label.isHidden()
    house.answer(1, 9)
    crowd(house, 0.0)
    assert "Other programs" not in house.strip
    assert label.isHidden()


def test_that_nothing_is_told_of_cores_while_nothing_is_computed_there(house: House) -> None:
    house.desk.say(applied(EngineConfig()))
    crowd(house, 2.0)
    assert "Other programs" not in house.strip
    house.desk.say(RequestStarted(1, 0, 10, 0, "", 5))
    house.desk.say(on_gpu(EngineConfig()))
    crowd(house, 1.2)
    assert "Other programs" not in house.strip


def test_that_who_has_one_thread_is_told_to_close_programs_alone() -> None:
    said = crowding_sentence(Crowding(1.9, 2, 1))
    assert "the engine wants 1 for its thread: it waits for its turn." in said
    assert said.endswith("Close those programs.")
    assert "set threads to 3." in crowding_sentence(Crowding(5.0, 8, 4))
