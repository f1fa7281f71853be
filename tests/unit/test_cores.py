"""Whose work keeps the cores busy, by counters that the test turns."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

import psutil
import pytest

from engine_bridge.hardware.cores import CoreReader

SECOND = 1_000_000_000
ENGINE = 4242


@dataclass
class Times:
    """As psutil names them on Linux."""

    user: float = 0.0
    nice: float = 0.0
    system: float = 0.0
    idle: float = 0.0
    iowait: float = 0.0
    irq: float = 0.0
    softirq: float = 0.0
    steal: float = 0.0


@dataclass
class Machine:
    """Two cores, a window and an engine; a second goes by with each ``work``."""

    at_ns: int = 1000 * SECOND
    all: Times = field(default_factory=lambda: Times(user=100.0, system=50.0, idle=900.0))
    of: dict[int | None, Times] = field(
        default_factory=lambda: {None: Times(user=3.0), ENGINE: Times(user=20.0)}
    )

    def reader(self) -> CoreReader:
        return CoreReader(lambda: self.at_ns, lambda: self.all, self.times_of, 2)

    def times_of(self, pid: int | None) -> Times:
        if pid not in self.of:
            raise psutil.NoSuchProcess(pid or 0)
        return self.of[pid]

    def work(self, engine: float, window: float, others: float, seconds: float = 1.0) -> None:
        self.at_ns += int(seconds * SECOND)
        self.of[ENGINE].user += engine * seconds * 0.75
        self.of[ENGINE].system += engine * seconds * 0.25
        self.of[None].user += window * seconds
        self.all.user += (engine + window + others) * seconds
        self.all.idle += (2 - engine - window - others) * seconds


def test_that_what_others_take_is_what_neither_engine_nor_window_took() -> None:
    machine = Machine()
    reader = machine.reader()
    assert reader.read(ENGINE) is None
    machine.work(0.8, 0.1, 1.1, seconds=2.0)
    use = reader.read(ENGINE)
    assert use is not None
    assert (use.at_ns, use.seconds, use.cores) == (machine.at_ns, 2.0, 2)
    assert use.engine == pytest.approx(0.8)
    assert use.others == pytest.approx(1.1)


def test_that_waiting_and_what_another_machine_took_is_no_program_s_work() -> None:
    machine = Machine()
    reader = machine.reader()
    reader.read(ENGINE)
    machine.work(0.5, 0.0, 0.0)
    machine.all.iowait += 1.0
    machine.all.steal += 1.0
    use = reader.read(ENGINE)
    assert use is not None
    assert use.others == pytest.approx(0.0)
    machine.work(0.5, 0.0, 0.0)
    machine.all.softirq += 0.25
    machine.all.irq += 0.25
    machine.all.nice += 0.25
    use = reader.read(ENGINE)
    assert use is not None
    assert use.others == pytest.approx(0.75)


def test_that_another_engine_is_counted_from_its_first_reading_on() -> None:
    machine = Machine()
    reader = machine.reader()
    reader.read(ENGINE)
    machine.work(1.0, 0.0, 0.0)
    machine.of[77] = Times(user=500.0)
    assert reader.read(77) is None
    machine.work(0.0, 0.0, 0.0)
    machine.of[77].user += 1.0
    machine.all.user += 1.0
    use = reader.read(77)
    assert use is not None
    assert use.engine == pytest.approx(1.0)
    assert use.others == pytest.approx(0.0)


def test_that_nothing_is_told_of_an_engine_that_is_gone() -> None:
    machine = Machine()
    reader = machine.reader()
    reader.read(ENGINE)
    machine.work(1.0, 0.0, 0.0)
    del machine.of[ENGINE]
    assert reader.read(ENGINE) is None
    assert reader.read(None) is None
    machine.at_ns += SECOND
    machine.all.user += 2.0
    use = reader.read(None)
    assert use is not None
    assert (use.engine, use.others) == (0.0, 2.0)


def test_that_a_clock_that_stands_and_counters_that_fall_tell_nothing_absurd() -> None:
    machine = Machine()
    reader = machine.reader()
    reader.read(ENGINE)
    assert reader.read(ENGINE) is None
    machine.at_ns += SECOND
    machine.all.user -= 50.0
    use = reader.read(ENGINE)
    assert use is not None
    assert (use.engine, use.others) == (0.0, 0.0)
    machine.work(0.0, 0.0, 90.0)
    use = reader.read(ENGINE)
    assert use is not None
    assert use.others == 2.0


def test_that_this_machine_and_this_process_can_be_read() -> None:
    reader = CoreReader()
    assert reader.read(os.getpid()) is None
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
    use = reader.read(os.getpid())
    assert use is not None
    assert use.cores == (psutil.cpu_count() or 1)
    assert 0.0 < use.engine <= use.cores
    assert 0.0 <= use.others <= use.cores
