"""Draft models come, go and are refused while the engine runs; what they take is foreseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child import llama
from engine_bridge.child.planner import Planner, PlanRefusedError
from engine_bridge.protocol import (
    Applied,
    Apply,
    CancelLoad,
    Load,
    LoadProgressed,
    Refused,
    TokensDelivered,
)
from engine_bridge.settings.config import EngineConfig
from tests import models
from tests.engine.drafts import drafter_of, drafting, prompts
from tests.engine.harness import InProcess, tiny_config
from tests.unit.gguf_bytes import Gguf, llama_values

pytestmark = pytest.mark.engine


def _answers_still(desk: InProcess, whole: str) -> bool:
    return desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)[0] == whole


# --- Changes ------------------------------------------------------------------------------------


def test_that_lengths_and_confidence_change_live(desk: InProcess, few_words_path: Path) -> None:
    config = drafting(few_words_path, few_words_path, draft_n_max=6)
    desk.load(config)

    def drafted_at(**values: object) -> int:
        answer = desk.apply(config.with_values(values))
        assert isinstance(answer, Applied)
        assert answer.cost == "live"
        finished = desk.answer(prompts(1)[0], max_new_tok=60, ignore_eog=True)[1]
        return len(finished.timing.drafted_at)

    assert drafted_at(draft_n_max=2) == 2
    assert desk.batcher.context.outputs_max == 7  # the rows go with the next context
    # No token of ten is certain, so nothing is drafted.
    assert drafted_at(draft_n_max=2, draft_p_min=1.0) == 0
    assert drafted_at(draft_n_max=2, draft_n_min=3) == 0
    answer = desk.apply(config)
    assert isinstance(answer, Applied)
    assert answer.cost == "new context"
    assert answer.effective.outputs_max == 7


def test_that_a_draft_model_comes_and_goes_while_answers_run(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    with_draft = drafting(few_words_path, draft_path, slots=2)
    without = with_draft.with_values({"spec_types": ()})
    desk.load(with_draft)  # so that its file is no stranger: trying it takes a second
    assert isinstance(desk.apply(without), Applied)
    whole, _ = desk.answer(prompts(1)[0], max_new_tok=900, ignore_eog=True)
    model = desk.batcher.context.model
    request_id = desk.ask(prompts(1)[0], max_new_tok=900, ignore_eog=True)
    desk.until(lambda: bool(desk.all_of(TokensDelivered, request_id)))
    batcher = desk.batcher
    step = batcher.step
    batcher.step = lambda *_: None  # type: ignore[method-assign]  # or it is over before the load is
    on = desk.apply(with_draft)
    batcher.step = step  # type: ignore[method-assign]
    assert isinstance(on, Applied)
    assert on.cost == "reload"
    assert on.model is None  # the target stayed
    assert on.memory.bytes.draft > 0
    assert any(event.stage == "Loading the draft model" for event in desk.all_of(LoadProgressed))
    desk.until(lambda: batcher.streams[0].draft_tok > 0)
    off = desk.apply(without)
    assert isinstance(off, Applied)
    assert off.cost == "new context"
    assert off.memory.bytes.draft == 0
    assert desk.batcher.context.model is model
    timing = desk.finished(request_id).timing
    assert timing.drafted_tok > 0
    assert desk.text(request_id) == whole
    engine = desk.loop._requests.engine
    assert engine is not None
    assert engine.draft is None


def test_that_one_draft_model_replaces_another(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    desk.load(drafting(few_words_path, draft_path))
    first = drafter_of(desk)._context
    answer = desk.apply(drafting(few_words_path, few_words_path))
    assert isinstance(answer, Applied)
    assert answer.model is None
    assert first.handle is None
    _, finished = desk.answer(prompts(1)[0], max_new_tok=40, ignore_eog=True)
    assert finished.timing.accepted_tok == finished.timing.drafted_tok > 0


def test_that_another_draft_model_leaves_the_caches_of_conversations(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    """The model's own context would come out the same, so what it holds stays."""
    config = drafting(few_words_path, draft_path)
    desk.load(config)
    prompt = prompts(1)[0]
    whole, _ = desk.answer(prompt, max_new_tok=40, ignore_eog=True)
    context = desk.batcher.context
    changes: tuple[dict[str, object], ...] = (
        {"draft_cache_type_k": "q8_0"},
        {"draft_model_path": str(few_words_path)},
        {"draft_n_max": 2, "temperature": 0.0, "draft_cache_type_k": "f16"},
        # Copies this short need no more rows than the draft model's drafts.
        {"spec_types": ("ngram-simple", "draft-simple"), "ngram_size_m": 2, "ngram_size_n": 2},
    )
    for change in changes:
        config = config.with_values(change)
        answer = desk.apply(config)
        assert isinstance(answer, Applied)
        assert desk.batcher.context is context
        request_id = desk.ask(prompt, max_new_tok=40, ignore_eog=True)
        assert desk.finished(request_id).timing.reused_tok == len(prompt) - 1
        assert desk.finished(request_id).timing.drafted_tok > 0
        assert desk.text(request_id) == whole
    assert isinstance(desk.apply(config.with_values({"draft_n_max": 8})), Applied)
    assert desk.batcher.context is not context


