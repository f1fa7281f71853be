"""That a dry run says what the real load takes, to the byte, on every kind of model.

A seeded sample of slots × pools × contexts × micro-batches × cache types; what a sample holds
depends on its seed alone.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine_bridge.child.allocated import allocated
from engine_bridge.child.llama import Context, Model
from engine_bridge.child.nextn import attach_mtp
from engine_bridge.child.planner import Planner
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of
from tests import models
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp
from tests.zoo.kinds import KINDS

pytestmark = pytest.mark.engine

_SLOTS = (1, 2, 3, 8)
_CONTEXTS_TOK = (256, 257, 511, 700, 1_000, 2_731, 4_096, 5_000)
_UBATCHES_TOK = (1, 2, 3, 7, 31, 32, 100, 512, 1_000, 2_048)
_SAMPLE = 48
_SAMPLE_OF_REAL = 16
# Steps up to this are computed: of the zoo, and of real models, which take their time.
_COMPUTED_TOK, _COMPUTED_OF_REAL_TOK = 256, 32
_USUAL_UBATCH_TOK = 31
_NO_ROOM = 1
_KINDS_OF_DRAFTS: tuple[tuple[str, ...], ...] = ((), (), ("ngram-simple",))
# Of one slot of the hybrid: 2 layers × 128 channels × (3 − 1) values × 4 bytes.
_LFM2_STATE_BYTES = 2 * 128 * 2 * 4
# Of the one with lightning attention: 2 layers × 4 heads × 32 × 32 values × 4 bytes.
_MINIMAX_STATE_BYTES = 2 * 4 * 32 * 32 * 4
_STATE_BYTES = {"lfm2": _LFM2_STATE_BYTES, "minimax-01": _MINIMAX_STATE_BYTES}
# Of one of its states: (4 − 1) × (128 + 2 × 2 × 32) convolution + 32 × 128 state values × 4 bytes.
_MTP_STATE_BYTES = (3 * 256 + 32 * 128) * 4


@pytest.fixture
def planner() -> Iterator[Planner]:
    made = Planner()
    yield made
    made.close()


def _drawn(path: Path, planner: Planner, count: int, *, is_mtp: bool) -> list[EngineConfig]:
    """``count`` configurations that break no rule; each slot count and pool is among them."""
    draw = random.Random(zlib.crc32(path.name.encode()))
    facts, found = planner.facts(str(path)), list[EngineConfig]()
    while len(found) < count:
        slots, is_unified = _SLOTS[len(found) % 4], len(found) // 4 % 2 == 1
        context_tok, ubatch_tok = draw.choice(_CONTEXTS_TOK), draw.choice(_UBATCHES_TOK)
        config = EngineConfig.from_values(
            {
                "model_path": str(path),
                "slots": slots,
                "kv_unified": is_unified,
                "ctx_per_slot_tok": context_tok,
                "ctx_total_tok": context_tok if is_unified and draw.random() < 0.5 else "auto",
                "ubatch_tok": ubatch_tok,
                "batch_tok": max(ubatch_tok, draw.choice((32, 100, 512, 2_048))),
                "cache_type_k": draw.choice(tuple(CACHE_TYPES)),
                "cache_type_v": draw.choice(tuple(CACHE_TYPES)),
                "flash_attn": draw.choice(("auto", "on", "off")),
                "swa_full": draw.random() < 0.2,
                "threads": 1,
                "threads_batch": 1,
                "spec_types": ("draft-mtp",) if is_mtp else draw.choice(_KINDS_OF_DRAFTS),
                "draft_cache_type_k": draw.choice(tuple(CACHE_TYPES)),
            }
        )
        if not errors_of(config, facts):
            found.append(config)
    return found


def _really(
    config: EngineConfig, model: Model, recurrent_bytes: int, computed_tok: int
) -> MemoryPlan:
    """What a real context occupies, once it has computed where that takes no time."""
    context = Context.create(model, config)
    try:
        attach_mtp(context, config)
        count = max(1, min(config.ubatch_tok, context.batch_tok // context.sequences))
        # One of few tokens is given some KiB more when first it runs, in one load of a thousand.
        if config.ubatch_tok >= _USUAL_UBATCH_TOK and count * context.sequences <= computed_tok:
            _compute(context, count)
        return allocated(context, config, 0.0, recurrent_bytes)
    finally:
        context.close()


def _compute(context: Context, count: int) -> None:
    """A step of ``count`` tokens of every slot, an output of each slot."""
    batch = context.new_batch(count * context.sequences)
    batch.token[:] = 5
    for slot in range(context.sequences):
        rows = slice(slot * count, (slot + 1) * count)
        batch.pos[rows], batch.seq[rows] = range(count), slot
        batch.wants_logits[rows.stop - 1] = 1
    assert context.decode(batch, count * context.sequences) in (0, _NO_ROOM)


def _different(planned: MemoryPlan, real: MemoryPlan) -> dict[str, tuple[object, object]]:
    """What is planned otherwise than it is, both by name."""
    found: dict[str, tuple[object, object]] = {}
    for name in planned.bytes.__struct_fields__:
        pair = getattr(planned.bytes, name), getattr(real.bytes, name)
        if pair[0] != pair[1]:
            found[name] = pair
    dry, loaded = (
        [(device.name, device.weights, device.kv, device.compute) for device in plan.devices]
        for plan in (planned, real)
    )
    if dry != loaded:
        found["devices"] = dry, loaded
    if planned.effective != real.effective:
        found["effective"] = planned.effective, real.effective
    return found


def _is_close(planned: MemoryPlan, real: MemoryPlan, least_bytes: int) -> bool:
    """Whether only compute buffers differ: some bytes less are planned, or up to 4 % more."""
    more = planned.bytes.compute - real.bytes.compute
    same = "weights", "weights_mapped", "kv", "recurrent", "output", "draft"
    return -least_bytes <= more <= real.bytes.compute // 25 and all(
        getattr(planned.bytes, name) == getattr(real.bytes, name) for name in same
    )


def _assert_planned(
    path: Path,
    planner: Planner,
    count: int,
    *,
    state_bytes: int = 0,
    computed_tok: int = _COMPUTED_TOK,
    is_mtp: bool = False,
    least_bytes: int = 0,
) -> None:
    """Plan and load a sample.

    Args:
        path: The model.
        planner: Plans it.
        count: How many.
        state_bytes: One state of a hybrid.
        computed_tok: Steps up to this are computed.
        is_mtp: Whether its guessing layers draft.
        least_bytes: So much less of compute buffers does not count; nor does 4 % more where it
            is not 0.
    """
    sample = _drawn(path, planner, count, is_mtp=is_mtp)
    model = Model.load(str(path), sample[0])
    wrong = []
    try:
        for config in sample:
            planned = planner.plan(config)
            real = _really(
                config, model, state_bytes * config.slots * (1 + config.rollback_tok), computed_tok
            )
            if least_bytes and _is_close(planned, real, least_bytes):
                continue
            if different := _different(planned, real):
                changes = {key: getattr(config, key) for key in config.changed_from(EngineConfig())}
                wrong.append((different, changes))
    finally:
        model.close()
    assert not wrong, f"{len(wrong)} of {count}, such as {wrong[0]}"


@pytest.mark.parametrize("kind", KINDS)
def test_that_a_model_of_each_kind_takes_what_was_planned(
    planner: Planner, tmp_path: Path, kind: str
) -> None:
    path = KINDS[kind](tmp_path / f"{kind}.gguf")
    state_bytes = _STATE_BYTES.get(kind, 0)
    # Reserved for one prompt as well, with the output rows of all slots; where a slot is shorter
    # than a micro-batch, a longer one is planned with.
    least_bytes = 16 * 2**10 if kind == "minimax-01" else 0
    _assert_planned(path, planner, _SAMPLE, state_bytes=state_bytes, least_bytes=least_bytes)


def test_that_layers_that_guess_ahead_take_what_was_planned(
    planner: Planner, tmp_path: Path
) -> None:
    path = write_tiny_mtp(tmp_path / "mtp.gguf", TinyMtp(vocab=8_192))
    _assert_planned(
        path, planner, _SAMPLE, state_bytes=_MTP_STATE_BYTES, computed_tok=0, is_mtp=True
    )


@pytest.mark.parametrize("find", [models.gemma_path, models.qwen_path])
def test_that_a_real_model_takes_what_was_planned(
    planner: Planner, find: Callable[[], Path]
) -> None:
    _assert_planned(find(), planner, _SAMPLE_OF_REAL, computed_tok=_COMPUTED_OF_REAL_TOK)
