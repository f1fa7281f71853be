"""That our rules refuse what llama.cpp refuses, and no more.

Every K type × V type × flash attention × split mode is tried on every kind of model, with and
without boards. In processes of their own: what llama.cpp does not refuse it may abort on.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine_bridge.child.llama import has_rpc
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.cache_type import CACHE_TYPES
from tests.engine.children.rule_truths import ABORTED, SPLIT_MODES, TRIALS, Trial, Truth
from tests.engine.workers import LentCpu, lent_cpus
from tests.zoo.kinds import KINDS

pytestmark = pytest.mark.engine

# Past so many ends of the process something else is wrong than the trials.
_MOST_ENDS = 4
_CHILD = "tests.engine.children.rule_truths"


@pytest.fixture(scope="module")
def workers() -> Iterator[list[LentCpu]]:
    """Two workers that stand for boards."""
    if not has_rpc():
        pytest.skip("this build of llama.cpp has no RPC backend")
    with lent_cpus(2) as found:
        yield found


def _truths(path: Path, endpoints: list[str]) -> list[Truth]:
    """What became of each trial; a process that dies of one is followed by the next."""
    truths: list[Truth] = []
    for _ in range(_MOST_ENDS):
        done = subprocess.run(
            [sys.executable, "-m", _CHILD, str(path), str(len(truths)), *endpoints],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        lines = done.stdout.splitlines()
        assert lines, done.stderr
        truths += [msgspec.json.decode(line, type=Truth) for line in lines[1::2]]
        if len(truths) == len(TRIALS):
            return truths
        assert len(lines) % 2, done.stderr
        truths.append(Truth(lines[-1], ABORTED, ABORTED))
    pytest.fail(f"{path.name} ended {_MOST_ENDS} processes")


def _is_noise(trial: Trial, facts: ModelFacts) -> bool:
    """Whether what is computed has no meaning although llama.cpp makes the context.

    Without flash attention it does not look whether a head begins inside a block of keys. Mostly
    that becomes NaN, which ends here as a refusal, but it depends on the processor.
    """
    runs_without = trial.flash_attn == "off" or facts.architecture == "grok"
    block = CACHE_TYPES[trial.cache_type_k].block_values
    return runs_without and any(dim % block for dim in facts.head_dims_k)


def _assert_same(path: Path, endpoints: list[str]) -> list[Truth]:
    facts = read_model_facts(path)
    truths = _truths(path, endpoints)
    wrong = [
        (trial, truth)
        for trial, truth in zip(TRIALS, truths, strict=True)
        if bool(truth.ruled) is not (bool(truth.dry or truth.computed) or _is_noise(trial, facts))
    ]
    assert not wrong, f"{len(wrong)} of {len(TRIALS)}, such as {wrong[:3]}"
    return truths


def _refused_modes(truths: list[Truth]) -> list[str]:
    """Split modes in which nothing runs."""
    running = {trial.split_mode for trial, one in zip(TRIALS, truths, strict=True) if not one.ruled}
    return [mode for mode in SPLIT_MODES if mode not in running]


@pytest.mark.parametrize("kind", KINDS)
def test_that_the_rules_refuse_what_the_library_refuses_and_no_more(
    tmp_path: Path, kind: str
) -> None:
    truths = _assert_same(KINDS[kind](tmp_path / f"{kind}.gguf"), [])
    assert sum(one.computed == "" for one in truths) > 0
    assert _refused_modes(truths) == ["tensor"]


@pytest.mark.parametrize("kind", KINDS)
def test_that_they_do_so_with_boards(tmp_path: Path, kind: str, workers: list[LentCpu]) -> None:
    endpoints = [worker.endpoint for worker in workers]
    truths = _assert_same(KINDS[kind](tmp_path / f"{kind}.gguf"), endpoints)
    can_be_cut = kind not in (
        "deepseek2-mla", "deepseek2-legacy", "mamba", "grok", "minimax-01",
    )  # fmt: skip
    assert _refused_modes(truths) == (["row"] if can_be_cut else ["row", "tensor"])
