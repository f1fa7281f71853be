"""Turns that go on, are edited and branch: no more is computed again than llama-server computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bridge.child.template import TemplateRenderer
from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.engine.harness import InProcess, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import TinyWindow, write_tiny_window
from tests.engine.turns import (
    BY_TURNS,
    NEW_TOK,
    REOPENED,
    TURNS,
    computed,
    our_way,
    server_flags,
    their_way,
)
from tests.tiny_model import CHATML

pytestmark = pytest.mark.engine
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
CTX_TOK = 2048
# What a template writes behind an answer: a stop for it would cost more than computing it.
BEHIND_ANSWER_TOK = 8
# An answer begins with words that are no longer there once it is history.
THINKING = CHATML.replace("assistant\n{% endif", "assistant\nlet me think {% endif")


@pytest.fixture(scope="module", params=["window", "hybrid", "hybrid that thinks"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose memory cannot be cut, with a chat template."""
    file = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    if request.param == "window":
        return write_tiny_window(file, TinyWindow(chat_template=CHATML))
    template = THINKING if "thinks" in request.param else CHATML
    return write_tiny_hybrid(file, TinyHybrid(seed=1, chat_template=template))


@pytest.fixture
def renderer() -> Iterator[TemplateRenderer]:
    renderer = TemplateRenderer(deadline_s=60.0)
    yield renderer
    renderer.close()


def test_that_an_edited_message_goes_back_to_where_it_begins(
    path: Path, renderer: TemplateRenderer
) -> None:
    with InProcess(renderer) as desk:
        desk.load(config_of(path))
        ask = our_way(desk, "a")
        ask(REOPENED["opened again"])
        for edited in ("its last message edited", "its first message edited"):
            again_tok = ask(REOPENED[edited])
            slot = desk.batcher.slots[0]
            from_start_tok = slot.cached - NEW_TOK + 1 - slot.message_starts[-1]
            assert 0 < again_tok <= from_start_tok


def config_of(path: Path) -> EngineConfig:
    return tiny_config(path, ctx_per_slot_tok=CTX_TOK, batch_tok=128, ubatch_tok=64)


def our_figures(path: Path, renderer: TemplateRenderer) -> dict[str, int]:
    figures: dict[str, int] = {}
    with InProcess(renderer) as desk:
        for turns in (TURNS, REOPENED):
            desk.load(config_of(path))
            figures |= computed(our_way(desk, "a"), turns)
    return figures


def their_figures(path: Path) -> dict[str, int]:
    figures: dict[str, int] = {}
    for turns in (TURNS, REOPENED):
        server = ServerProcess(LLAMA_SERVER, server_flags(path, CTX_TOK))
        try:
            figures |= computed(their_way(server.port), turns)
        finally:
            server.close()
    return figures


@pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server")
def test_that_no_more_is_computed_again_than_by_llama_server(
    path: Path, renderer: TemplateRenderer
) -> None:
    theirs, ours = their_figures(path), our_figures(path, renderer)
    assert not excess(ours, theirs)


@pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server")
@pytest.mark.parametrize("is_unified", [False, True])
def test_that_conversations_by_turns_on_fewer_slots_compute_no_more(
    path: Path, renderer: TemplateRenderer, is_unified: bool
) -> None:
    server = ServerProcess(LLAMA_SERVER, server_flags(path, CTX_TOK, slots=2))
    try:
        theirs = computed(their_way(server.port), BY_TURNS)
    finally:
        server.close()
    with InProcess(renderer) as desk:
        desk.load(config_of(path).with_values({"slots": 2, "kv_unified": is_unified}))
        ours = computed(our_way(desk), BY_TURNS)
    assert not excess(ours, theirs)
    assert sum(ours.values()) < sum(theirs.values())


def excess(ours: dict[str, int], theirs: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Turns of which the desk computes more than llama-server, beside a few tokens."""
    both = {turn: (ours[turn], theirs[turn]) for turn in theirs}
    return {turn: (a, b) for turn, (a, b) in both.items() if a > b + BEHIND_ANSWER_TOK}
