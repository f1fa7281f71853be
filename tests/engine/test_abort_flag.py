"""What a step has computed can be seen from outside, and it can be ended from there."""

from __future__ import annotations

import sys
import threading

import pytest

from engine_bridge.child import llama
from engine_bridge.child.abort_flag import SHALL_STOP, AbortFlag
from tests.engine.harness import InProcess, random_tokens, tiny_config

pytestmark = pytest.mark.engine
linux = pytest.mark.skipif(sys.platform != "linux", reason="operations are counted on Linux alone")


@linux
def test_that_operations_are_counted_while_a_step_is_under_way(
    desk: InProcess, tiny_path: object
) -> None:
    desk.load(tiny_config(tiny_path, ctx_per_slot_tok=4096))
    seen: list[int] = []
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            seen.extend(llama.STEPS.computed().values())

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        desk.answer(random_tokens(3000), max_new_tok=1)
    finally:
        is_over.set()
        watcher.join()
    assert len(set(seen)) > 1
    assert max(seen) > 0
    assert llama.STEPS.computed() == {}


@linux
def test_that_a_flag_counts_what_was_asked_of_it_until_it_says_stop() -> None:
    flag = AbortFlag()
    ask = llama.LIB.ggml_abort_callback(SHALL_STOP)
    assert not ask(flag.address)
    assert not ask(flag.address)
    assert flag.computed == 2
    flag.request(True)
    assert ask(flag.address)
    flag.request(False)
    assert not ask(flag.address)
    assert flag.computed == 1
