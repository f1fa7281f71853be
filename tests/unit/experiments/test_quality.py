"""An experiment about KV caches, made of what a stand-in for the process answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from app.experiments.experiment import Experiment, State, Subject
from app.experiments.port import PortError, StoppedError
from app.experiments.quality import QualityAsked, name_of, quality
from app.planning import PlanAnswer, PlanningError
from engine_bridge.memory_plan import BytesByUse, EffectiveConfig, MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.quality_messages import (
    Estimate,
    PairMade,
    QualityAnswer,
    QualityDone,
    QualityProgressed,
    QualityRequest,
    RecallTested,
    SpeedMeasured,
    TextFigures,
    TextScored,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError

Q8 = {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}
Q4 = {"cache_type_k": "q4_0", "cache_type_v": "q4_0"}
CONFIG = EngineConfig(model_path="m.gguf", ctx_per_slot_tok=8192, slots=2)
FACTS = ModelFacts(
    path="m.gguf", name="m", architecture="llama", quantisation="Q4_K_M", file_bytes=1,
    tensor_bytes=1, parameters=1, layers=2, ctx_train_tok=32_768, vocab=1000, heads=14, kv_heads=2,
    head_dims_k=(64,), head_dims_v=(64,),
)  # fmt: skip


def scored(kld: float, chunks: int = 1) -> TextScored:
    return TextScored(
        TextFigures(
            chunks=chunks,
            tokens=255 * chunks,
            ppl_base=Estimate(12.0, 0.3),
            ppl=Estimate(12.1, 0.3),
            ppl_ratio=Estimate(1.008, 0.002),
            kld=Estimate(kld, 0.001),
            kld_median=kld / 2,
            kld_p90=kld * 2,
            kld_p99=kld * 4,
            kld_max=kld * 8,
            same_top=Estimate(0.95, 0.01),
        )
    )


def whole(kld: float) -> list[QualityAnswer]:
    return [
        QualityProgressed(0.1, "Loading the model"),
        PairMade(2, 3000, "on", "on", 2),
        scored(kld),
        QualityProgressed(0.5, "Reading the text"),
        scored(kld, 2),
        RecallTested(2048, (0.0, 0.5, 0.9), (True, True, False), (True, False, False)),
        SpeedMeasured(2000, (0.010, 0.010, 0.012), (0.011, 0.011, 0.0132)),
        QualityDone(),
    ]


class Stand:
    """Gives what was prepared for each comparison; an exception in it is raised there."""

    def __init__(self, *prepared: Sequence[QualityAnswer | Exception]) -> None:
        self.requests: list[QualityRequest] = []
        self._prepared = list(prepared)

    def answers(self, request: QualityRequest) -> Iterator[QualityAnswer]:
        self.requests.append(request)
        for answer in self._prepared.pop(0):
            if isinstance(answer, Exception):
                raise answer
            yield answer


class Heard:
    """Keeps what a reporter is told."""

    def __init__(self) -> None:
        self.progress: list[tuple[float, str, float | None]] = []
        self.experiments: list[Experiment] = []

    def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
        self.progress.append((share, sentence, left_s))

    def kept(self, experiment: Experiment) -> None:
        self.experiments.append(experiment)


def plan(config: EngineConfig) -> PlanAnswer:
    kv = {"f16": 2_000_000, "q8_0": 1_062_500, "q4_0": 562_500}[config.cache_type_k]
    effective = EffectiveConfig(
        ctx_per_slot_tok=8192, slots=config.slots, kv_unified=False,
        ctx_total_tok=config.pool_tok, flash_attn="on", n_gpu_layers=0, batch_tok=512,
        ubatch_tok=512, threads=2, threads_batch=2, outputs_max=2,
    )  # fmt: skip
    return PlanAnswer(MemoryPlan(BytesByUse(kv=kv), (), effective, True, (), 0.01))


def asked(*candidates: dict[str, str]) -> QualityAsked:
    return QualityAsked(CONFIG, candidates, "word " * 100, "words.txt")


def done(
    stand: Stand, heard: Heard, *candidates: dict[str, str], clock: Iterator[float] | None = None
) -> Experiment:
    ticks = clock or iter(float(second) for second in range(1000))
    return quality(
        asked(*candidates), stand, heard, Subject(model="m"), model=FACTS, plan=plan,
        clock=lambda: next(ticks),
    )  # fmt: skip


def test_that_each_candidate_has_a_cell_behind_that_of_the_base() -> None:
    stand, heard = Stand(whole(0.01), whole(0.05)), Heard()
    made = done(stand, heard, Q8, Q4)
    assert made.state is State.DONE
    assert [cell.name for cell in made.cells] == ["f16/f16", "q8_0/q8_0", "q4_0/q4_0"]
    assert [cell.extra.get("mean_kld") for cell in made.cells] == [None, 0.01, 0.05]
    base, q8, _ = made.cells
    assert (base.extra["ppl"], q8.extra["ppl"]) == (12.0, 12.1)
    assert (base.extra["kv_bytes"], q8.extra["kv_bytes"]) == (2_000_000, 1_062_500)
    assert (base.extra["recall_share"], q8.extra["recall_share"]) == pytest.approx((2 / 3, 1 / 3))
    assert (base.extra["tpot_s"], q8.extra["tpot_s"]) == (0.010, 0.011)
    assert q8.extra["tpot_ratio"] == pytest.approx(1.1)
    assert q8.extra["gqa_ratio"] == 7.0
    assert q8.config == Q8
    assert heard.experiments[-1] == made


def test_that_the_base_is_f16_with_the_users_other_settings() -> None:
    stand = Stand(whole(0.01))
    config = CONFIG.with_values({"flash_attn": "off", "threads": 3, "cache_type_k": "q4_0"})
    asked_for = QualityAsked(config, (Q8,), "word")
    quality(asked_for, stand, Heard(), Subject(), plan=plan, clock=lambda: 0.0)
    base, candidate = stand.requests[0].base, stand.requests[0].candidate
    assert (base.cache_type_k, base.cache_type_v, base.flash_attn) == ("f16", "f16", "auto")
    assert (candidate.cache_type_k, candidate.flash_attn, candidate.threads) == ("q8_0", "auto", 3)
    assert base.changed_from(candidate) == ("cache_type_k", "cache_type_v")


def test_that_a_candidate_that_is_refused_is_skipped_with_the_reason() -> None:
    reason = PortError("q4_0 needs flash attention.")
    made = done(Stand([reason], whole(0.01)), Heard(), Q4, Q8)
    assert made.state is State.DONE
    assert made.cells[1].skipped == "q4_0 needs flash attention."
    assert made.cells[1].extra == {}
    assert made.cells[2].extra["mean_kld"] == 0.01


def test_that_it_has_failed_where_all_are_refused() -> None:
    heard = Heard()
    made = done(Stand([PortError("The text is too short.")]), heard, Q8)
    assert (made.state, made.failure) == (State.FAILED, "The text is too short.")
    assert heard.experiments == []  # nothing to look up later
    assert made.conclusion == ()


def test_that_what_was_measured_before_a_stop_is_kept() -> None:
    answers = [*whole(0.01)[:5], StoppedError("stopped")]
    heard = Heard()
    made = done(Stand(whole(0.02), answers), heard, Q4, Q8)
    assert made.state is State.STOPPED
    assert [cell.extra.get("chunks") for cell in made.cells] == [None, 2.0, 2.0]
    assert "recall_share" not in made.cells[2].extra
    assert heard.experiments[-1] == made


def test_that_a_stop_before_the_first_figure_leaves_no_figures() -> None:
    made = done(Stand([StoppedError("stopped")]), Heard(), Q8)
    assert made.state is State.STOPPED
    assert all(not cell.extra for cell in made.cells)


def test_that_parts_are_kept_as_they_end_and_chunks_not_each() -> None:
    heard = Heard()
    still = iter([0.0] * 1000)
    chunks: list[QualityAnswer | Exception] = [scored(0.01, n) for n in range(1, 50)]
    done(Stand([*chunks, *whole(0.01)[5:]]), heard, Q8, clock=still)
    with_figures = [e for e in heard.experiments if e.cells[1].extra.get("mean_kld")]
    assert len(with_figures) < 6
    assert "recall_share" in with_figures[0].cells[1].extra


def test_that_progress_goes_on_over_all_candidates_with_the_time_left() -> None:
    heard = Heard()
    done(Stand(whole(0.01), whole(0.02)), heard, Q8, Q4)
    shares = [share for share, _, _ in heard.progress]
    assert shares == pytest.approx([0.05, 0.25, 0.55, 0.75])
    assert heard.progress[1][1] == "q8_0/q8_0: Reading the text"
    assert heard.progress[2][1] == "q4_0/q4_0: Loading the model"
    assert all(left_s is not None and left_s > 0 for _, _, left_s in heard.progress)


def test_that_a_plan_that_cannot_be_had_leaves_memory_out() -> None:
    def no_plan(config: EngineConfig) -> PlanAnswer:
        raise PlanningError("no")

    stand = Stand(whole(0.01))
    made = quality(asked(Q8), stand, Heard(), Subject(), plan=no_plan, clock=lambda: 0.0)
    assert "kv_bytes" not in made.cells[1].extra
    assert made.cells[1].extra["mean_kld"] == 0.01


def test_that_a_model_without_a_cache_is_refused_in_a_sentence() -> None:
    recurrent = ModelFacts(
        path="m.gguf", name="m", architecture="mamba", quantisation="F32", file_bytes=1,
        tensor_bytes=1, parameters=1, layers=2, ctx_train_tok=4096, vocab=1000, heads=0,
        kv_heads=0, head_dims_k=(), head_dims_v=(), is_recurrent=True,
    )  # fmt: skip
    with pytest.raises(DomainError, match="keeps a state"):
        quality(asked(Q8), Stand(), Heard(), Subject(), model=recurrent, plan=plan)


def test_that_a_candidate_is_named_by_its_types_and_what_else_it_changes() -> None:
    assert name_of(Q8) == "q8_0/q8_0"
    assert name_of({"cache_type_k": "q8_0"}) == "q8_0/f16"
    assert name_of({"flash_attn": "off"}) == "f16/f16, flash_attn=off"
