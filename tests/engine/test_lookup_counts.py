"""Counts of other texts at work: refused with a reason, and drafting what llama-server drafts."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.child.speculation import lookup_files
from engine_bridge.child.speculation.lookup_counts import LookupCounts, read_lookup
from engine_bridge.protocol import Applied, Apply, Refused, TokensDelivered
from engine_bridge.settings.config import EngineConfig
from tests.bench.drafters import Server
from tests.bench.engine import layout_config
from tests.bench.work import Layout
from tests.engine.harness import InProcess, random_tokens
from tests.unit.lookup_files import write_lookup
from tests.unit.ngram_reference import Counts, count

pytestmark = pytest.mark.engine
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
STATIC, DYNAMIC = "lookup_cache_static_path", "lookup_cache_dynamic_path"
NEW_TOK = 120
# Longer than any answer here takes on a loaded machine; a test that fails waits so long.
_PATIENCE_S = 60.0


@pytest.fixture
def layout(few_words_path: Path) -> Layout:
    return Layout(few_words_path, 1, 1024, 1)


@pytest.fixture
def config(layout: Layout) -> EngineConfig:
    return layout_config(layout).with_values({"spec_types": ("ngram-cache",)})


def _prompt() -> list[int]:
    return random_tokens(20, seed=3, high=310)


def _files(desk: InProcess, config: EngineConfig, folder: Path) -> tuple[Path, Path]:
    """Counts of what the model says itself: pairs of its first half, all of its second."""
    desk.load(config)
    desk.answer(_prompt(), max_new_tok=NEW_TOK, ignore_eog=True)
    slot = desk.batcher.slots[0]
    said: list[int] = slot.tokens[: slot.cached].tolist()
    pairs: Counts = {}
    longer: Counts = {}
    count(pairs, said[: len(said) // 2], (2,))
    count(longer, 2 * said[len(said) // 2 :])
    return write_lookup(folder / "static", pairs), write_lookup(folder / "dynamic", longer)


@pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server")
def test_that_as_much_is_drafted_as_by_llama_server(
    desk: InProcess, config: EngineConfig, layout: Layout, tmp_path: Path
) -> None:
    static, dynamic = _files(desk, config, tmp_path)
    drafted = set()
    for values in ({}, {STATIC: static}, {DYNAMIC: dynamic}, {STATIC: static, DYNAMIC: dynamic}):
        with_files = config.with_values({key: str(path) for key, path in values.items()})
        with closing(Server(LLAMA_SERVER, layout, with_files)) as server:
            theirs = server.answer(_prompt(), NEW_TOK)
        desk.load(with_files)
        text, finished = desk.answer(_prompt(), max_new_tok=NEW_TOK, ignore_eog=True)
        timing = finished.timing
        assert text == theirs.text
        assert (timing.drafted_tok, timing.accepted_tok) == (
            theirs.drafted_tok, theirs.accepted_tok,
        )  # fmt: skip
        drafted.add((timing.drafted_tok, timing.accepted_tok))
    assert len(drafted) == 4, "each file makes a difference"


def test_that_counts_are_taken_while_an_answer_runs(
    desk: InProcess, config: EngineConfig, tmp_path: Path
) -> None:
    static, _ = _files(desk, config, tmp_path)
    text, plain = desk.answer(_prompt(), max_new_tok=NEW_TOK, ignore_eog=True, conversation="a")
    with_file = config.with_values({STATIC: str(static)})
    request_id = desk.ask(_prompt(), max_new_tok=NEW_TOK, ignore_eog=True, conversation="b")
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    desk.send(Apply(900, with_file))
    timing = desk.finished(request_id).timing
    assert desk.all_of(Applied)[-1].cost == "live"
    assert desk.text(request_id) == text
    assert timing.drafted_tok > plain.timing.drafted_tok


def test_that_a_file_of_another_vocabulary_is_refused_at_once(
    desk: InProcess, config: EngineConfig, tmp_path: Path
) -> None:
    other = write_lookup(tmp_path / "other", {(1, 2): {100_000: 3}})
    asked = config.with_values({DYNAMIC: str(other)})
    planner = Planner()
    try:
        (problem,) = planner.plan(asked).problems
    finally:
        planner.close()
    assert "counted with another vocabulary" in problem.message
    desk.load(config)
    desk.send(Apply(901, asked))
    desk.until(lambda: bool(desk.all_of(Refused)))
    (refused,) = desk.all_of(Refused)
    assert "counted with another vocabulary" in refused.problem.message
    assert refused.problem.fix == {DYNAMIC: ""}
    # Without the drafter nobody reads it.
    desk.load(asked.with_values({"spec_types": ()}))


# --- When a file is read ---------------------------------------------------------------------


class _Gate:
    """Readings of files that end when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_end = threading.Event(), threading.Event()
        monkeypatch.setattr(lookup_files, "read_lookup", self._read)

    def _read(self, path: str, vocab_tok: int) -> LookupCounts:
        self.has_begun.set()
        assert self.may_end.wait(_PATIENCE_S)
        return read_lookup(path, vocab_tok)


def test_that_an_answer_goes_on_while_a_file_is_read(
    desk: InProcess, config: EngineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next change waits for the one that needs the file."""
    static, _ = _files(desk, config, tmp_path)
    gate = _Gate(monkeypatch)
    request_id = desk.ask(_prompt(), max_new_tok=NEW_TOK, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    with_file = config.with_values({STATIC: str(static)})
    desk.send(Apply(900, with_file))
    desk.send(Apply(901, with_file.with_values({"draft_n_max": 5})))
    desk.finished(request_id)
    assert gate.has_begun.is_set()
    assert not [e for e in desk.all_of(Applied) if e.request_id in (900, 901)]
    gate.may_end.set()
    desk.answer_to(901)
    assert [e.request_id for e in desk.all_of(Applied)][-2:] == [900, 901]


def test_that_each_file_is_read_once_and_not_by_the_thread_of_the_tokens(
    desk: InProcess, config: EngineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static, dynamic = _files(desk, config, tmp_path)
    read: list[tuple[str, bool]] = []

    def reading(path: str, vocab_tok: int) -> LookupCounts:
        read.append((Path(path).name, threading.current_thread() is threading.main_thread()))
        return read_lookup(path, vocab_tok)

    def plan(planned: EngineConfig) -> None:
        planner = Planner()
        planner.plan(planned)
        planner.close()

    monkeypatch.setattr(lookup_files, "read_lookup", reading)
    one = config.with_values({STATIC: str(static)})
    both = one.with_values({DYNAMIC: str(dynamic)})
    thread = threading.Thread(target=plan, args=(one,))
    thread.start()
    thread.join()
    assert isinstance(desk.apply(one), Applied)
    assert isinstance(desk.apply(both), Applied)
    assert isinstance(desk.apply(both.with_values({"ctx_per_slot_tok": 2048})), Applied)
    desk.load(both)
    assert read == [("static", False), ("dynamic", False)]


def test_that_a_load_takes_the_place_of_a_change_that_waits_for_a_file(
    desk: InProcess, config: EngineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static, _ = _files(desk, config, tmp_path)
    gate = _Gate(monkeypatch)
    desk.send(Apply(900, config.with_values({STATIC: str(static)})))
    desk.until(gate.has_begun.is_set)
    desk.load(config)
    refused = desk.refused(900)
    assert refused.is_cancelled
    assert "Another load was asked for" in refused.problem.message
    gate.may_end.set()
