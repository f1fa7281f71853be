"""Deaths in sentences."""

from __future__ import annotations

import signal

import pytest

from engine_bridge.engine_state import (
    DeathKind,
    LastMemory,
    death_by_exit,
    death_by_signal,
    recent,
)


def test_that_the_telling_line_of_stderr_is_quoted() -> None:
    stderr = ["loading", "ggml_cuda: out of memory", "current device: 0", "  "]
    death = death_by_exit(1, "loading x.gguf", stderr, (4,))
    assert death.kind is DeathKind.EXITED
    assert death.sentence == (
        "The engine ended with exit code 1 while loading x.gguf. "
        "Memory ran out: a buffer did not fit into the memory of CUDA0. "
        "Try a smaller context, fewer slots or a quantised cache. "
        "It said: “ggml_cuda: out of memory”. "
        "Your conversations are kept; restart the engine to go on."
    )
    assert death.stderr == tuple(stderr)
    assert death.lost_request_ids == (4,)


def test_that_nothing_is_quoted_where_no_line_tells_why() -> None:
    reason = death_by_exit(3, "idle", ["loading", "ready", ""], ())
    assert "It said" not in reason.sentence
    assert reason.stderr == ("loading", "ready", "")


def test_that_a_long_line_is_cut() -> None:
    sentence = death_by_exit(2, "idle", ["error " + "x" * 5000], ()).sentence
    assert len(sentence) < 450
    assert "x…" in sentence


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (int(signal.SIGSEGV), "SIGSEGV"),
        (int(signal.SIGABRT), "SIGABRT"),
        (100, "signal 100"),
        (-1073741819, "0xC0000005"),
    ],
)
def test_that_signals_and_exception_codes_are_named(number: int, name: str) -> None:
    death = death_by_signal(number, "writing an answer", [], ())
    assert death.signal_name == name
    assert death.sentence.startswith(f"The engine was ended by {name} while writing an answer.")
    assert death.exit_code is None


GIB = 2**30


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a signal of POSIX")
@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (None, "Another program or the system did that."),
        (LastMemory(), "Another program or the system did that."),
        (
            LastMemory(int(22.6 * GIB), 24 * GIB),
            "Another program or the system did that; 22.6 GiB of system memory were free",
        ),
        (LastMemory(GIB, 24 * GIB), "Only 1.0 GiB of system memory were free just before"),
        (LastMemory(20 * GIB, 24 * GIB, has_run_out=True), "System memory had run out"),
        (LastMemory(has_run_out=True), "System memory had run out"),
    ],
)
def test_that_a_kill_blames_memory_only_where_memory_was_short(
    memory: LastMemory | None, said: str
) -> None:
    sentence = death_by_signal(signal.SIGKILL, "idle", [], (), memory).sentence
    assert said in sentence
    is_memory = memory is not None and (memory.has_run_out or memory.was_short)
    assert ("smaller context" in sentence) == is_memory
    assert ("Another program" in sentence) != is_memory


def test_that_the_cause_of_a_death_leaves_the_way_on_to_others() -> None:
    death = death_by_signal(signal.SIGKILL, "idle", [], (), None)
    assert death.sentence.startswith(death.cause)
    assert "restart" in death.sentence
    assert "restart" not in death.cause


def test_that_only_what_was_said_lately_may_tell_why() -> None:
    lines, times_s = ("error: long ago", "error: just now"), (1000.0, 4990.0)
    assert recent(lines, times_s, now_s=5000.0) == ("error: just now",)
