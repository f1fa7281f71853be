"""Every K type × V type × flash attention: our rules refuse what llama.cpp refuses, and no more.

In processes of their own: what llama.cpp does not refuse it may abort on.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine_bridge.gguf_file import read_model
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import errors_of, problems_of
from tests.engine.children.cache_types import COMBINATIONS, config_of
from tests.tiny_model import TinyLlama, write_tiny_llama

pytestmark = pytest.mark.engine

_ABORTED = "aborted"


def _block(cache_type: str) -> int:
    return CACHE_TYPES[cache_type].block_values


def _outcomes(path: Path) -> list[str]:
    """What becomes of each combination; a process that dies of one is followed by the next."""
    outcomes: list[str] = []
    while len(outcomes) < len(COMBINATIONS):
        done = subprocess.run(
            [sys.executable, "-m", "tests.engine.children.cache_types", path, str(len(outcomes))],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        lines = done.stdout.splitlines()
        assert lines, done.stderr
        outcomes += lines[1::2]
        if len(lines) % 2:
            outcomes.append(_ABORTED)
    return outcomes


@pytest.mark.parametrize("head_dim", [64, 80, 40])
def test_that_the_rules_refuse_what_the_library_refuses_and_no_more(
    tmp_path: Path, head_dim: int
) -> None:
    path = write_tiny_llama(tmp_path / "tiny.gguf", TinyLlama(vocab_tok=512, head_dim=head_dim))
    facts = read_model(path).facts
    outcomes = _outcomes(path)
    wrong = []
    for combination, outcome in zip(COMBINATIONS, outcomes, strict=True):
        problems = errors_of(config_of(str(path), combination), facts)
        # Where a row of keys begins inside a block and nobody looks, what is computed is noise:
        # mostly NaN, which ends here as an outcome, but that depends on the processor.
        is_noise = combination[2] == "off" and bool(head_dim % _block(combination[0]))
        if bool(problems) is not (bool(outcome) or is_noise):
            wrong.append((combination, outcome, problems))
    assert not wrong
    assert 0 < sum(map(bool, outcomes)) < len(COMBINATIONS), "some are refused, some run"


@pytest.mark.parametrize("head_dim", [32, 64])
def test_that_a_shift_with_any_type_of_keys_is_survived(tmp_path: Path, head_dim: int) -> None:
    """llama.cpp ends the process over bf16 keys, and over quantised ones that it did not rotate."""
    path = write_tiny_llama(tmp_path / "tiny.gguf", TinyLlama(vocab_tok=512, head_dim=head_dim))
    facts = read_model(path).facts
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.children.shift_types", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    outcomes = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert outcomes.keys() == CACHE_TYPES.keys()
    for cache_type, (reason, dropped) in outcomes.items():
        config = EngineConfig.from_values({"cache_type_k": cache_type, "context_shift": True})
        cannot = [p for p in problems_of(config, facts) if "context_shift" in p.keys]
        expected = ["context_full", "0"] if cannot else ["token_limit", "127"]
        assert [reason, dropped] == expected, cache_type
    assert ["token_limit", "127"] in outcomes.values()
