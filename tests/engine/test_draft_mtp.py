"""Layers of the model's own guess ahead: never another text, and every byte of them foreseen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.child.speculation.draft_mtp import DraftMtp
from engine_bridge.gguf_file import read_tensors
from engine_bridge.protocol import Applied, Cancel, Logged, Refused, TokensDelivered
from engine_bridge.settings.config import EngineConfig
from tests.engine.drafts import EXACT, prompts
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp, write_tiny_mtp_chain

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def mtp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hybrid of few words with a layer that guesses ahead."""
    return write_tiny_mtp(tmp_path_factory.mktemp("models") / "mtp.gguf")


def guessing(path: Path, **values: object) -> EngineConfig:
    """The tiny configuration with draft-mtp."""
    return tiny_config(path, spec_types=["draft-mtp"], **EXACT | values)


def drafter_of(desk: InProcess) -> DraftMtp:
    """The guessing layers at work."""
    drafter = desk.batcher._drafting.drafters["draft-mtp"]
    assert isinstance(drafter, DraftMtp)
    return drafter


def plain_texts(desk: InProcess, config: EngineConfig, count: int, tokens: int) -> list[str]:
    """What the model says without drafts."""
    desk.load(config.with_values({"spec_types": ()}))
    return [desk.answer(p, max_new_tok=tokens, ignore_eog=True)[0] for p in prompts(count)]


@pytest.mark.parametrize(("slots", "kv_unified"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("kinds", [("draft-mtp",), ("ngram-simple", "draft-mtp")])
def test_that_guesses_of_its_own_change_no_text(
    desk: InProcess, mtp_path: Path, slots: int, kv_unified: bool, kinds: tuple[str, ...]
) -> None:
    config = guessing(mtp_path, slots=slots, kv_unified=kv_unified, ngram_size_n=2, ngram_size_m=8)
    plain = plain_texts(desk, config, slots, 150)
    desk.load(config.with_values({"spec_types": kinds}))
    ids = [desk.ask(prompt, max_new_tok=150, ignore_eog=True) for prompt in prompts(slots)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [desk.text(request_id) for request_id in ids] == plain
    accepted = sum(timing.accepted_tok for timing in timings)
    assert 20 < accepted < sum(timing.drafted_tok for timing in timings)
    assert not desk.all_of(Logged)


def test_that_its_cache_stays_in_step(desk: InProcess, mtp_path: Path) -> None:
    """Of what the model computed nothing is missing, of what was rejected nothing is left."""
    desk.load(guessing(mtp_path, slots=2))
    context = desk.batcher.context
    mtp = context.mtp
    assert mtp is not None
    saw, seen = drafter_of(desk).saw, list[int]()

    def checking(batch: Any, parts: Any) -> None:
        saw(batch, parts)
        for part in parts:
            assert mtp.seq_pos_max(part.seq) == part.first + part.tokens - 1
            assert mtp.seq_pos_min(part.seq) == 0
            seen.append(part.tokens)

    drafter_of(desk).saw = checking  # type: ignore[method-assign]
    ids = [desk.ask(prompt, max_new_tok=60, ignore_eog=True) for prompt in prompts(2)]
    for request_id in ids:
        timing = desk.finished(request_id).timing
        assert timing.drafted_tok > timing.accepted_tok
    assert max(seen) == 30  # the prompts
    slot = desk.batcher.slots[0]
    longer = [*slot.tokens[: slot.cached].tolist(), *random_tokens(5, seed=9, high=310)]
    conversation = slot.conversation_id
    desk.answer(longer, max_new_tok=10, ignore_eog=True, conversation=conversation)
    assert max(seen) == 30


def test_that_a_confidence_ends_guesses_early(desk: InProcess, mtp_path: Path) -> None:
    config = guessing(mtp_path)
    desk.load(config)

    def drafted_at(**values: object) -> int:
        answer = desk.apply(config.with_values(values))
        assert isinstance(answer, Applied)
        assert answer.cost == "live"
        finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)[1]
        return len(finished.timing.drafted_at)

    assert drafted_at() == 3
    assert drafted_at(draft_n_max=2) == 2
    assert drafted_at(draft_n_max=2, draft_p_min=1.0) == 0
    assert drafted_at(draft_n_max=2, draft_n_min=3) == 0


def test_that_guessing_layers_come_with_a_load_and_go_with_one(
    desk: InProcess, mtp_path: Path
) -> None:
    config = guessing(mtp_path)
    (plain,) = plain_texts(desk, config, 1, 60)
    assert desk.batcher.context.mtp is None
    on = desk.apply(config)
    assert isinstance(on, Applied)
    assert on.cost == "reload"
    text, finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)
    assert (text, finished.timing.accepted_tok > 0) == (plain, True)
    other = desk.apply(config.with_values({"draft_cache_type_k": "f16"}))
    assert isinstance(other, Applied)
    assert other.cost == "new context"
    assert other.memory.bytes.draft < on.memory.bytes.draft
    text, finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)
    assert (text, finished.timing.accepted_tok > 0) == (plain, True)
    off = desk.apply(config.with_values({"spec_types": ("ngram-simple",)}))
    assert isinstance(off, Applied)
    # A copy of the state that slots would go back to.
    assert (off.cost, off.memory.bytes.draft) == ("reload", off.memory.bytes.recurrent)


