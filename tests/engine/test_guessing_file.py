"""A file of guessing layers alone beside its model: the same guesses, and a sentence for others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.gguf_file import read_tensors
from engine_bridge.protocol import Applied, Logged, Refused
from engine_bridge.settings.config import EngineConfig
from tests.bench.drafters import Server
from tests.bench.engine import layout_config
from tests.bench.work import Layout
from tests.engine.drafts import EXACT, prompts
from tests.engine.harness import InProcess, tiny_config
from tests.engine.tiny_mtp import TinyMtp, write_tiny_mtp, write_tiny_mtp_chain

pytestmark = pytest.mark.engine
LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
_WRITERS: dict[str, Callable[[Path, TinyMtp], Path]] = {
    "hybrid": write_tiny_mtp,
    "chain": write_tiny_mtp_chain,
}
# The settings, tokens of the prompt and of the answer.
_CASES: dict[str, tuple[dict[str, object], int, int]] = {
    "as it comes": ({}, 30, 120),
    "several pieces, where it is sure": ({"draft_n_max": 6, "draft_p_min": 0.2}, 600, 61),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each model whole, without its guessing layers, and these alone."""
    folder = tmp_path_factory.mktemp("models")
    for name, write in _WRITERS.items():
        for part in ("all", "trunk", "guesses"):
            write(folder / f"{name}-{part}.gguf", TinyMtp(part=part))
    return folder


def beside(folder: Path, kind: str, **values: object) -> EngineConfig:
    """The model without guessing layers, and a file of such."""
    values = {"draft_model_path": str(folder / f"{kind}-guesses.gguf")} | values
    return tiny_config(folder / f"{kind}-trunk.gguf", spec_types=["draft-mtp"], **EXACT | values)


def without(config: EngineConfig) -> EngineConfig:
    """The same without drafts."""
    return config.with_values({"spec_types": (), "draft_model_path": ""})


@pytest.mark.skipif(not LLAMA_SERVER.exists(), reason="`make bench` has not built llama-server")
@pytest.mark.parametrize("kind", _WRITERS)
@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES.keys())
def test_that_as_much_is_drafted_and_accepted_as_by_llama_server(
    desk: InProcess, folder: Path, kind: str, case: tuple[dict[str, object], int, int]
) -> None:
    values, prompt_tok, new_tok = case
    layout = Layout(folder / f"{kind}-trunk.gguf", 1, 1024, 1)
    config = layout_config(layout).with_values({"spec_types": ("draft-mtp",), **values})
    config = msgspec.structs.replace(config, draft_model_path=str(folder / f"{kind}-guesses.gguf"))
    prompt = prompts(1, tokens=prompt_tok)[0]
    with closing(Server(LLAMA_SERVER, layout, config)) as server:
        theirs = server.answer(prompt, new_tok)
    desk.load(config)
    text, finished = desk.answer(prompt, max_new_tok=new_tok, ignore_eog=True)
    assert text == theirs.text
    ours = finished.timing.drafted_tok, finished.timing.accepted_tok
    assert ours == (theirs.drafted_tok, theirs.accepted_tok)
    assert min(ours) > 0


@pytest.mark.parametrize("kind", _WRITERS)
def test_that_layers_guess_alike_wherever_they_stand(
    desk: InProcess, folder: Path, kind: str
) -> None:
    config = beside(folder, kind, slots=3)

    def answers(config: EngineConfig) -> list[tuple[str, int, int]]:
        desk.load(config)
        ids = [desk.ask(prompt, max_new_tok=100, ignore_eog=True) for prompt in prompts(3)]
        timings = [desk.finished(request_id).timing for request_id in ids]
        counts = [(timing.drafted_tok, timing.accepted_tok) for timing in timings]
        return [(desk.text(number), *count) for number, count in zip(ids, counts, strict=True)]

    own: dict[str, object] = {
        "model_path": str(folder / f"{kind}-all.gguf"),
        "draft_model_path": "",
    }
    in_one_file = answers(config.with_values(own))
    in_two = answers(config)
    assert in_two == in_one_file
    assert all(0 < accepted < drafted for _, drafted, accepted in in_two)
    plain = answers(without(config))
    assert [text for text, _, _ in plain] == [text for text, _, _ in in_two]
    assert not desk.all_of(Logged)