def test_that_a_draft_context_that_fails_alone_leaves_the_old_one(
    desk: InProcess, few_words_path: Path, draft_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = drafting(few_words_path, draft_path)
    desk.load(config)
    whole, _ = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    context = desk.batcher.context
    create = llama.Context.create

    def out_of_memory(
        model: llama.Model, wanted: EngineConfig, *, quiet: bool = False
    ) -> llama.Context:
        if wanted.cache_type_k == "bf16":
            raise llama.LlamaError("failed to allocate buffer for kv cache")
        return create(model, wanted, quiet=quiet)

    monkeypatch.setattr(llama.Context, "create", out_of_memory)
    refused = desk.apply(config.with_values({"draft_cache_type_k": "bf16"}))
    assert isinstance(refused, Refused)
    assert "context of the draft model: failed to allocate" in refused.problem.message
    assert desk.batcher.context is context
    _, finished = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    assert finished.timing.drafted_tok > 0
    assert _answers_still(desk, whole)


def test_that_the_load_of_a_draft_model_can_be_cancelled(
    desk: InProcess, few_words_path: Path, draft_path: Path
) -> None:
    config = drafting(few_words_path, draft_path)
    desk.load(config.with_values({"spec_types": ()}))
    request_id = desk.number()
    desk.send(Apply(request_id, config))
    desk.send(CancelLoad())
    refused = desk.refused(request_id)
    assert refused.is_cancelled
    _, finished = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    assert finished.timing.drafted_tok == 0
    assert isinstance(desk.apply(config), Applied)
    assert drafter_of(desk) is not None


# --- Memory -------------------------------------------------------------------------------------

_PLANS: dict[str, dict[str, object]] = {
    "as it comes": {},
    "three odd slots, long drafts": {"slots": 3, "ctx_per_slot_tok": 300, "draft_n_max": 16},
    "shared pool": {"slots": 4, "kv_unified": True, "ctx_total_tok": 1024},
    "caches of their own": {"cache_type_k": "q8_0", "draft_cache_type_v": "q8_0"},
    "read, not mapped": {"load_mode": "none"},
}


@pytest.mark.parametrize("values", _PLANS.values(), ids=_PLANS.keys())
def test_that_a_draft_model_takes_what_was_planned(
    desk: InProcess, few_words_path: Path, draft_path: Path, values: dict[str, object]
) -> None:
    config = tiny_config(
        few_words_path, spec_types=["draft-simple"], draft_model_path=str(draft_path), **values
    )
    planner = Planner()
    try:
        planned = planner.plan(config)
        alone = planner.plan(config.with_values({"spec_types": ()}))
    finally:
        planner.close()
    loaded = desk.load(config).memory
    assert planned.bytes == loaded.bytes
    assert planned.effective == loaded.effective
    for dry, real in zip(planned.devices, loaded.devices, strict=True):
        assert (dry.name, dry.weights, dry.kv, dry.compute, dry.draft) == (
            real.name, real.weights, real.kv, real.compute, real.draft,
        )  # fmt: skip
    by_use = planned.bytes
    assert by_use.kv == alone.bytes.kv
    assert by_use.draft > draft_path.stat().st_size / 2
    assert by_use.total - by_use.draft == by_use.host - by_use.draft
    assert (by_use.draft_mapped > 0) == (values.get("load_mode") != "none")


# --- Bad drafts -----------------------------------------------------------------------------------


def test_that_a_bad_draft_file_leaves_the_engine_running(
    desk: InProcess, few_words_path: Path, tiny_path: Path, tmp_path: Path
) -> None:
    config = drafting(few_words_path, few_words_path).with_values({"spec_types": ()})
    desk.load(config)
    whole, _ = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    notes = tmp_path / "notes.gguf"
    notes.write_text("no model")
    harmful = tmp_path / "harmful.gguf"
    # A token that stands twice ends llama.cpp; the first five are not compared.
    harmful.write_bytes(few_words_path.read_bytes().replace(b"<0x00>", b"<0x01>", 1))
    for path, says in (
        (tmp_path / "gone.gguf", "no file gone.gguf"),
        (notes, "is no GGUF file"),
        (tiny_path, "has 32,000 tokens and the target 512"),
        (harmful, "harmful.gguf apart from the running model"),
    ):
        answer = desk.apply(drafting(few_words_path, path))
        assert isinstance(answer, Refused), path
        assert says in answer.problem.message
        assert answer.problem.message.endswith(".")
        assert answer.problem.keys[0] == "draft_model_path"
        assert answer.problem.fix == {"spec_types": ()}
        assert _answers_still(desk, whole)


def test_that_a_model_whose_draft_model_is_gone_can_be_loaded_without_it(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    config = drafting(few_words_path, tmp_path / "gone.gguf").with_values(
        {"spec_types": ("draft-simple", "ngram-simple")}
    )
    number = desk.number()
    desk.send(Load(number, config))
    refused = desk.answer_to(number)
    assert isinstance(refused, Refused)
    assert refused.problem.message.startswith("The draft model cannot be used. There is no file")
    assert refused.problem.fix == {"spec_types": ("ngram-simple",)}
    desk.load(config.with_values({**refused.problem.fix}))


def test_that_a_plan_names_the_draft_that_cannot_draft(
    few_words_path: Path, tiny_path: Path, tmp_path: Path
) -> None:
    planner = Planner()
    try:
        for path, says in ((tiny_path, "32,000 tokens"), (tmp_path / "gone.gguf", "gone.gguf")):
            plan = planner.plan(drafting(few_words_path, path))
            assert not plan.fits
            assert plan.problems[0].keys[0] == "draft_model_path"
            assert plan.problems[0].fix == {"spec_types": ()}
            assert says in plan.problems[0].message
        assert planner.plan(drafting(few_words_path, few_words_path)).bytes.draft > 0
    finally:
        planner.close()


def test_that_a_draft_context_that_cannot_be_made_leaves_things_as_they_were(
    desk: InProcess, few_words_path: Path, draft_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = drafting(few_words_path, draft_path)
    desk.load(config)
    whole, _ = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    create = llama.Context.create

    def out_of_memory(
        model: llama.Model, wanted: EngineConfig, *, quiet: bool = False
    ) -> llama.Context:
        if wanted.model_path == str(draft_path) and wanted.ctx_per_slot_tok > 1024:
            raise llama.LlamaError("failed to allocate buffer for kv cache")
        return create(model, wanted, quiet=quiet)

    monkeypatch.setattr(llama.Context, "create", out_of_memory)
    refused = desk.apply(config.with_values({"ctx_per_slot_tok": 2048}))
    assert isinstance(refused, Refused)
    assert "context of the draft model: failed to allocate" in refused.problem.message
    assert _answers_still(desk, whole)
    assert drafter_of(desk)._context.ctx_tok == 1024


def test_that_gemma_is_refused_as_a_draft_for_qwen_before_anything_is_loaded(
    desk: InProcess,
) -> None:
    """S37: said from both headers, not after both files were read."""
    qwen, gemma = models.qwen_path(), models.gemma_path()
    request_id = desk.number()
    desk.send(Load(request_id, drafting(qwen, gemma)))
    refused = desk.refused(request_id)
    assert "vocabulary is SentencePiece, the target's byte-level BPE" in refused.problem.message
    assert "token 5 is “&” here and “[multimodal]” in the draft" in refused.problem.message
    assert refused.problem.fix == {"spec_types": ()}
    stages = {event.stage for event in desk.all_of(LoadProgressed)}
    assert stages == {"Reading the header"}


def test_that_kinds_for_the_command_line_alone_change_nothing_here(
    desk: InProcess, few_words_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(few_words_path)
    desk.load(config)
    whole, _ = desk.answer(prompts(1)[0], max_new_tok=20, ignore_eog=True)
    context = desk.batcher.context
    head = str(tmp_path / "head.gguf")
    answer = desk.apply(
        config.with_values({"spec_types": ("draft-eagle3",), "draft_model_path": head})
    )
    assert isinstance(answer, Applied)
    assert answer.cost == "live"
    assert desk.batcher.context is context
    assert _answers_still(desk, whole)


def _head_file(folder: Path, architecture: str) -> Path:
    values = {
        key.replace("llama.", f"{architecture}."): value for key, value in llama_values().items()
    }
    path = folder / f"{architecture}.gguf"
    path.write_bytes(Gguf(values=values | {"general.architecture": architecture}).file())
    return path


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [("eagle3", "draft-eagle3"), ("dflash", "draft-dflash"), ("gemma4-assistant", "draft-mtp")],
)
def test_that_a_file_that_only_drafts_is_told_by_its_kind(
    desk: InProcess, few_words_path: Path, tmp_path: Path, architecture: str, kind: str
) -> None:
    head = _head_file(tmp_path, architecture)
    desk.load(tiny_config(few_words_path))
    alone = desk.number()
    desk.send(Load(alone, tiny_config(head)))
    refused = desk.answer_to(alone)
    assert isinstance(refused, Refused)
    assert f"it only drafts for another model ({kind})" in refused.problem.message
    planner = Planner()
    try:
        with pytest.raises(PlanRefusedError, match="cannot answer by itself"):
            planner.plan(tiny_config(head))
    finally:
        planner.close()
    answer = desk.apply(drafting(few_words_path, head))
    assert isinstance(answer, Refused)
    assert kind in answer.problem.message
    fix = answer.problem.fix
    assert fix == {"spec_types": () if kind == "draft-mtp" else (kind,)}
    mended = desk.apply(drafting(few_words_path, head).with_values({**fix}))
    assert isinstance(mended, Applied)
