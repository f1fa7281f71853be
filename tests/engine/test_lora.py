"""LoRA adapters: they act as if merged, their strength changes live, a foreign one is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.planner import Planner
from engine_bridge.lora_facts import lora_bytes
from engine_bridge.protocol import Applied, Load, Refused
from engine_bridge.settings.config import EngineConfig
from tests.engine.harness import InProcess, random_tokens, tiny_config
from tests.tiny_lora import write_merged, write_tiny_lora

pytestmark = pytest.mark.engine

_PROMPT = random_tokens(40)


@pytest.fixture(scope="module")
def lora(few_words_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter of the few-words model."""
    return write_tiny_lora(tmp_path_factory.mktemp("lora") / "style, one.gguf", few_words_path)


def _config(path: Path, *lora: str) -> EngineConfig:
    return tiny_config(path, lora=lora, slots=2)


def _text(desk: InProcess, *, conversation: str = "") -> str:
    text, finished = desk.answer(
        _PROMPT, max_new_tok=32, ignore_eog=True, conversation=conversation
    )
    assert finished.reason == "token_limit"
    return text


def test_that_an_adapter_acts_as_if_merged_at_any_strength(
    few_words_path: Path, lora: Path, tmp_path: Path
) -> None:
    merged = {
        scale: write_merged(tmp_path / f"{scale}.gguf", few_words_path, scale)
        for scale in (1.0, -0.5)
    }
    expected = {}
    for scale, path in merged.items():
        with InProcess() as desk:
            desk.load(_config(path))
            expected[scale] = _text(desk)
    with InProcess() as desk:
        desk.load(_config(few_words_path))
        expected[0.0] = _text(desk)
    assert len(set(expected.values())) == 3
    with InProcess() as desk:
        desk.load(_config(few_words_path, str(lora)))
        assert _text(desk, conversation="a") == expected[1.0]
        for scale in (-0.5, 0.0, 1.0):
            applied = desk.apply(_config(few_words_path, f"{lora}:{scale:g}"))
            assert isinstance(applied, Applied)
            assert applied.cost == "live"
            # What was cached was computed with other weights: the same turn is computed anew.
            assert _text(desk, conversation="a") == expected[scale]


def test_that_a_stream_goes_on_with_the_new_strength(few_words_path: Path, lora: Path) -> None:
    with InProcess() as desk:
        desk.load(_config(few_words_path, str(lora)))
        request = desk.ask(_PROMPT, max_new_tok=200, ignore_eog=True)
        desk.until(lambda: len(desk.text(request)) > 20)
        assert isinstance(desk.apply(_config(few_words_path, f"{lora}:0")), Applied)
        finished = desk.finished(request)
        assert finished.reason == "token_limit"
        assert finished.timing.new_tok == 200


def test_that_adapters_come_and_go_with_a_new_context(
    few_words_path: Path, lora: Path, tmp_path: Path
) -> None:
    other = write_tiny_lora(tmp_path / "other.gguf", few_words_path, seed=1)
    with InProcess() as desk:
        plain = desk.load(_config(few_words_path))
        without = _text(desk, conversation="a")
        applied = desk.apply(_config(few_words_path, str(lora), f"{other}:0.5"))
        assert isinstance(applied, Applied)
        assert applied.cost == "new context"
        grown = applied.memory.bytes.weights - plain.memory.bytes.weights
        assert grown == lora_bytes(applied.config) > 0
        both = _text(desk, conversation="a")
        assert isinstance(desk.apply(_config(few_words_path, str(lora))), Applied)
        assert len({without, both, _text(desk, conversation="a")}) == 3
        assert isinstance(desk.apply(_config(few_words_path)), Applied)
        assert _text(desk, conversation="a") == without


def test_that_the_plan_counts_an_adapter(few_words_path: Path, lora: Path) -> None:
    planner = Planner()
    plain, bent = (planner.plan(_config(few_words_path, *paths)) for paths in ((), (str(lora),)))
    planner.close()
    size = lora_bytes(_config(few_words_path, str(lora)))
    assert bent.bytes.weights - plain.bytes.weights == size
    assert bent.bytes.total - plain.bytes.total == size
    assert bent.devices[-1].weights - plain.devices[-1].weights == size


@pytest.mark.parametrize("kind", ["architecture", "shape", "model", "nothing"])
def test_that_a_foreign_adapter_is_refused_and_the_model_goes_on(
    few_words_path: Path, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "foreign.gguf"
    words = {
        "architecture": "is an adapter for qwen2 models",
        "shape": "does not go onto this model",
        "model": "is no LoRA adapter",
        "nothing": "cannot be read",
    }[kind]
    if kind == "architecture":
        write_tiny_lora(path, few_words_path, architecture="qwen2")
    elif kind == "shape":
        write_tiny_lora(path, few_words_path, width_more=32)
    elif kind == "model":
        path = few_words_path
    with InProcess() as desk:
        desk.load(_config(few_words_path))
        before = _text(desk)
        config = _config(few_words_path, str(path))
        refused = desk.apply(config)
        assert isinstance(refused, Refused)
        assert refused.problem.keys == ("lora",)
        assert words in refused.problem.message
        assert "Errno" not in refused.problem.message
        assert refused.problem.fix == {"lora": ()}
        assert _text(desk) == before
        number = desk.number()
        desk.send(Load(number, config))
        again = desk.answer_to(number)
        assert isinstance(again, Refused)
        assert msgspec.structs.asdict(again.problem) == msgspec.structs.asdict(refused.problem)


def test_that_a_missing_adapter_and_whatever_else_is_wrong_are_told_together(
    few_words_path: Path,
) -> None:
    gone = _config(few_words_path, "/nowhere/gone.gguf")
    planner = Planner()
    try:
        nobody = planner.plan(gone.with_values({"devices": ("CUDA99",)}))
        broken = planner.plan(gone.with_values({"cache_type_v": "q8_0", "flash_attn": "off"}))
    finally:
        planner.close()
    assert [problem.keys[0] for problem in nobody.problems] == ["lora", "devices"]
    assert [problem.keys[0] for problem in broken.problems] == ["lora", "cache_type_v"]
    assert "there is no such file" in nobody.problems[0].message
