"""Checkpoints: a changed text goes back to a copy, and goes on as if all had been computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.host_room import HostRoom
from engine_bridge.child.planner import Planner
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.engine.tiny_window import write_tiny_window
from tests.tiny_model import TinyMamba, write_tiny_mamba

pytestmark = pytest.mark.engine
HISTORY = random_tokens(700)


@pytest.fixture(scope="module", params=["window", "mamba", "hybrid"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose memory cannot be cut."""
    file = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    if request.param == "window":
        return write_tiny_window(file)
    if request.param == "mamba":
        return write_tiny_mamba(file, TinyMamba(vocab_tok=512))
    return write_tiny_hybrid(file, TinyHybrid(seed=1))


def config_of(path: Path, **values: object) -> EngineConfig:
    return tiny_config(
        path, **({"ctx_per_slot_tok": 1024, "batch_tok": 128, "ubatch_tok": 128} | values)
    )


def asked(desk: InProcess, prompt: list[int], conversation: str = "a") -> tuple[str, int, str]:
    """The answer, the tokens reused and why others were computed again."""
    request_id = desk.ask(prompt, conversation=conversation, max_new_tok=30, ignore_eog=True)
    desk.finished(request_id)
    started = desk.started(request_id)
    return desk.text(request_id), started.reused_tok, started.recompute_reason


def computed(desk: InProcess, path: Path, prompt: list[int]) -> str:
    """The answer of an engine that knows nothing of before."""
    desk.load(config_of(path, cache_prompt=False))
    return asked(desk, prompt)[0]


def test_that_an_edited_message_goes_back_to_the_turn_before_it(
    desk: InProcess, path: Path
) -> None:
    desk.load(config_of(path))
    asked(desk, HISTORY)
    slot = desk.batcher.slots[0]
    history = slot.tokens[: slot.cached].tolist()
    first = [*history, *random_tokens(50, seed=1)]
    assert asked(desk, first)[1] == len(history)
    edited = [*history, *random_tokens(60, seed=2)]
    answer, reused, reason = asked(desk, edited)
    assert reused == len(history)
    assert "differs from token" in reason
    assert answer == computed(desk, path, edited)


def test_that_the_same_prompt_again_computes_its_last_tokens_alone(
    desk: InProcess, path: Path
) -> None:
    desk.load(config_of(path))
    whole, _, _ = asked(desk, HISTORY)
    again, reused, reason = asked(desk, HISTORY)
    assert len(HISTORY) - reused <= 4
    assert reason == ""
    assert again == whole


def test_that_without_checkpoints_all_is_computed_again_and_said(
    desk: InProcess, path: Path
) -> None:
    desk.load(config_of(path, ctx_checkpoints=0))
    whole, _, _ = asked(desk, HISTORY)
    changed = [*HISTORY[:300], *random_tokens(100, seed=3)]
    _, reused, reason = asked(desk, changed)
    assert reused == 0
    assert "300 matching tokens are computed again" in reason
    assert "state" in reason or "window" in reason
    assert asked(desk, HISTORY)[0] == whole


def test_that_a_long_prompt_leaves_checkpoints_on_its_way(desk: InProcess, path: Path) -> None:
    desk.load(config_of(path, checkpoint_min_step_tok=200))
    asked(desk, HISTORY)
    places = [point.tokens for point in desk.batcher.slots[0].checkpoints]
    # Every 200, a micro-batch before the end, and where a template's last words begin.
    assert places == [200, 400, 568, 696]
    changed = [*HISTORY[:450], *random_tokens(30, seed=3)]
    answer, reused, reason = asked(desk, changed)
    assert reused == 400
    assert "checkpoint" in reason
    assert answer == computed(desk, path, changed)


def test_that_old_checkpoints_make_way(desk: InProcess, path: Path) -> None:
    desk.load(config_of(path, ctx_checkpoints=2, checkpoint_min_step_tok=200))
    asked(desk, HISTORY)
    assert [point.tokens for point in desk.batcher.slots[0].checkpoints] == [568, 696]


def test_that_no_checkpoint_is_taken_where_memory_is_short(
    desk: InProcess, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostRoom, "has", lambda _, size_bytes: False)
    desk.load(config_of(path))
    whole, _, _ = asked(desk, HISTORY)
    assert not desk.batcher.slots[0].checkpoints
    assert asked(desk, HISTORY)[0] == whole


def test_that_a_plan_knows_what_checkpoints_take(desk: InProcess, path: Path) -> None:
    """Not less than they do, and hardly more."""
    config = config_of(path, cache_ram_mib=0, ctx_checkpoints=1)
    applied = desk.load(config)
    planner = Planner()
    planned = planner.plan(config).host_caches
    planner.close()
    # Of a real hybrid the log tells the state, to a hundredth of a MiB.
    assert applied.memory.host_caches == pytest.approx(planned, abs=2**14)
    asked(desk, HISTORY)
    (point,) = desk.batcher.slots[0].checkpoints
    assert point.state.nbytes <= planned * 1.02 + 1024
    assert point.state.nbytes >= planned * 0.9


def test_that_a_cache_that_can_be_cut_needs_none(desk: InProcess, few_words_path: Path) -> None:
    desk.load(config_of(few_words_path))
    asked(desk, HISTORY)
    assert not desk.batcher.slots[0].checkpoints
    assert asked(desk, HISTORY[:650])[1] == 649


def test_that_gemma_goes_back_behind_its_window(desk: InProcess) -> None:
    """A second turn continues; an edited one goes back to where it began."""
    config = tiny_config(models.gemma_path(), ctx_per_slot_tok=2048, ubatch_tok=64, batch_tok=512)
    desk.load(config)
    desk.answer(random_tokens(560, low=2000, high=3000), max_new_tok=1, conversation="a")
    slot = desk.batcher.slots[0]
    history = slot.tokens[: slot.cached].tolist()
    # The first of them moves the window's 768 cells on, beyond what the other one needs.
    for length in (300, 10):
        turn = [*history, *random_tokens(length, seed=length, low=2000, high=3000)]
        request_id = desk.ask(turn, max_new_tok=1, conversation="a")
        desk.finished(request_id)
        assert desk.started(request_id).reused_tok == len(history)
