"""Simulated users on a made-up engine whose law is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.experiments.experiment import Experiment, Kind, State
from app.experiments.history_lines import whole_lines
from app.experiments.lengths import Fixed
from app.experiments.model_hash import ModelHashes
from app.experiments.port import StoppedError
from app.experiments.text_layout import WIDTH
from app.experiments.users import simulate_users
from app.experiments.users_cell import (
    JUDGED,
    LONG_P99,
    OTHER_P99,
    QUEUE,
    QUEUE_SHARE,
    RATE,
    USERS,
    kept_of,
)
from app.experiments.users_plan import UsersPlan
from app.experiments.users_table import users_lines
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from tests.tiny_model import write_tiny_llama
from tests.unit.experiments.fake_port import FakeEngine, FakePort, requests_sent
from tests.unit.experiments.made_up import Listener, small_runner

CHAT = Workload(
    name="toy", material=Material.PROSE, prompt_tok=Fixed(24), answer_tok=Fixed(16), turns=2,
    requests=4, think_s=0.05,
)  # fmt: skip


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


def batching(slots: int = 16) -> FakeEngine:
    """Each stream makes a step 10 ms longer, and prompts take next to no time."""
    return FakeEngine(
        prefill_tok_s=1e7, step_s=lambda streams: 0.010 + 0.010 * streams, slots=slots
    )


def simulated(
    model_path: Path,
    plan: UsersPlan,
    *,
    engine: FakeEngine | None = None,
    port: FakePort | None = None,
    listener: Listener | None = None,
    slots: int = 16,
    ctx_tok: int = 2048,
    kept: Experiment | None = None,
    clock: Callable[[], float] | None = None,
) -> Experiment:
    config = EngineConfig(model_path=str(model_path), slots=slots, ctx_per_slot_tok=ctx_tok)
    port = port or FakePort(engine or batching(slots))
    return simulate_users(
        port,
        config,
        plan,
        listener or Listener(),
        runner=small_runner(plan.workload),
        kept=kept,
        hashes=ModelHashes(model_path.with_suffix(".json")),
        clock=clock or (lambda: port.now_ns / 1e9),
    )


def searching(
    *, share: float = 0.9, most: int = 16, seconds: float = math.inf, **limits: float
) -> UsersPlan:
    return UsersPlan(
        msgspec.structs.replace(CHAT, **limits), is_search=True, share=share, most=most,
        seconds=seconds,
    )  # fmt: skip


# --- The curve --------------------------------------------------------------------------------


def test_that_each_number_of_users_is_a_cell_of_the_curve(model_path: Path) -> None:
    listener = Listener()
    plan = UsersPlan(
        msgspec.structs.replace(CHAT, tpot_slo_s=0.055), numbers=(4, 1, 2, 4), requests=12
    )
    experiment = simulated(model_path, plan, listener=listener)
    assert (experiment.kind, experiment.state) == (Kind.USERS, State.DONE)
    assert [cell.name for cell in experiment.cells] == ["1 user", "2 users", "4 users"]
    assert [cell.extra[USERS] for cell in experiment.cells] == [1, 2, 4]
    for cell in experiment.cells:
        (run,) = cell.runs
        assert run.failed == 0
        assert run.requests >= 12
        assert run.requests == kept_of(cell).of  # type: ignore[union-attr]
    speeds = [cell.runs[0].user_tok_s or 0.0 for cell in experiment.cells]
    totals = [cell.runs[0].total_tok_s or 0.0 for cell in experiment.cells]
    # One user gets what a step of one stream takes; more get less each and more together.
    assert speeds[0] == pytest.approx(1 / 0.020)
    assert speeds == sorted(speeds, reverse=True)
    assert totals == sorted(totals)
    # Kept after every number: what stops it costs the run in progress.
    assert [len(kept.cells) for kept in listener.kept_ones] == [1, 2, 3, 3]
    assert [kept.state for kept in listener.kept_ones][-2:] == [State.RUNNING, State.DONE]


def test_that_more_users_than_slots_queue_which_is_told_and_no_error(model_path: Path) -> None:
    plan = UsersPlan(msgspec.structs.replace(CHAT, think_s=0.0), numbers=(2, 8), requests=16)
    two, eight = simulated(model_path, plan, slots=2).cells
    assert (two.extra[QUEUE], two.notes) == (0.0, ())
    # Each of eight waits for about three answers of 16 tokens at 30 ms.
    assert eight.extra[QUEUE] == pytest.approx(3 * 16 * 0.030, rel=0.1)
    assert eight.extra[QUEUE_SHARE] > 0.9
    assert eight.notes == (
        "8 users share 2 slots: requests wait for one, and TTFT counts the wait.",
    )
    assert eight.runs[0].failed == 0


def test_that_a_rate_of_requests_is_measured_instead_of_users(model_path: Path) -> None:
    plan = UsersPlan(msgspec.structs.replace(CHAT, rate_req_s=2.0, ttft_slo_s=1.0), requests=20)
    (cell,) = simulated(model_path, plan).cells
    assert cell.name == "2 req/s"
    assert USERS not in cell.extra
    kept = kept_of(cell)
    assert kept is not None
    assert kept.of == 20
    assert cell.runs[0].requests == 20


def test_that_two_figures_tell_what_a_long_prompt_does(model_path: Path) -> None:
    engine = FakeEngine(
        prefill_tok_s=1000.0, step_s=lambda streams: 0.010 + 0.010 * streams, chunk_tok=200
    )
    plan = UsersPlan(CHAT, numbers=(3,), requests=24, long_prompt_tok=1000)
    experiment = simulated(model_path, plan, engine=engine)
    alone, mixed = experiment.cells
    assert mixed.name == "3 users and long prompts"
    assert LONG_P99 not in alone.extra
    # A step reads 200 tokens in 200 ms beside up to three streams' 40 ms; prompts of 24 tokens
    # make one 24 ms longer each.
    assert mixed.extra[LONG_P99] == pytest.approx(0.24, rel=0.05)
    assert mixed.extra[OTHER_P99] <= 0.04 + 3 * 0.05
    assert mixed.extra["long_prompts"] == 3
    assert mixed.extra["long_prompt_tok"] == pytest.approx(1000, rel=0.1)
    # The figures of the cell are those of the short chats.
    assert (mixed.runs[0].ttft_s or 9.0) < mixed.extra["long_prompt_ttft_s"]
    told = " ".join(experiment.conclusion)
    assert "is read beside 3 users, ITL p99 of the short chats is 2" in told
    assert "prefill_chunk_tok=auto" in told


# --- The search -------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [1, 3, 6, 11])
def test_that_the_number_found_is_that_of_the_law(model_path: Path, truth: int) -> None:
    # Without pauses all stream at once, so TPOT is 10 ms + 10 ms a user.
    limit_s = 0.010 + 0.010 * truth + 0.0005
    experiment = simulated(model_path, searching(tpot_slo_s=limit_s, think_s=0.0))
    asked = f"TPOT ≤ {limit_s * 1e3:g} ms in 90 % of requests"
    verb = "1 user keeps" if truth == 1 else f"{truth} users keep"
    (sentence,) = experiment.conclusion
    assert sentence.startswith(f"{verb} {asked} (100 %, between 9")
    assert f"; {truth + 1} do not (" in sentence
    assert [cell.extra[USERS] for cell in experiment.cells] == sorted(
        cell.extra[USERS] for cell in experiment.cells
    )


def test_that_with_a_limit_on_the_wait_as_many_are_found_as_there_are_slots(
    model_path: Path,
) -> None:
    experiment = simulated(model_path, searching(ttft_slo_s=0.2, think_s=0.0), slots=5)
    assert experiment.conclusion[0].startswith("5 users keep TTFT ≤ 200 ms in 90 % of requests")


def test_that_a_limit_that_one_alone_breaks_is_answered_with_the_reason(model_path: Path) -> None:
    engine = FakeEngine(prefill_tok_s=8.0, step_s=lambda streams: 0.02)
    plan = searching(ttft_slo_s=1.0, tpot_slo_s=0.5)
    experiment = simulated(model_path, plan, engine=engine)
    first, why = experiment.conclusion
    assert first.startswith(
        "Not even one user keeps TTFT ≤ 1 s and TPOT ≤ 500 ms in 90 % of requests (0 %, between 0 "
    )
    median_s = experiment.cells[0].runs[0].ttft_s
    assert median_s is not None
    assert median_s > 3
    assert why == f"For one user alone, the median TTFT is {median_s:.3f} s."
    assert len(experiment.cells) == 1


def test_that_a_limit_all_keep_is_answered_with_the_limit_of_the_search(model_path: Path) -> None:
    experiment = simulated(model_path, searching(tpot_slo_s=10.0, most=5))
    assert [cell.name for cell in experiment.cells] == ["1 user", "2 users", "4 users", "5 users"]
    assert experiment.conclusion[0].startswith("5 users keep TPOT ≤ 10 s in 90 % of requests")
    assert experiment.conclusion[1] == "That is the limit of this search; --most raises it."


def test_that_a_number_at_the_edge_is_measured_with_other_texts_until_it_is_sure(
    model_path: Path,
) -> None:
    port = FakePort(batching())
    simulated(model_path, searching(tpot_slo_s=0.0305, think_s=0.0, most=2), port=port)
    said = [request.messages[-1].content for request in requests_sent(port)]
    # Warm-ups say what the run after them says; runs of one number say something else each.
    assert len(set(said)) > len(said) / 2


# --- Ends -------------------------------------------------------------------------------------


def test_that_a_stop_keeps_what_was_measured_and_says_how_far_it_came(model_path: Path) -> None:
    port = FakePort(batching())
    listener = Listener(port.stop, after=2)
    experiment = simulated(
        model_path, searching(tpot_slo_s=0.0705, think_s=0.0), port=port, listener=listener
    )
    assert experiment.state is State.STOPPED
    assert [cell.name for cell in experiment.cells] == ["1 user", "2 users"]
    assert experiment.conclusion[-1] == "More than 2 were not tried."
    assert listener.kept_ones[-1] == experiment
    assert port.is_idle


def test_that_a_stop_before_the_first_run_keeps_nothing(model_path: Path) -> None:
    port, listener = FakePort(batching()), Listener()
    port.stop_at_s = port.now_ns / 1e9 + 0.4
    experiment = simulated(model_path, UsersPlan(CHAT, numbers=(1,)), port=port, listener=listener)
    assert (experiment.state, experiment.cells) == (State.STOPPED, ())
    assert listener.kept_ones == []
    port.stop()
    with pytest.raises(StoppedError):
        port.apply(EngineConfig(model_path=str(model_path)))


def test_that_a_budget_ends_a_search_with_what_is_known(model_path: Path) -> None:
    # Every run takes ten seconds.
    plan, listener = searching(tpot_slo_s=0.0705, think_s=0.0, seconds=25.0), Listener()
    experiment = simulated(
        model_path, plan, listener=listener, clock=lambda: 10.0 * len(listener.kept_ones)
    )
    assert experiment.state is State.DONE
    assert [cell.name for cell in experiment.cells] == ["1 user", "2 users", "4 users"]
    assert experiment.conclusion[0] == "The time of 25 s was over before all was measured."
    assert experiment.conclusion[-1] == "More than 4 were not tried."


def test_that_an_engine_that_dies_leaves_what_was_measured(model_path: Path) -> None:
    engine = FakeEngine(prefill_tok_s=1e6, dies_after=40)
    plan = UsersPlan(CHAT, numbers=(1, 2, 4), requests=20)
    experiment = simulated(model_path, plan, engine=engine)
    assert experiment.state is State.FAILED
    assert "was ended by SIGKILL" in experiment.failure
    assert [cell.name for cell in experiment.cells] == ["1 user"]


def test_that_an_engine_that_answers_nobody_is_a_sentence(model_path: Path) -> None:
    engine = FakeEngine(refuses=lambda command: "" if command.as_completion else "Too warm.")
    experiment = simulated(model_path, UsersPlan(CHAT, numbers=(1, 2)), engine=engine)
    assert experiment.state is State.FAILED
    assert "did not end as asked for. Too warm." in experiment.failure


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (UsersPlan(CHAT, is_search=True), "There is no limit to keep"),
        (UsersPlan(CHAT, numbers=(0,)), "--users takes 1 to 10,000; got 0."),
        (UsersPlan(CHAT, seconds=0.0), "Users need time; got 0 seconds."),
        (UsersPlan(CHAT, seconds=math.nan), "Users need time; got nan seconds."),
        (UsersPlan(CHAT, requests=0), "--requests takes 1 to 10,000; got 0."),
        (UsersPlan(CHAT, share=1.0), "--share takes 0.5 to 0.99; got 1."),
        (UsersPlan(CHAT, most=0), "--most takes 1 to 10,000; got 0."),
        (UsersPlan(CHAT, long_prompt_tok=-1), "--long-prompt takes tokens; got -1."),
        (
            UsersPlan(msgspec.structs.replace(CHAT, rate_req_s=1.0), numbers=(2,)),
            "With rate_req_s requests arrive whoever waits",
        ),
    ],
)
def test_that_a_plan_that_cannot_be_carried_out_is_a_sentence(
    model_path: Path, plan: UsersPlan, sentence: str
) -> None:
    port = FakePort(batching())
    with pytest.raises(DomainError) as refused:
        simulated(model_path, plan, port=port)
    assert sentence in str(refused.value)
    assert not port.sent


def test_that_what_fits_into_no_slot_is_told_before_anything_runs(model_path: Path) -> None:
    port = FakePort(batching())
    for plan, way_out in (
        (UsersPlan(msgspec.structs.replace(CHAT, prompt_tok=Fixed(400)), numbers=(2,)), "answer_"),
        (UsersPlan(CHAT, numbers=(2,), long_prompt_tok=4000), "4,608, or lower --long-prompt."),
    ):
        with pytest.raises(WorkloadError) as refused:
            simulated(model_path, plan, port=port, ctx_tok=512)
        assert "than the 512 of a slot" in str(refused.value)
        assert way_out in str(refused.value)
    assert not port.sent


def test_that_a_pool_too_small_for_all_is_told_before(model_path: Path) -> None:
    config = EngineConfig(
        model_path=str(model_path),
        slots=8,
        ctx_per_slot_tok=1024,
        kv_unified=True,
        ctx_total_tok=512,
    )
    queueing, pool = UsersPlan(CHAT, numbers=(2, 12)).remarks(config)
    assert queueing.startswith("12 users share 8 slots")
    assert pool.startswith("The KV pool of 512 tokens may be too small for 8 conversations")
    assert UsersPlan(CHAT, numbers=(2,)).remarks(config) == ()


# --- Text -------------------------------------------------------------------------------------


def test_that_the_curve_is_a_table_of_terminal_width(model_path: Path) -> None:
    plan = UsersPlan(
        msgspec.structs.replace(CHAT, ttft_slo_s=1.0, tpot_slo_s=0.1), numbers=(1, 4, 16),
        requests=12,
    )  # fmt: skip
    experiment = simulated(model_path, plan, slots=4)
    lines = users_lines(experiment, explain=True)
    assert max(map(len, lines)) <= WIDTH
    head = next(line for line in lines if line.startswith("users"))
    for word in ("between", "goodput", "TTFT p95", "queue", "ITL p99", "user", "total"):
        assert word in head
    assert any(line.startswith("16 ") for line in lines)
    assert sum(line.startswith("16 users share 4 slots") for line in lines) == 1
    assert any(line.startswith("workload   toy: users with pauses of 0.05 s") for line in lines)
    assert not any("requests of" in line for line in lines)
    assert any("Wilson" in line for line in lines)
    # The history tells it as the command does.
    assert whole_lines(experiment, explain=True) == lines


def test_that_without_limits_there_is_no_column_of_what_was_kept(model_path: Path) -> None:
    experiment = simulated(model_path, UsersPlan(CHAT, numbers=(1, 2), requests=12))
    lines = users_lines(experiment)
    assert not any("kept" in line or "goodput" in line for line in lines)
    assert experiment.conclusion == ()


# --- Rates ------------------------------------------------------------------------------------


def rates(*values: float, requests: int = 20, **limits: float) -> UsersPlan:
    return UsersPlan(msgspec.structs.replace(CHAT, **limits), rates=values, requests=requests)


def test_that_each_rate_is_a_cell_of_the_curve_of_goodput_against_load(model_path: Path) -> None:
    plan = rates(4.0, 0.5, 1.0, tpot_slo_s=0.0305)
    experiment = simulated(model_path, plan)
    assert "toy, 0.5 to 4 req/s, " in experiment.title
    assert [cell.name for cell in experiment.cells] == ["0.5 req/s", "1 req/s", "4 req/s"]
    assert [cell.extra[RATE] for cell in experiment.cells] == [0.5, 1.0, 4.0]
    assert not any(USERS in cell.extra for cell in experiment.cells)
    for cell in experiment.cells:
        assert cell.extra[JUDGED] == cell.runs[0].requests == 20
        assert cell.runs[0].failed == 0
    # Two streams at a time keep the limit; of many that arrive a second more are under way.
    shares = [cell.runs[0].kept_share or 0.0 for cell in experiment.cells]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]


def test_that_rates_have_an_answer_and_a_column_of_their_own(model_path: Path) -> None:
    experiment = simulated(model_path, rates(0.2, 8.0, requests=80, tpot_slo_s=0.0305))
    good, bad = experiment.conclusion
    assert good.startswith("0.2 req/s keep TPOT ≤ 30.5 ms in 95 % of requests (")
    assert bad.startswith("8 req/s do not keep them (")
    lines = users_lines(experiment)
    assert max(map(len, lines)) <= WIDTH
    head = next(at for at, line in enumerate(lines) if line.startswith("rate "))
    assert lines[head + 1].startswith("req/s")
    assert lines[head + 2].startswith("0.2 ")
    assert "Goodput counts requests that kept TPOT ≤ 30.5 ms." in lines
    assert any(line.startswith("workload   toy: requests (Poisson), ") for line in lines)


def test_that_a_long_prompt_arrives_among_requests_that_wait_for_nobody(model_path: Path) -> None:
    plan = msgspec.structs.replace(CHAT, think_s=0.0)
    asked = UsersPlan(plan, rates=(8.0,), requests=24, long_prompt_tok=1000)
    engine = FakeEngine(
        prefill_tok_s=1000.0, step_s=lambda streams: 0.010 + 0.010 * streams, chunk_tok=200
    )
    alone, mixed = simulated(model_path, asked, engine=engine).cells
    assert mixed.name == "8 req/s and long prompts"
    assert mixed.extra[RATE] == alone.extra[RATE] == 8.0
    assert mixed.extra[LONG_P99] > mixed.extra[OTHER_P99]


# --- The time left ----------------------------------------------------------------------------


def test_that_the_time_left_is_known_from_the_first_run_on(model_path: Path) -> None:
    listener = Listener()
    plan = UsersPlan(CHAT, numbers=(1, 2, 4), requests=12)
    simulated(model_path, plan, listener=listener)
    told = [entry for entry in listener.told if "user" in entry[1]]
    of_others = [left_s for _, sentence, left_s in told if not sentence.startswith("1 user")]
    assert told[0][2] is None
    assert all(left_s is not None for left_s in of_others)
    assert told[-1][2] == pytest.approx(0.0, abs=0.5)
    shares = [share for share, _, _ in told]
    assert shares == sorted(shares)


def test_that_an_open_loop_knows_its_time_before_it_begins(model_path: Path) -> None:
    listener = Listener()
    simulated(model_path, rates(1.0, 4.0, requests=20), listener=listener)
    first = next(entry for entry in listener.told if entry[1] == "1 req/s")
    assert first[2] == pytest.approx(20 / 1.0 + 20 / 4.0)


# --- Going on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [1, 2, 3])
def test_that_a_curve_stopped_after_any_part_comes_to_the_same_when_gone_on_with(
    model_path: Path, part: int
) -> None:
    plan = UsersPlan(
        msgspec.structs.replace(CHAT, tpot_slo_s=0.055), numbers=(1, 2, 4), requests=12,
        long_prompt_tok=300,
    )  # fmt: skip
    whole = simulated(model_path, plan)
    port = FakePort(batching())
    stopped = simulated(model_path, plan, port=port, listener=Listener(port.stop, part))
    assert stopped.state is State.STOPPED
    assert len(stopped.cells) == part
    cut = msgspec.json.decode(msgspec.json.encode(stopped), type=Experiment)
    cut = msgspec.structs.replace(cut, state=State.CUT, tags=("kept",))
    finished = simulated(model_path, plan, kept=cut)
    assert (finished.key, finished.state, finished.tags) == (stopped.key, State.DONE, ("kept",))
    assert finished.cells == whole.cells
    assert finished.conclusion == whole.conclusion


def test_that_numbers_that_were_measured_are_not_measured_again(model_path: Path) -> None:
    few = simulated(model_path, UsersPlan(CHAT, numbers=(1, 2), requests=12))
    port = FakePort(batching())
    more = simulated(model_path, UsersPlan(CHAT, numbers=(2, 8), requests=12), port=port, kept=few)
    assert [cell.name for cell in more.cells] == ["1 user", "2 users", "8 users"]
    assert more.cells[:2] == few.cells
    assert more.title.endswith("1 to 8 users, ctx_per_slot_tok=2048, slots=16")
    again = FakePort(batching())
    assert simulated(
        model_path, UsersPlan(CHAT, numbers=(2, 8), requests=12), port=again, kept=more
    ).cells == more.cells  # fmt: skip
    assert requests_sent(again) == []


@pytest.mark.parametrize("part", [1, 2, 3, 4, 5])
def test_that_a_search_that_was_cut_finds_the_same(model_path: Path, part: int) -> None:
    plan = searching(tpot_slo_s=0.0705, think_s=0.0)
    whole = simulated(model_path, plan)
    port = FakePort(batching())
    stopped = simulated(model_path, plan, port=port, listener=Listener(port.stop, part))
    finished = simulated(model_path, plan, kept=stopped)
    assert finished.conclusion == whole.conclusion
    assert [cell.name for cell in finished.cells] == [cell.name for cell in whole.cells]
    assert [kept_of(cell) for cell in finished.cells] == [kept_of(cell) for cell in whole.cells]


def test_that_what_does_not_belong_to_it_is_refused(model_path: Path) -> None:
    plan = UsersPlan(CHAT, numbers=(1,), requests=12)
    kept = simulated(model_path, plan)
    port = FakePort(batching())
    for other, slots, sentence in (
        (UsersPlan(msgspec.structs.replace(CHAT, turns=1), numbers=(1,)), 16, "another workload"),
        (plan, 8, "other settings (slots)"),
        (rates(1.0), 16, "measured with users who wait, and this asks for a rate"),
    ):
        with pytest.raises(DomainError) as refused:
            simulated(model_path, other, port=port, slots=slots, kept=kept)
        assert sentence in str(refused.value)
    bench = msgspec.structs.replace(kept, kind=Kind.BENCH)
    with pytest.raises(DomainError, match="is no experiment with users but a bench"):
        simulated(model_path, plan, port=port, kept=bench)
    elsewhere = msgspec.structs.replace(
        kept, subject=msgspec.structs.replace(kept.subject, machine="another")
    )
    with pytest.raises(DomainError, match="was measured on another machine: another, and this is"):
        simulated(model_path, plan, port=port, kept=elsewhere)
    assert not port.sent