@pytest.mark.parametrize("kind", _WRITERS)
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"slots": 3, "ctx_per_slot_tok": 300, "draft_n_max": 8, "load_mode": "none"},
        {"slots": 4, "kv_unified": True, "ctx_total_tok": 1024, "draft_cache_type_k": "q8_0",
         "flash_attn": "on", "draft_cache_type_v": "f16", "cache_type_v": "f16"},
    ],
    ids=["as it comes", "three odd slots, read", "a shared pool, other types"],
)  # fmt: skip
def test_that_it_takes_what_was_planned(
    desk: InProcess, folder: Path, kind: str, values: dict[str, object]
) -> None:
    config = beside(folder, kind, **values)
    with closing(Planner()) as planner:
        planned = planner.plan(config)
    assert not planned.problems
    loaded = desk.load(config).memory
    assert planned.effective == loaded.effective
    # What of a hybrid's memory is state, a real context says in its log alone, rounded.
    rounded = 2 * 0.01 * 2**20
    ours, theirs = planned.bytes, loaded.bytes
    assert ours.draft == pytest.approx(theirs.draft, abs=rounded)
    assert ours.total - ours.draft == theirs.total - theirs.draft
    assert (ours.compute, ours.output) == (theirs.compute, theirs.output)
    assert (ours.weights_mapped, ours.draft_mapped) == (theirs.weights_mapped, theirs.draft_mapped)
    sizes = sum(tensor.bytes for tensor in read_tensors(config.draft_model_path))
    assert ours.draft > sizes
    assert without(config).draft is None


def test_that_it_comes_and_goes_while_the_model_stays(desk: InProcess, folder: Path) -> None:
    """Undone as well; what the slots hold comes along."""
    config = beside(folder, "hybrid")
    desk.load(without(config))
    model = desk.batcher.context.model
    prompt = prompts(1)[0]
    plain, _ = desk.answer(prompt, max_new_tok=60, ignore_eog=True)
    for _ in range(2):
        on = desk.apply(config)
        assert isinstance(on, Applied), on
        text, finished = desk.answer(prompt, max_new_tok=60, ignore_eog=True)
        assert (text, finished.timing.accepted_tok > 0) == (plain, True)
        assert on.memory.bytes.draft > 0
        off = desk.apply(without(config))
        assert isinstance(off, Applied), off
        assert off.cost == "new context"
        assert off.memory.bytes.draft == 0
        text, finished = desk.answer(prompt, max_new_tok=60, ignore_eog=True)
        assert (text, finished.timing.drafted_tok) == (plain, 0)
    assert desk.batcher.context.model is model
    assert not desk.all_of(Logged)


def test_that_other_types_and_other_layers_replace_it(desk: InProcess, folder: Path) -> None:
    config = beside(folder, "hybrid", draft_cache_type_v="f16")
    other = write_tiny_mtp(folder / "other-guesses.gguf", TinyMtp(part="guesses", seed=5))
    desk.load(config)
    meter = desk.batcher.meter
    assert meter.draft is not None
    sizes = {tensor.name: tensor.bytes for tensor in read_tensors(config.draft_model_path)}
    layer = sum(size for name, size in sizes.items() if name.startswith("blk."))
    assert meter.draft[0].per_step_bytes(1) == layer + sizes["output.weight"]
    (plain, first) = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)
    changes: tuple[dict[str, object], ...] = (
        {"draft_cache_type_k": "f16"},
        {"ctx_per_slot_tok": 2048},
        {"draft_n_max": 5},
        {"draft_model_path": str(other)},
        {"draft_model_path": config.draft_model_path},
    )
    for values in changes:
        config = config.with_values(values)
        applied = desk.apply(config)
        assert isinstance(applied, Applied), applied
        text, finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)
        assert text == plain
        assert finished.timing.drafted_tok > 0
    assert first.timing.accepted_tok > 0
    assert not desk.all_of(Logged)


