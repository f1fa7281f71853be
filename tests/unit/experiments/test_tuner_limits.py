"""The tuner's limits of time and runs, its progress, and what it says at the end."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from app.experiments.experiment import Experiment, State
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_result import best_cell, is_before, is_undecided
from app.experiments.tune_table import tune_lines, tune_object
from app.result_tune import outcome_of
from engine_bridge.settings.config import EngineConfig
from tests.unit.experiments.made_up import Listener, plan_that_fits
from tests.unit.experiments.made_up_speeds import (
    PLAIN,
    WORK,
    Clock,
    SpeedBench,
    best_of,
    by_threads,
    tuned,
)  # fmt: skip


def timed(
    seconds: float, runs_s: Iterator[float], listener: Listener | None = None, **values: object
) -> tuple[Experiment, SpeedBench]:
    bench = SpeedBench(by_threads, clock=Clock(runs_s))
    return tuned(bench, listener=listener, seconds=seconds, **values), bench  # type: ignore[arg-type]


def test_that_no_run_begins_after_the_limit_and_the_rest_is_told_as_not_tried_for_it() -> None:
    experiment, bench = timed(60.0, itertools.repeat(10.0))
    assert experiment.state is State.DONE
    assert len(bench.measured) == 6
    told = " ".join(experiment.conclusion)
    assert "6 of at most 80 runs were taken" in told
    assert "in 60 s of at most 60 s." in told
    assert "Not tried for lack of time, of which there were 60 s: " in told
    assert "Drafts (spec_types)" in told
    assert "budget" not in told
    assert best_cell(experiment) is not None


def test_that_time_that_is_over_at_once_still_gives_what_it_begins_with() -> None:
    experiment, bench = timed(1.0, itertools.repeat(30.0))
    assert experiment.state is State.DONE
    assert len(bench.measured) == 2
    assert best_of(experiment).slots == 1


def test_that_a_run_that_outlasts_the_limit_ends_its_race_and_is_told() -> None:
    # Five kinds of drafts race, and the third run of the round takes all the time that was left.
    kept = ("threads", "threads_batch", "ubatch_tok", "flash_attn")
    runs_s = itertools.chain([1.0] * 6, itertools.repeat(500.0))
    experiment, bench = timed(100.0, runs_s, kept=kept)
    assert experiment.state is State.DONE
    assert len(bench.measured) == 7
    drafting = [cell for cell in experiment.cells if cell.config.get("spec_types")]
    assert all(cell.notes for cell in drafting)
    ran = [cell for cell in drafting if cell.runs]
    assert len(ran) == 2
    assert all(cell.notes[-1].endswith("Not decided, for the time was over.") for cell in ran)
    assert all(is_undecided(cell) for cell in ran)
    assert {outcome_of(experiment, cell) for cell in ran} == {"not decided"}


def test_that_without_a_limit_no_time_is_too_long() -> None:
    endless, bench = timed(0.0, itertools.repeat(10_000.0), measurements=30)
    assert len(bench.measured) > 6
    assert "lack of time" not in " ".join(endless.conclusion)


def test_that_the_share_never_falls_and_the_time_left_never_grows() -> None:
    # Runs get slower, as with drafts that do not pay.
    listener = Listener()
    timed(1_200.0, (5.0 + 2 * number for number in itertools.count()), listener)
    shares = [share for share, _, _ in listener.told]
    left = [left_s for _, _, left_s in listener.told if left_s is not None]
    assert shares == sorted(shares)
    assert shares[-1] > 0.3
    assert left == sorted(left, reverse=True)
    assert left[0] <= 1_200
    free = Listener()
    timed(0.0, (5.0 + 2 * number for number in itertools.count()), free)
    left = [left_s for _, _, left_s in free.told if left_s is not None]
    assert left == sorted(left, reverse=True)


def test_that_only_steps_that_are_measured_are_counted_and_by_their_labels_and_keys() -> None:
    listener = Listener()
    kept = ("threads", "threads_batch", "ubatch_tok")
    tuned(SpeedBench(lambda _: 10.0), listener=listener, kept=kept)
    told = list(dict.fromkeys(sentence for _, sentence, _ in listener.told))
    assert [sentence for sentence in told if sentence.startswith("Step")] == [
        "Step 1: Flash attention (flash_attn)", "Step 2: Drafts (spec_types)",
    ]  # fmt: skip


def test_that_nothing_is_announced_that_is_not_measured() -> None:
    # Between two parts that are announced at least one run was taken.
    told: list[tuple[str, int]] = []
    bench = SpeedBench(by_threads)

    class Counting(Listener):
        def progressed(self, share: float, sentence: str, left_s: float | None) -> None:
            if not told or told[-1][0] != sentence:
                told.append((sentence, len(bench.measured)))

    for budget in (4, 8, 20, 80):
        told.clear()
        bench.measured.clear()
        tuned(bench, measurements=budget, listener=Counting())
        counts = [count for _, count in told[1:]] + [len(bench.measured)]  # planning measures none
        assert counts == sorted(set(counts)), told


def test_that_runs_that_are_too_few_for_a_race_are_told_as_that() -> None:
    experiment = tuned(SpeedBench(by_threads), measurements=5)
    told = " ".join(experiment.conclusion)
    assert "4 of at most 5 runs were taken" in told
    assert "no run was left" not in told
    assert (
        "a race needs more runs than were left: Threads, decode (threads) (2 runs needed, 1 left)"
        in told
    )


def test_that_every_step_is_told_once_whatever_became_of_it() -> None:
    def misfit(config: EngineConfig) -> str:
        return "" if config.threads_batch == "auto" else "System memory does not suffice."

    listener = Listener()
    for budget in (4, 5, 8, 12, 20, 40):
        experiment = tuned(SpeedBench(by_threads, misfit), measurements=budget, listener=listener)
        told = " ".join(experiment.conclusion)
        for key in ("threads_batch", "ubatch_tok", "flash_attn", "spec_types"):
            assert told.count(f"({key})") == 1, (budget, key, told)
        assert (
            "for there was no other value that could run: Threads, prefill (threads_batch)." in told
        )
    stopped = tuned(SpeedBench(by_threads, stop_after=7))
    told = " ".join(stopped.conclusion)
    assert "Not reached before it ended: " in told
    assert "Drafts (spec_types)" in told.split("Not reached")[1]


def test_that_the_conclusion_tells_before_and_after_with_units_and_the_change() -> None:
    experiment = tuned(SpeedBench(by_threads))
    told = " ".join(experiment.conclusion)
    # 4 / speed to the first token, then 100 tokens at that speed: 10.4 s, and a third less.
    chat = r"turn: 10\.\d+ s before → 6\.9\d+ s \(−3[34]\u202f%, medians of \d+ pairs of runs\)\."
    assert re.search(chat, told), told
    batch = tuned(
        SpeedBench(lambda config: 10.0 * config.slots), Purpose.BATCH, users=4,
        start=PLAIN.with_values({"slots": 1}),
    )  # fmt: skip
    told = " ".join(batch.conclusion)
    assert re.search(r"Total throughput: 10\.\d+ tok/s before → 40\.\d+ tok/s \(\+", told), told


def test_that_what_was_settled_and_not_measured_is_told_as_that() -> None:
    settled = tuned(SpeedBench(lambda config: 10.0 * config.slots), measurements=20)
    assert settled.conclusion[0] == (
        "Best for one person chatting: slots=1 in place of 4, by what the work needs and not by "
        "measuring; nothing that was tried is better."
    )
    assert "by what the work needs" not in tuned(SpeedBench(by_threads)).conclusion[0]


def test_that_the_settings_before_are_neither_kept_nor_dropped() -> None:
    experiment = tuned(SpeedBench(by_threads), measurements=8)
    (before,) = [cell for cell in experiment.cells if is_before(cell)]
    assert before.runs
    assert outcome_of(experiment, before) == "before"
    lines = tune_lines(experiment, PLAIN, TuneGoal(Purpose.CHAT, WORK), plan=plan_that_fits)
    assert "  These are the settings before." in lines
    told = " ".join(experiment.conclusion)
    assert "before → 6." in told
    assert "not side by side" in told
    assert (
        "That difference has no interval: it takes 5 pairs of runs side by side; there are none."
        in told
    )


def test_that_settings_before_that_cannot_run_are_compared_with_nothing_and_that_is_said() -> None:
    bench = SpeedBench(by_threads, lambda config: "Too large." if config.slots > 1 else "")
    experiment = tuned(bench)
    told = " ".join(experiment.conclusion)
    assert "Time of a typical turn: 6." in told
    assert "difference" not in told
    lines = tune_lines(experiment, PLAIN, TuneGoal(Purpose.CHAT, WORK), plan=plan_that_fits)
    assert lines[lines.index("  These are the settings before.") + 1] == (
        "  They cannot run: Too large."
    )


def test_that_the_object_for_programs_has_the_command_line() -> None:
    experiment = tuned(SpeedBench(by_threads))
    told = tune_object(experiment, PLAIN, plan=plan_that_fits)
    assert str(told["command_line"]).startswith("llama-server -m /m.gguf")
    assert "-t 1" in str(told["command_line"])
    assert told["command_line_note"] == ""
    assert told["key"] == experiment.key
    nothing = tuned(SpeedBench(by_threads, lambda _: "It does not fit."))
    told = tune_object(nothing, PLAIN, plan=plan_that_fits)
    assert (told["command_line"], told["failure"]) == ("", "It does not fit.")
    assert told["command_line_note"]
