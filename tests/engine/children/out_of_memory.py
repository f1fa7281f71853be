"""Loads and changes in a process that may not have much memory; a process of its own, so limited.

``python -m tests.engine.children.out_of_memory MODEL ROOM_MIB KNOWN`` leaves itself ROOM_MIB of
address space beside what it has, asks for far more, follows the repair, and prints a ``Report`` as
JSON. Where KNOWN is ``hidden``, the check before a load believes that all is well, as where another
program takes the memory in the meantime.
"""

from __future__ import annotations

import resource
import sys

import msgspec
import psutil

from engine_bridge.child import engine, loader
from engine_bridge.child.memory_check import Checked
from engine_bridge.protocol import Applied, Load, Refused
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config

HUGE: dict[str, object] = {"ctx_per_slot_tok": 32_768, "slots": 16}


class Report(msgspec.Struct):
    """What came of it.

    Attributes:
        load: The refusal of a huge configuration where nothing ran.
        loaded: What the engine made of its repair.
        change: The refusal of the same beside a small one that ran.
        still_tok: Tokens of an answer by what ran, after that.
        changed: What the engine made of the repair of the change.
    """

    load: Refused
    loaded: Applied
    change: Refused
    still_tok: int
    changed: Applied


def main(path: str, room_mib: str, known: str) -> None:
    small = tiny_config(path)
    huge = small.with_values(HUGE)
    if known == "hidden":
        for module in (loader, engine):
            setattr(module, "check_memory", lambda *_, **__: Checked())  # noqa: B010
    most = psutil.Process().memory_info().vms + int(room_mib) * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with InProcess() as desk:
        load = refused_load(desk, huge)
        loaded = desk.load(repaired(huge, load))
    with InProcess() as desk:
        desk.load(small)
        change = desk.apply(huge)
        assert isinstance(change, Refused), change
        _, finished = desk.answer(random_tokens(8), max_new_tok=4, ignore_eog=True)
        changed = desk.apply(repaired(huge, change))
        assert isinstance(changed, Applied), changed
    report = Report(load, loaded, change, finished.timing.new_tok, changed)
    sys.stdout.buffer.write(msgspec.json.encode(report))


def refused_load(desk: InProcess, config: EngineConfig) -> Refused:
    request_id = desk.number()
    desk.send(Load(request_id, config))
    answer = desk.answer_to(request_id)
    assert isinstance(answer, Refused), answer
    return answer


def repaired(config: EngineConfig, refused: Refused) -> EngineConfig:
    fix: dict[str, object] = dict(refused.problem.fix)
    assert fix, refused.problem
    return config.with_values(fix)


if __name__ == "__main__":
    main(*sys.argv[1:])
