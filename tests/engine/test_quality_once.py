"""Two caches compared on real models: in this process, and in the one that is thrown away."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import psutil
import pytest

from app.experiments.port import PortError, StoppedError
from app.experiments.quality_process import QualityProcess
from engine_bridge.child.context_pair import comparing_config
from engine_bridge.child.llama import Model
from engine_bridge.child.quality_once import answer_to
from engine_bridge.child.scoring_context import scoring_context
from engine_bridge.quality_messages import (
    PairMade,
    QualityAnswer,
    QualityDone,
    QualityProgressed,
    QualityRefused,
    QualityRequest,
    RecallTested,
    SpeedMeasured,
    TextFigures,
    TextScored,
)
from engine_bridge.settings.config import EngineConfig

pytestmark = pytest.mark.engine

TEXT = "The rain fell on the road and the road was long. Nobody spoke of it. " * 120


def request_for(path: Path, **values: object) -> QualityRequest:
    base = EngineConfig(model_path=str(path), threads=1, threads_batch=1)
    told: dict[str, object] = {
        "base": base, "candidate": base, "text": TEXT, "ctx_tok": 128, "chunks": 3,
        "speed_steps": 0,
    }  # fmt: skip
    return QualityRequest(**(told | values))  # type: ignore[arg-type]


def with_types(path: Path, k: str, v: str, **values: object) -> QualityRequest:
    request = request_for(path, **values)
    candidate = request.base.with_values({"cache_type_k": k, "cache_type_v": v})
    return msgspec.structs.replace(request, candidate=candidate)


def answers_to(request: QualityRequest) -> list[QualityAnswer]:
    said: list[QualityAnswer] = []
    said.append(answer_to(msgspec.json.encode(request), said.append))
    return said


def figures_of(request: QualityRequest) -> TextFigures:
    said = answers_to(request)
    assert said[-1] == QualityDone(), said[-1]
    return [answer for answer in said if isinstance(answer, TextScored)][-1].figures


def test_that_a_cache_compared_with_itself_diverges_by_nothing(memory_path: Path) -> None:
    found = figures_of(request_for(memory_path))
    assert (found.chunks, found.tokens) == (3, 3 * 63)
    assert abs(found.kld.value) < 1e-9
    assert found.kld_max < 1e-8
    assert (found.same_top.value, found.ppl_ratio.value) == (1.0, 1.0)


def test_that_a_coarser_cache_diverges_more(tiny_path: Path) -> None:
    fine = figures_of(with_types(tiny_path, "q8_0", "q8_0"))
    coarse = figures_of(with_types(tiny_path, "q4_0", "q4_0"))
    assert 1e-9 < fine.kld.value < coarse.kld.value / 4
    assert coarse.ppl_base.value == pytest.approx(fine.ppl_base.value, rel=1e-12)
    assert fine.kld_median <= fine.kld_p90 <= fine.kld_p99 <= fine.kld_max


def test_that_the_figures_are_those_of_logits_read_whole(few_words_path: Path) -> None:
    request = with_types(few_words_path, "q4_0", "q4_0", chunks=1)
    found = figures_of(request)
    model = Model.load(str(few_words_path), comparing_config(request.base, 128))
    tokens = model.tokenize(TEXT, add_special=True, parse_special=False)[:128]
    logits = []
    for config in (request.base, request.candidate):
        context = scoring_context(model, comparing_config(config, 128), 128)
        batch = context.new_batch(128)
        batch.token[:], batch.pos[:] = tokens, range(128)
        batch.wants_logits[64:] = 1
        assert context.decode(batch, 128) == 0
        logits.append(context.logits()[:63].astype(np.float64))
        context.close()
    model.close()
    base, own = (rows - np.log(np.exp(rows).sum(axis=1, keepdims=True)) for rows in logits)
    kld = (np.exp(base) * (base - own)).sum(axis=1)
    came = np.array(tokens[65:])
    assert found.kld.value == pytest.approx(kld.mean(), rel=1e-3)
    assert found.kld_max == pytest.approx(kld.max(), rel=1e-3)
    assert found.same_top.value == np.mean(base.argmax(axis=1) == own.argmax(axis=1))
    assert found.ppl.value == pytest.approx(np.exp(-own[np.arange(63), came].mean()), rel=1e-5)


def test_that_chunks_longer_than_a_step_are_read_whole(few_words_path: Path) -> None:
    found = figures_of(with_types(few_words_path, "q4_0", "q4_0", ctx_tok=1200, chunks=2))
    assert found.tokens == 2 * 599
    assert found.kld.value > 0
    assert sum(depth.tokens for depth in found.depths) == found.tokens


def test_that_recall_and_speed_are_told_after_the_text(memory_path: Path) -> None:
    said = answers_to(
        request_for(memory_path, facts=4, recall_ctx_tok=1500, speed_steps=5, text=TEXT)
    )
    assert said[-1] == QualityDone(), said[-1]
    [recall] = [answer for answer in said if isinstance(answer, RecallTested)]
    assert recall.ctx_tok == 1500
    assert recall.base == recall.candidate  # the same caches, whatever such a model recalls
    assert len(recall.depths) == 4
    [speed] = [answer for answer in said if isinstance(answer, SpeedMeasured)]
    assert speed.depth_tok == 1500 - 5
    assert len(speed.base_s) == len(speed.candidate_s) == 5
    assert all(length_s > 0 for length_s in speed.base_s)


def test_that_progress_goes_to_its_end(tiny_path: Path) -> None:
    said = answers_to(request_for(tiny_path, facts=3, recall_ctx_tok=600, speed_steps=3))
    shares = [answer.share for answer in said if isinstance(answer, QualityProgressed)]
    assert shares[-1] == pytest.approx(1.0)
    made = next(place for place, answer in enumerate(said) if isinstance(answer, PairMade))
    behind = [answer.share for answer in said[made:] if isinstance(answer, QualityProgressed)]
    assert behind == sorted(behind)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: msgspec.structs.replace(r, text="few words"), "one chunk takes 128"),
        (lambda r: msgspec.structs.replace(r, text=""), "empty"),
        (lambda r: msgspec.structs.replace(r, ctx_tok=8192), "trained for 4,096"),
        (
            lambda r: msgspec.structs.replace(
                r,
                candidate=r.candidate.with_values({"cache_type_v": "q8_0", "flash_attn": "off"}),
            ),
            "lash attention",
        ),
        (
            lambda r: msgspec.structs.replace(
                r, base=r.base.with_values({"model_path": "/gone.gguf"})
            ),
            "gone.gguf",
        ),
    ],
)
def test_that_what_cannot_be_done_is_a_sentence(
    tiny_path: Path, change: Callable[[QualityRequest], QualityRequest], said: str
) -> None:
    last = answers_to(change(request_for(tiny_path)))[-1]
    assert isinstance(last, QualityRefused)
    assert said in last.message


def test_that_the_process_says_the_same_as_it_would_here(few_words_path: Path) -> None:
    request = with_types(few_words_path, "q8_0", "q8_0")
    told = [a for a in QualityProcess().answers(request) if isinstance(a, TextScored)]
    assert len(told) == 3
    assert told[-1].figures.kld.value == pytest.approx(figures_of(request).kld.value, rel=1e-9)


def test_that_a_refusal_comes_out_of_the_process(few_words_path: Path) -> None:
    with pytest.raises(PortError, match="one chunk takes 128"):
        list(QualityProcess().answers(request_for(few_words_path, text="few words")))


def test_that_a_stop_in_the_middle_ends_the_process(few_words_path: Path) -> None:
    process = QualityProcess()
    request = request_for(few_words_path, text=TEXT * 40, chunks=10_000)
    answers = process.answers(request)
    assert any(isinstance(answer, TextScored) for answer in answers)  # and no further
    pid = process.pid
    process.stop()
    with pytest.raises(StoppedError):
        list(answers)
    assert pid
    assert not psutil.pid_exists(pid)


def test_that_the_process_ends_with_whoever_asked(few_words_path: Path) -> None:
    request = request_for(few_words_path, text=TEXT * 40, chunks=10_000)
    command = [sys.executable, "-m", "engine_bridge.child.quality_once"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(msgspec.json.encode(request) + b"\n")
        child.stdin.flush()
        assert b"share" in child.stdout.readline()
        child.stdin.close()
        assert child.wait(timeout=60) == 0
        rest = child.stdout.read()
    assert b"QualityDone" not in rest