def test_that_an_answer_goes_on_in_a_new_context(desk: InProcess, mtp_path: Path) -> None:
    """There its guessing layers have seen nothing of the text that came along."""
    config = guessing(mtp_path, slots=2)
    (plain,) = plain_texts(desk, config, 1, 300)
    desk.load(config)
    request_id = desk.ask(prompts(1)[0], max_new_tok=300, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    changed = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(changed, Applied)
    before = desk.batcher.streams[0].timing(0).accepted_tok
    timing = desk.finished(request_id).timing
    assert desk.text(request_id) == plain
    assert timing.accepted_tok > before
    assert not desk.all_of(Logged)


def test_that_a_fault_of_the_guessing_layers_spares_the_answer(
    desk: InProcess, mtp_path: Path
) -> None:
    config = guessing(mtp_path)
    (plain,) = plain_texts(desk, config, 1, 60)
    desk.load(config)
    mtp = desk.batcher.context.mtp
    assert mtp is not None
    decode, codes = mtp.decode, [0, 0, -3, 0, 0, -3, 1, 1]

    def failing(batch: Any, count: int) -> int:
        return (codes.pop(0) if codes else 0) or decode(batch, count)

    mtp.decode = failing  # type: ignore[method-assign]
    text, finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)
    assert text == plain
    assert finished.timing.accepted_tok > 0
    (said,) = desk.all_of(Logged)
    assert "could not compute a guess of the model's own (code -3)" in said.text


def test_that_a_cancel_ends_a_guess_under_way(desk: InProcess, mtp_path: Path) -> None:
    config = guessing(mtp_path, slots=2)
    (_, whole) = plain_texts(desk, config, 2, 60)
    desk.load(config)
    drafter_of(desk).steps.pace.expected_s = lambda prompt_tok: 60.0  # type: ignore[method-assign]
    mtp = desk.batcher.context.mtp
    assert mtp is not None
    decode, codes = mtp.decode, list[int]()

    def cancelled_inside(batch: Any, count: int) -> int:
        if not codes:
            desk.send(Cancel(request_id))  # what the window does while llama.cpp computes
        codes.append(decode(batch, count))
        return codes[-1]

    request_id = desk.ask(prompts(1)[0], max_new_tok=200, ignore_eog=True)
    other = desk.ask(prompts(2)[1], max_new_tok=60, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, other)))
    mtp.decode = cancelled_inside  # type: ignore[method-assign]
    assert desk.finished(request_id).reason == "cancelled"
    assert desk.finished(other).reason == "token_limit"
    assert desk.text(other) == whole
    assert codes[0] == 2
    assert set(codes[1:]) == {0}


