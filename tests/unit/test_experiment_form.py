"""What was typed into the form becomes what the command line would have asked for, or sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.conversation import Conversation
from app.experiment_fields import FormError
from app.experiment_form import read_form
from app.experiment_offers import offers_for
from app.experiment_reading import NO_MODEL
from app.experiment_request import (
    BenchRequest,
    CompareRequest,
    ProbeRequest,
    QualityRequest,
    SweepRequest,
    TuneRequest,
    UsersRequest,
)
from app.experiments.lengths import Fixed, Uniform
from app.experiments.presets import preset_workload
from app.experiments.replay import replay_of
from app.experiments.workload import Material
from app.experiments.workload_words import changed
from tests.unit.experiments.form_cases import RUNNING, form, situation
from widgets.experiments.form_fields import FIELDS
from widgets.experiments.form_values import FILE, YES, FormValues


def refused(values: FormValues, **wanted: Any) -> dict[str, str]:
    with pytest.raises(FormError) as found:
        read_form(values, situation(**wanted))
    return found.value.problems


# --- Each kind becomes its request -----------------------------------------------------------


def test_that_an_empty_form_asks_for_what_the_command_line_does_by_default() -> None:
    request = read_form(form("bench"), situation()).request
    assert request == BenchRequest(RUNNING, preset_workload("chat"), 5)


def test_that_what_was_typed_goes_into_the_workload_in_its_units() -> None:
    values = form("bench", users="3", requests="12", ttft_slo_s="none", tpot_slo_ms="80", runs="7")
    request = read_form(values, situation()).request
    assert isinstance(request, BenchRequest)
    expected = changed(
        preset_workload("chat"), ["users=3", "requests=12", "ttft_slo_s=none", "tpot_slo_s=0.08"]
    )
    assert (request.workload, request.runs) == (expected, 7)


def test_that_lengths_are_written_as_on_the_command_line() -> None:
    values = form("users", prompt_tok="uniform:100:400", answer_tok="64", how="numbers")
    request = read_form(values, situation()).request
    assert isinstance(request, UsersRequest)
    work = request.plan.workload
    assert (work.prompt_tok, work.answer_tok) == (Uniform(100, 400), Fixed(64))


def test_that_the_lengths_of_a_conversation_are_its_own() -> None:
    conversation = Conversation("c1", 1)
    conversation.ask("What is a slot?")
    conversation.append("A place for one conversation.")
    conversation.finish("end", "")
    asked = replace(situation(), replay=replay_of(conversation), why_no_replay="")
    values = form("bench", source="conversation", prompt_tok="64")
    assert (
        read_form(values, asked).request
        == read_form(form("bench", source="conversation"), asked).request
    )


@pytest.mark.parametrize("name", ["prompt_tok", "answer_tok"])
@pytest.mark.parametrize("text", ["long", "0", "uniform:9:3", "1e9", "lognormal:200"])
def test_that_a_length_that_is_none_is_told_at_its_field(name: str, text: str) -> None:
    values = FormValues("bench", texts={name: text})
    assert list(refused(values)) == [name]


@pytest.mark.parametrize(
    ("users", "is_said"), [("1", True), ("3", True), ("4", False), ("9", False)]
)
def test_that_slots_without_users_are_said_to_stay_idle(users: str, is_said: bool) -> None:
    found = read_form(form("sweep", axes=("slots=1,4",), users=users), situation())
    assert ("stay idle" in found.notes["axes"]) is is_said
    assert ".." not in found.notes["axes"]


def test_that_a_sweep_of_other_settings_says_nothing_of_idle_slots() -> None:
    found = read_form(form("sweep", axes=("threads=1,2",)), situation())
    assert "stay idle" not in found.notes["axes"]


def test_that_the_settings_wanted_in_the_tune_column_can_be_measured() -> None:
    values = form("bench", settings="wanted")
    wanted = read_form(values, situation(slots=3)).request
    running = read_form(form("bench"), situation(slots=3)).request
    assert isinstance(wanted, BenchRequest)
    assert isinstance(running, BenchRequest)
    assert (wanted.config.slots, running.config.slots) == (3, 2)


def test_that_a_sweep_says_how_many_combinations_run_and_why_others_do_not() -> None:
    values = form("sweep", axes=("slots=1,2", "ctx_per_slot_tok=512,4096"), rounds="6")
    found = read_form(values, situation())
    request = found.request
    assert isinstance(request, SweepRequest)
    assert request.words == ("slots=1,2", "ctx_per_slot_tok=512,4096")
    assert (request.measure.key, request.rounds) == ("user_tok_s", 6)
    assert found.notes["axes"].startswith(
        "4 combinations; 2 of them cannot run and are left out: Turn "
    )


def test_that_a_sweep_of_many_users_is_judged_by_all_they_get() -> None:
    request = read_form(form("sweep", source="batch", axes=("slots=1,4",)), situation()).request
    assert isinstance(request, SweepRequest)
    assert request.measure.key == "total_tok_s"
    by_ttft = read_form(form("sweep", axes=("slots=1,4",), by="ttft_s"), situation()).request
    assert isinstance(by_ttft, SweepRequest)
    assert by_ttft.measure.key == "ttft_s"


def test_that_a_comparison_is_of_what_runs_and_what_is_wanted() -> None:
    found = read_form(form("compare", b="flash_attn=off", minutes="2"), situation(slots=4))
    request = found.request
    assert isinstance(request, CompareRequest)
    assert (request.asked.first, request.asked.second.slots) == (RUNNING, 4)
    assert request.names == ("slots=2, flash_attn=auto", "slots=4, flash_attn=off")
    assert (request.asked.measure.key, request.asked.seconds) == ("tpot_s", 120)
    assert found.notes["b"] == "B: 4 slots, Flash attention off"


def test_that_users_are_some_numbers_or_a_search() -> None:
    numbers = read_form(form("users", how="numbers", numbers="4, 1"), situation()).request
    assert isinstance(numbers, UsersRequest)
    assert numbers.plan.loads == (1, 4)


def test_that_users_can_arrive_at_rates() -> None:
    rates = read_form(form("users", how="rates", rates="1,0.5"), situation()).request
    assert isinstance(rates, UsersRequest)
    assert (rates.plan.rates, rates.plan.numbers) == ((1.0, 0.5), ())


def test_that_a_search_has_its_own_fields() -> None:
    values = form("users", how="find", numbers="nonsense", share="90", most="16", judged="30")
    search = read_form(values, situation()).request
    assert isinstance(search, UsersRequest)
    plan = search.plan
    assert (plan.is_search, plan.share, plan.most, plan.requests) == (True, 0.9, 16, 30)


def test_that_quality_takes_pairs_of_types_and_reads_the_text_given(tmp_path: Path) -> None:
    text = tmp_path / "own.txt"
    text.write_text("Once upon a time. " * 50)
    values = form("quality", types="q8_0/q4_0, q4_0", chunks="3", text=str(text), recall=YES)
    request = read_form(values, situation()).request
    assert isinstance(request, QualityRequest)
    asked = request.asked
    assert [tuple(each.values()) for each in asked.candidates] == [
        ("q8_0", "q4_0"), ("q4_0", "q4_0"),
    ]  # fmt: skip
    assert (asked.chunks, asked.facts, asked.text_name) == (3, 20, "own.txt")
    assert asked.text.startswith("Once upon")


def test_that_tuning_is_for_a_purpose_within_what_must_hold() -> None:
    values = form("tune", source="batch", purpose="batch", margin_mib="1024", measurements="20")
    request = read_form(replace(values, drafts=("/d.gguf",)), situation()).request
    assert isinstance(request, TuneRequest)
    goal = request.goal
    assert (goal.purpose, goal.users, goal.margin_bytes) == ("batch", 4, 1 << 30)
    assert (goal.kv_floor, goal.drafts, goal.measurements) == ("q8_0", ("/d.gguf",), 20)
    alone = read_form(form("tune", source="batch"), situation()).request
    assert isinstance(alone, TuneRequest)
    assert (alone.goal.purpose, alone.goal.users) == ("chat", 1)
    assert alone.goal.seconds == 1_200, "20 minutes for whoever names none"
    for minutes, seconds in (("2.5", 150), ("0", 0)):
        limited = read_form(form("tune", source="batch", minutes_tune=minutes), situation()).request
        assert isinstance(limited, TuneRequest)
        assert limited.goal.seconds == seconds


def test_that_a_server_is_probed_without_a_model_or_beside_the_one_that_runs() -> None:
    values = form("probe", url="localhost:8080", users="2", runs="3")
    alone = read_form(values, situation(running=None)).request
    assert isinstance(alone, ProbeRequest)
    assert (alone.url, alone.config, alone.workload.users, alone.runs) == (
        "localhost:8080", None, 2, 3,
    )  # fmt: skip
    beside = form("probe", url="localhost:8080", beside=YES)
    both = read_form(beside, situation()).request
    assert isinstance(both, ProbeRequest)
    assert both.config == RUNNING
    assert refused(beside, running=None) == {"beside": NO_MODEL}


def test_that_fields_of_other_kinds_do_not_count() -> None:
    """They keep what was typed there, and it may be wrong."""
    values = form("bench", types="nonsense", pairs="x", share="x", numbers="x", most="x")
    assert isinstance(read_form(values, situation()).request, BenchRequest)


# --- The work --------------------------------------------------------------------------------


def test_that_a_text_of_ones_own_is_asked_about(tmp_path: Path) -> None:
    text = tmp_path / "my notes.txt"
    text.write_text("Some words of mine. " * 400)
    request = read_form(form("bench", source="file", path=str(text)), situation()).request
    assert isinstance(request, BenchRequest)
    work = request.workload
    assert (work.material, work.text_path, work.name) == (Material.FILE, str(text), "my-notes")


def test_that_the_conversation_in_front_is_replayed_by_as_many_as_wanted() -> None:
    conversation = Conversation("c1", 1)
    conversation.ask("What is a slot?")
    conversation.append("A place for one conversation.")
    conversation.finish("end", "")
    replay = replay_of(conversation)
    asked = replace(situation(), replay=replay, why_no_replay="")
    request = read_form(form("bench", source="conversation", users="2"), asked).request
    assert isinstance(request, BenchRequest)
    work = request.workload
    assert (work.recording, work.users, work.requests) == (replay.recording, 2, 2)


# --- What is wrong is told beside the field --------------------------------------------------


def test_that_without_a_model_nothing_can_be_started() -> None:
    assert refused(form("bench"), running=None) == {"": NO_MODEL}
    assert offers_for(situation(running=None)).why_no_start == NO_MODEL
    assert offers_for(situation()).why_no_start == ""


def test_that_all_wrong_numbers_are_told_at_once() -> None:
    problems = refused(form("bench", users="0", requests="many", tpot_slo_ms="-1", runs="2000"))
    assert problems == {
        "runs": "Runs takes a whole number from 1 to 1,000; got '2000'.",
        "users": "Users at a time takes a whole number from 1 to 10,000; got '0'.",
        "requests": "Requests takes a whole number from 1 to 100,000; got 'many'.",
        "tpot_slo_ms": "TPOT limit takes a number above 0 and at most 86,400,000 ms, or none; "
        "got '-1'.",
    }


@pytest.mark.parametrize(
    ("axes", "field", "words"),
    [
        ((), "axes", "Choose a setting to vary."),
        (("slots=",), "axes.0", "Write the values to try, separated by commas."),
        (("slots=1,x",), "axes.0", "is not a whole number"),
        (("slots=1,1",), "axes.0", "Slots=1,1 has the value 1 twice."),
        (("slots=1", "slots=2"), "axes.1", "Parallel slots varies already; one row is enough."),
        (("slots=1", "=2"), "axes.1", "Choose a setting to vary."),
    ],
)
def test_that_a_wrong_setting_to_vary_is_told_in_its_row(
    axes: tuple[str, ...], field: str, words: str
) -> None:
    problems = refused(form("sweep", axes=axes))
    assert list(problems) == [field]
    assert words in problems[field]


def test_that_a_sweep_of_which_nothing_can_run_is_refused() -> None:
    problems = refused(form("sweep", source="rag", axes=("ctx_per_slot_tok=256,512",)))
    assert problems["axes"].startswith("None of these combinations can run: ")


def test_that_a_workload_too_long_for_a_slot_says_what_to_set() -> None:
    running = replace_slot(256)
    problems = refused(form("bench", source="rag"), running=running)
    assert "Set the context per slot to" in problems["source"]


def replace_slot(tok: int) -> Any:
    return RUNNING.with_values({"ctx_per_slot_tok": tok})


@pytest.mark.parametrize(
    ("texts", "field", "words"),
    [
        ({}, "url", "Where the server is must be said"),
        ({"url": "http://user:pw@host"}, "url", "see the field “Key from”."),
        ({"url": "host", "key_env": "NO_SUCH_VARIABLE"}, "key_env", "NO_SUCH_VARIABLE"),
    ],
)
def test_that_a_server_that_cannot_be_is_told_at_its_field(
    texts: dict[str, str], field: str, words: str
) -> None:
    problems = refused(FormValues("probe", texts=texts))
    assert list(problems) == [field]
    assert words in problems[field]


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ({"users": "4"}, "users"),
        ({"purpose": "users", "ttft_slo_s": "none", "tpot_slo_ms": "none"}, "ttft_slo_s"),
        ({"measurements": "3"}, "measurements"),
        ({"margin_mib": "-1"}, "margin_mib"),
        ({"minutes_tune": "-1"}, "minutes_tune"),
    ],
)
def test_that_a_goal_that_cannot_be_is_told_at_its_field(texts: dict[str, str], field: str) -> None:
    assert list(refused(FormValues("tune", texts=texts))) == [field]


def test_that_comparing_the_same_settings_is_refused_at_b() -> None:
    problems = refused(form("compare"))
    assert problems["b"].startswith("A and B are the same settings")
    assert list(refused(form("compare", b="slots"))) == ["b"]


def test_that_a_search_needs_a_limit() -> None:
    values = form("users", source="batch", how="find")
    assert refused(values) == {
        "ttft_slo_s": "A search needs a limit: set the one of TTFT or of TPOT."
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty."), (b"\x00\x01\x02\xff" * 100, "is not a text file.")],
)
def test_that_a_file_that_is_no_text_is_a_sentence_beside_the_work(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    problems = refused(form("bench", source="file", path=str(path)))
    assert words in problems["source"]
    assert "Choose a text file" in refused(form("bench", source="file"))["source"]


def test_that_a_conversation_that_cannot_be_replayed_says_why() -> None:
    problems = refused(form("bench", source="conversation"))
    assert problems["source"].startswith("Nothing was asked in")


def test_that_an_unknown_cache_type_is_told_at_the_types() -> None:
    assert "q9" in refused(form("quality", types="q9"))["types"]


def test_that_settings_that_break_a_rule_are_told() -> None:
    problems = refused(form("bench", settings="wanted"), cache_type_v="q8_0", flash_attn="off")
    assert list(problems) == ["settings"]


# --- What is offered -------------------------------------------------------------------------


def test_that_every_choice_of_the_form_has_offers() -> None:
    offers = offers_for(situation())
    choices = {spec.name for spec in FIELDS if spec.shape == "choice"}
    assert choices - {"purpose", "kv_floor"} <= set(offers.choices)


def test_that_what_is_wanted_is_told_where_it_differs() -> None:
    offers = offers_for(situation(slots=8))
    assert offers.notes["settings"] == "Set in the Tune column: Parallel slots 2 → 8."
    why_not = {each.key: each.why_not for each in offers_for(situation()).choices["settings"]}
    assert why_not["wanted"] == "The Tune column stands at what the engine runs."


def test_that_numbers_of_thousands_of_digits_are_a_sentence_at_their_field() -> None:
    for digits in ("9" * 5_000, "²", "1,x"):
        problems = refused(form("users", how="numbers", numbers=digits))
        assert "takes whole numbers from 1 to" in problems["numbers"]


def test_that_a_home_folder_that_is_none_is_a_sentence_at_its_field() -> None:
    far = "~no-such-user/x.txt"
    for values in (
        form("bench", source=FILE, path=far),
        form("bench", source=FILE, path="~no-such-user/w.json"),
        form("quality", text=far),
    ):
        told = next(iter(refused(values).values()))
        assert told.startswith("There is no home folder '~no-such-user'.")


def test_that_limits_that_a_purpose_does_not_count_are_noted() -> None:
    noted = read_form(form("tune", purpose="chat", ttft_slo_s="1", tpot_slo_ms="50"), situation())
    assert noted.notes["ttft_slo_s"] == "Counts for “Users within the limits” only."
    assert noted.notes["tpot_slo_ms"] == noted.notes["ttft_slo_s"]
    counted = read_form(form("tune", purpose="users", ttft_slo_s="1"), situation())
    assert "ttft_slo_s" not in counted.notes
