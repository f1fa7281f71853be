"""Host memory of drafting: what a plan says is what tables and copies of states really take."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.protocol import Applied
from engine_bridge.settings.config import EngineConfig
from tests.engine.drafts import prompts
from tests.engine.harness import InProcess, tiny_config
from tests.engine.tiny_hybrid import TinyHybrid, write_tiny_hybrid
from tests.tiny_model import TinyLlama, TinyMamba, write_tiny_llama, write_tiny_mamba

pytestmark = pytest.mark.engine
MIB = 1 << 20


@pytest.fixture(scope="module", params=["llama", "mamba", "hybrid"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without a state, with nothing else, with both."""
    file = tmp_path_factory.mktemp("models") / f"{request.param}.gguf"
    match request.param:
        case "llama":
            return write_tiny_llama(file, TinyLlama(vocab_tok=512))
        case "mamba":
            return write_tiny_mamba(file, TinyMamba(vocab_tok=512))
        case _:
            return write_tiny_hybrid(file, TinyHybrid(seed=1))


def planned(config: EngineConfig) -> tuple[int, int, int]:
    """What a plan says: drafting, host memory, all memory."""
    planner = Planner()
    uses = planner.plan(config).bytes
    planner.close()
    return uses.draft, uses.host, uses.total


def really_taken(desk: InProcess) -> int:
    """Bytes of the tables and copies that drafting holds now."""
    drafting = desk.batcher._drafting
    taken = 0
    for drafter in drafting.drafters.values():
        if (table := getattr(drafter, "_table", None)) is not None:
            taken += table.nbytes
    assert drafting._take_back is not None
    return taken + sum(buffer.nbytes for buffer in drafting._take_back._buffers.values())


@pytest.mark.parametrize("slots", [1, 3])
def test_that_the_plan_counts_tables_and_copies_of_states(
    desk: InProcess, path: Path, slots: int
) -> None:
    values = {"ngram_size_n": 1, "ngram_size_m": 4, "ngram_mod_n_match": 16}
    plain = tiny_config(path, slots=slots, **values)
    config = plain.with_values({"spec_types": ["ngram-simple", "ngram-mod"]})
    applied = desk.load(config)
    draft, host, total = planned(config)
    uses = applied.memory.bytes
    assert draft == pytest.approx(uses.draft, abs=2**14)  # of a hybrid the log tells the state
    assert (uses.host - host, uses.total - total) == (uses.draft - draft, uses.draft - draft)
    requests = [desk.ask(p, max_new_tok=60, ignore_eog=True) for p in prompts(slots)]
    timings = [desk.finished(request_id).timing for request_id in requests]
    assert all(timing.drafted_tok for timing in timings)
    # A copy says as well where it belongs.
    assert 0.99 * draft - 2**14 <= really_taken(desk) <= draft + 1024 * slots
    assert draft >= 16 * MIB
    without = desk.apply(plain)
    assert isinstance(without, Applied)
    assert without.memory.bytes.draft == 0
    assert planned(plain)[0] == 0


def test_that_maps_of_every_slot_count(desk: InProcess, few_words_path: Path) -> None:
    config = tiny_config(few_words_path, slots=3, spec_types=["ngram-map-k", "ngram-map-k4v"])
    applied = desk.load(config)
    assert applied.memory.bytes.draft == planned(config)[0] == 2 * 3 * MIB