_PLANS: dict[str, dict[str, object]] = {
    "without": {"spec_types": []},
    "as it comes": {},
    "three odd slots, long drafts": {"slots": 3, "ctx_per_slot_tok": 300, "draft_n_max": 16},
    "shared pool": {"slots": 4, "kv_unified": True, "ctx_total_tok": 1024},
    "a cache of its own": {"cache_type_k": "q8_0", "draft_cache_type_v": "q8_0"},
    "read, not mapped": {"load_mode": "none"},
}


@pytest.mark.parametrize("values", _PLANS.values(), ids=_PLANS.keys())
def test_that_guessing_layers_take_what_was_planned(
    desk: InProcess, mtp_path: Path, values: dict[str, object]
) -> None:
    config = tiny_config(mtp_path, **{"spec_types": ["draft-mtp"]} | values)
    planner = Planner()
    try:
        planned = planner.plan(config)
    finally:
        planner.close()
    loaded = desk.load(config).memory
    assert planned.effective == loaded.effective
    # What of a hybrid's memory is state, a real context says in its log alone, rounded.
    rounded = 2 * 0.01 * 2**20
    both = [
        (p.kv + p.recurrent, p.total - p.draft, p.host - p.draft, p.weights_mapped)
        for p in (planned.bytes, loaded.bytes)
    ]
    assert both[0] == both[1]
    assert planned.bytes.recurrent == pytest.approx(loaded.bytes.recurrent, abs=rounded)
    # Among it copies of states.
    assert planned.bytes.draft == pytest.approx(loaded.bytes.draft, abs=rounded)
    assert (planned.bytes.draft > 0) == bool(config.spec_types)
    assert planned.bytes.compute == loaded.bytes.compute
    assert planned.bytes.output == loaded.bytes.output


def test_that_states_to_go_back_to_are_kept_for_each_draft(mtp_path: Path) -> None:
    planner = Planner()
    try:
        states = [
            planner.plan(guessing(mtp_path, slots=2, draft_n_max=most)).bytes.recurrent
            for most in (1, 3, 7)
        ]
    finally:
        planner.close()
    assert [size / states[0] for size in states] == [1, 2, 4]


def test_that_a_model_without_such_layers_is_refused(
    desk: InProcess, few_words_path: Path, mtp_path: Path
) -> None:
    desk.load(tiny_config(few_words_path))
    refused = desk.apply(guessing(few_words_path))
    assert isinstance(refused, Refused)
    assert "no such drafts for llama models" in refused.problem.message
    assert refused.problem.fix == {"spec_types": ()}
    narrow = desk.apply(guessing(mtp_path, ubatch_tok=4, draft_n_max=3))
    assert isinstance(narrow, Refused)  # llama.cpp would abort
    assert narrow.problem.fix == {"ubatch_tok": 8}


def test_that_wider_shapes_draft_too(desk: InProcess, tmp_path: Path) -> None:
    path = write_tiny_mtp(tmp_path / "wide.gguf", TinyMtp(layers=4, width=96, seed=3))
    config = guessing(path, draft_n_max=6)
    (plain,) = plain_texts(desk, config, 1, 100)
    desk.load(config)
    text, finished = desk.answer(prompts(1)[0], max_new_tok=100, ignore_eog=True)
    assert text == plain
    assert finished.timing.drafted_tok > 0


