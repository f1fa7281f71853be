"""Metadata that is taken for something else: in the engine, in its plans, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.client import EngineClient
from engine_bridge.engine_state import EngineState
from engine_bridge.protocol import Applied, Load, Refused
from tests.bridge.conftest import Stage, stage  # noqa: F401  (stage is a fixture)
from tests.engine.harness import InProcess, tiny_config

pytestmark = pytest.mark.engine


def test_that_an_override_acts_on_prompts(few_words_path: Path) -> None:
    counts = []
    for overrides in ((), ("tokenizer.ggml.add_bos_token=bool:false",)):
        with InProcess() as desk:
            desk.load(tiny_config(few_words_path, override_kv=overrides))
            _, finished = desk.answer("babe bibo", max_new_tok=2, ignore_eog=True)
            counts.append(finished.timing.prompt_tok)
    assert counts[0] - counts[1] == 1


def test_that_the_plan_and_the_engine_take_the_same_value(few_words_path: Path) -> None:
    config = tiny_config(
        few_words_path,
        override_kv=("llama.context_length=int:256", "general.name=str:other"),
        ctx_per_slot_tok=512,
    )
    planner = Planner()
    planned = planner.plan(config).effective
    planner.close()
    with InProcess() as desk:
        applied = desk.load(config)
    assert planned is not None
    assert planned.ctx_per_slot_tok == applied.effective.ctx_per_slot_tok == 256


def test_that_an_override_that_ends_llama_cpp_is_named_and_the_model_goes_on(
    stage: Stage,  # noqa: F811
    few_words_path: Path,
) -> None:
    witness = stage.client_of(EngineClient())
    witness.wait_for_state(EngineState.READY)
    config = tiny_config(few_words_path)
    fatal = config.with_values({"override_kv": ("llama.block_count=int:100000",)})
    witness.client.send(Load(1, config))
    witness.wait_until(lambda: bool(witness.of_kind(Applied)))
    witness.client.plan(fatal)
    witness.wait_until(lambda: bool(witness.of_kind(Refused)))
    witness.client.send(Load(2, fatal))
    witness.wait_until(lambda: len(witness.of_kind(Refused)) == 2)
    for refused in witness.of_kind(Refused):
        assert isinstance(refused, Refused)
        assert refused.problem.keys == ("override_kv",)
        assert "llama.block_count=int:100000" in refused.problem.message
        assert refused.problem.fix == {"override_kv": ()}
    assert not witness.deaths