def test_that_a_file_made_for_another_model_is_refused_in_words(
    desk: InProcess, folder: Path, few_words_path: Path
) -> None:
    fitting = beside(folder, "hybrid")
    desk.load(without(fitting))
    wide = write_tiny_mtp(folder / "wide.gguf", TinyMtp(part="guesses", width=96))
    words = write_tiny_mtp(folder / "words.gguf", TinyMtp(part="guesses", vocab=600))
    for guesses, said, fix in (
        (wide, "read states of 96 values, and this model's have 64", {"spec_types": ()}),
        (words, "another vocabulary (600 tokens, and this model has 512)", {"spec_types": ()}),
        (folder / "chain-guesses.gguf", "are a mimo2 model's", {"spec_types": ()}),
        (few_words_path, "holds more than layers", {"spec_types": ("draft-simple",)}),
        (folder / "gone.gguf", "gone.gguf", {"spec_types": ()}),
    ):
        config = beside(folder, "hybrid", draft_model_path=str(guesses))
        refused = desk.apply(config)
        assert isinstance(refused, Refused)
        assert said in refused.problem.message
        assert refused.problem.fix == fix
        with closing(Planner()) as planner:
            planned = planner.plan(config)
        assert not planned.fits
        assert said in planned.problems[0].message
    as_simple = desk.apply(fitting.with_values({"spec_types": ("draft-simple",)}))
    assert isinstance(as_simple, Refused)
    assert as_simple.problem.fix == {"spec_types": ("draft-mtp",)}
    assert isinstance(desk.apply(fitting), Applied)
    assert desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)[1].timing.drafted_tok > 0


def test_that_a_damaged_file_costs_a_sentence(desk: InProcess, folder: Path) -> None:
    """It is tried elsewhere first: the model that runs goes on."""
    config = beside(folder, "hybrid")
    desk.load(without(config))
    whole = Path(config.draft_model_path).read_bytes()
    plain, _ = desk.answer(prompts(1)[0], max_new_tok=30, ignore_eog=True)
    renamed = whole.replace(b"blk.2.nextn.enorm.weight", b"blk.2.nextn.enorn.weight")
    for name, data in (
        ("cut.gguf", whole[: len(whole) // 2]),
        ("no-norm.gguf", renamed),
        ("no-entry.gguf", whole.replace(b"nextn.eh_proj.weight", b"nextn.eh_prox.weight")),
        ("heads.gguf", whole.replace(b"attention.head_count_kv", b"attention.head_count_kx")),
    ):
        path = folder / name
        path.write_bytes(data)
        refused = desk.apply(beside(folder, "hybrid", draft_model_path=str(path)))
        assert isinstance(refused, Refused), name
        assert "draft_model_path" in refused.problem.keys
        assert desk.answer(prompts(1)[0], max_new_tok=30, ignore_eog=True)[0] == plain
    # Of two such layers the first lacks its way in: llama.cpp would end the process.
    chain = (folder / "chain-guesses.gguf").read_bytes()
    path = folder / "half-a-chain.gguf"
    path.write_bytes(chain.replace(b"blk.2.nextn.eh_proj.weight", b"blk.2.nextn.eh_prox.weight"))
    desk.load(without(beside(folder, "chain")))
    refused = desk.apply(beside(folder, "chain", draft_model_path=str(path)))
    assert isinstance(refused, Refused)
    assert "holds none, or not all that its header announces" in refused.problem.message