@pytest.mark.parametrize("slots", [1, 3])
def test_that_several_layers_make_a_token_each(desk: InProcess, tmp_path: Path, slots: int) -> None:
    """Behind a sliding window, where every layer has a cache of its own to catch up in."""
    path = write_tiny_mtp_chain(tmp_path / "chain.gguf")
    config = guessing(path, slots=slots, draft_n_max=5)
    plain = plain_texts(desk, config, slots, 120)
    planner = Planner()
    try:
        planned = planner.plan(config).bytes
    finally:
        planner.close()
    assert desk.load(config).memory.bytes == planned
    ids = [desk.ask(prompt, max_new_tok=120, ignore_eog=True) for prompt in prompts(slots)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [desk.text(request_id) for request_id in ids] == plain
    for timing in timings:
        assert len(timing.drafted_at) == 2
        assert 0 < timing.accepted_at[1] <= timing.accepted_at[0] < timing.drafted_at[0]
    assert not desk.all_of(Logged)


@pytest.mark.parametrize("kv_unified", [False, True])
def test_that_guesses_go_on_behind_a_shift(
    desk: InProcess, tmp_path: Path, kv_unified: bool
) -> None:
    """The cells of the guessing layers move as the model's do: no guess is made from scratch."""
    path = write_tiny_mtp_chain(tmp_path / "chain.gguf")
    config = guessing(
        path, slots=2, ctx_per_slot_tok=256, kv_unified=kv_unified, context_shift=True,
        swa_full=True, keep_tok=10,
    )  # fmt: skip
    plain = plain_texts(desk, config, 2, 500)
    desk.load(config)
    mtp = desk.batcher.context.mtp
    assert mtp is not None
    drafter = drafter_of(desk)
    saw, shifted, held = drafter.saw, drafter.shifted, list[int]()

    def looking(batch: Any, parts: Any) -> None:
        saw(batch, parts)
        for part in parts:
            # As far back as a window of 64 sees; a full cache takes cells that lie behind it.
            assert mtp.seq_pos_min(part.seq) <= max(0, part.first - 63)
            assert mtp.seq_pos_max(part.seq) == part.first + part.tokens - 1

    def counting(seq: int, what: Any) -> None:
        shifted(seq, what)
        held.append(mtp.seq_pos_max(seq) + 1)

    drafter.saw, drafter.shifted = looking, counting  # type: ignore[method-assign]
    ids = [desk.ask(prompt, max_new_tok=500, ignore_eog=True) for prompt in prompts(2)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [desk.text(request_id) for request_id in ids] == plain
    assert len(held) >= 6
    assert min(held) > 100
    for timing in timings:
        assert timing.dropped_tok > 300
        assert 0 < timing.accepted_tok < timing.drafted_tok
    assert not desk.all_of(Logged)


def test_that_guesses_go_on_where_states_are_copied(desk: InProcess, mtp_path: Path) -> None:
    """As for models of which llama.cpp keeps no states to go back to (qwen3next)."""
    config = guessing(mtp_path, slots=2)
    plain = plain_texts(desk, config, 2, 120)
    desk.load(config)
    assert desk.batcher.context.rollback_tok == 3
    desk.batcher.context.rollback_tok = 0
    ids = [desk.ask(prompt, max_new_tok=120, ignore_eog=True) for prompt in prompts(2)]
    timings = [desk.finished(request_id).timing for request_id in ids]
    assert [desk.text(request_id) for request_id in ids] == plain
    for timing in timings:
        assert 0 < timing.accepted_tok < timing.drafted_tok
    assert not desk.all_of(Logged)


def test_that_what_guesses_read_is_counted(desk: InProcess, mtp_path: Path) -> None:
    desk.load(guessing(mtp_path))
    reads = desk.batcher.meter.draft
    assert reads is not None
    weights, cache = reads
    sizes = {tensor.name: tensor.bytes for tensor in read_tensors(mtp_path)}
    layer = sum(size for name, size in sizes.items() if name.startswith("blk.2."))
    assert weights.per_step_bytes(1) == layer + sizes["output.weight"]
    # A layer, two heads of 32 values for keys and as many for values, f32; the log rounds.
    assert cache.full_bytes_per_tok == pytest.approx(2 * 2 * 32 * 4, rel=0.05)
    desk.load(tiny_config(mtp_path))
    assert desk.batcher.meter.draft is None
