"""Profiles in words: the rows under their headings, two side by side, what it costs."""

from __future__ import annotations

import pytest

from app.profile_keeper import Listed
from app.profile_sheets import about, file_name_of, paths_in, rows_of, sheet_of, words_of_switch
from app.profiles import ModelScope, Profile, built_in, taken
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Applies
from tests.unit.fake_client import model_facts
from widgets.profile_rows import NOW

TOY = ModelScope.of(model_facts())
OTHER = ModelScope.of(model_facts(name="Other"))
RUNNING = EngineConfig(model_path="/m.gguf")


def listed(profile: Profile) -> Listed:
    return Listed(profile, taken(profile))


def seconds(cost: Applies) -> float | None:
    """Only a new context was measured."""
    return 0.26 if cost is Applies.CONTEXT else None


TWO = listed(Profile("Two", {"slots": 2, "top_k": 7}, TOY, id="two"))
ALL = listed(Profile("All", {"top_k": 7}, id="all"))
ELSE = listed(Profile("Else", {"slots": 3}, OTHER, id="else"))


def test_that_rows_stand_under_headings_with_what_switching_costs() -> None:
    profiles = [*map(listed, built_in(model_facts(sampling=(("temp", "0.6"),)))), ALL, ELSE, TWO]

    def rows(has_others: bool) -> list[tuple[str, str, str, bool]]:
        found = rows_of(
            profiles, used_id="two", model=TOY, running=RUNNING, seconds=seconds,
            why_not=lambda each: "Not now." if each is ELSE else "", has_others=has_others,
        )  # fmt: skip
        return [(row.group, row.name, row.cost, row.is_chosen) for row in found]

    own = [
        ("Built in", "Defaults", "", False), ("Built in", "The model's own", "live", False),
        ("For Toy · Q4_K", "Two", "new context 0.3\u202fs", True),
        ("For all models", "All", "live", False),
    ]  # fmt: skip
    assert rows(has_others=False) == own
    assert rows(has_others=True) == [*own, ("For other models", "Else", "", False)]


def test_that_without_a_model_nothing_costs_anything() -> None:
    (row,) = rows_of(
        [ALL], used_id="", model=None, running=None, why_not=lambda _: "", seconds=seconds,
        has_others=False,
    )  # fmt: skip
    assert (row.cost, row.group) == ("", "For all models")
    assert sheet_of(ALL, None, EngineConfig(), None, seconds).total == (
        "No model is loaded: switching changes what the next one is loaded with."
    )


def test_that_a_sheet_says_what_differs_from_now() -> None:
    now = EngineConfig(model_path="/m.gguf", ctx_per_slot_tok=8192)
    sheet = sheet_of(TWO, None, now, RUNNING, seconds)
    assert (sheet.title, sheet.other, sheet.before) == ("Two", NOW, "As set now")
    assert [(s.key, s.before, s.after, s.cost) for s in sheet.settings] == [
        ("ctx_per_slot_tok", "8,192 tok", "4,096 tok", "new context"),
        ("slots", "4", "2", "new context"), ("top_k", "40", "7", "live"),
    ]  # fmt: skip
    assert sheet.total.startswith("Switching to it costs: new context 0.3\u202fs. It takes")


RUNS_ALL, SET_ALL = EngineConfig(top_k=7), EngineConfig(top_k=7)
OTHERWISE = EngineConfig(slots=2)
CONTEXT_AND_LIVE = EngineConfig(slots=2, top_k=9)


@pytest.mark.parametrize(
    ("now", "running", "total"),
    [
        (SET_ALL, None, "You have set all of it; it runs with the next model that you load."),
        (SET_ALL, RUNS_ALL, "You have set all of it, and the engine runs it."),
        (
            SET_ALL, OTHERWISE,
            "You have set all of it, but the engine does not run it yet: Apply costs new context "
            "0.3\u202fs.",
        ),
        (
            OTHERWISE, RUNS_ALL,
            "The engine runs exactly this. What differs above is set and waits for Apply: "
            "switching drops it, and costs nothing.",
        ),
        (OTHERWISE, OTHERWISE, "Switching to it costs: new context 0.3\u202fs."),
        (
            OTHERWISE, EngineConfig(),
            "Switching to it costs: live. It takes the place of what waits for Apply.",
        ),
        (
            EngineConfig(), CONTEXT_AND_LIVE,
            "Switching to it costs: new context 0.3\u202fs. It takes the place of what waits for "
            "Apply.",
        ),
    ],
)  # fmt: skip
def test_that_what_is_set_and_what_runs_are_told_apart(
    now: EngineConfig, running: EngineConfig | None, total: str
) -> None:
    sheet = sheet_of(ALL, None, now, running, seconds)
    assert sheet.total == total
    assert bool(sheet.settings) == (now != SET_ALL), "no table of differences beside that"


def test_that_another_file_of_the_model_makes_no_difference() -> None:
    now, running = (EngineConfig(model_path=path, top_k=7) for path in ("/m.gguf", "/n.gguf"))
    sheet = sheet_of(ALL, None, now, running, seconds)
    assert sheet.total == "You have set all of it, and the engine runs it."


def test_that_two_profiles_are_compared_without_what_is_set_now() -> None:
    now = EngineConfig(model_path="/m.gguf", ctx_per_slot_tok=8192)
    sheet = sheet_of(TWO, ALL, now, RUNNING, seconds)
    assert (sheet.other, sheet.before) == ("all", "All")
    assert [setting.key for setting in sheet.settings] == ["slots"]
    assert sheet.total == "Going from “All” to it costs: new context 0.3\u202fs."
    assert sheet_of(TWO, TWO, now, RUNNING, seconds).total == "Both are the same."


def test_that_a_profile_says_whom_it_is_for_and_how_much_it_sets() -> None:
    assert about(TWO) == "For Toy · Q4_K. 2 settings differ from the defaults."
    assert about(listed(Profile("x", {}))) == "For all models. All settings at their defaults."
    saved = about(listed(Profile("x", {"slots": 2}, saved_s=1_700_000_000.0)))
    assert "1 setting differs" in saved
    assert "Saved 2023-11-1" in saved


def test_that_files_of_this_machine_are_named_by_their_settings() -> None:
    profile = Profile(
        "x", {"draft_model_path": "/d.gguf", "lora": ["/a.gguf"], "slots": 2, "tomorrow": "/x"}
    )
    assert len(paths_in(profile)) == 2
    assert paths_in(Profile("x", {"slots": 2})) == ()


def test_that_words_of_a_switch_name_three_and_count_the_others() -> None:
    before = EngineConfig()
    after = EngineConfig(slots=2, top_k=7, min_p=0.1, seed=3, draft_model_path="/a/b/d.gguf")
    assert words_of_switch(before, after) == (
        "Parallel slots 4 → 2, Draft model none → d.gguf, Top-k 40 → 7, 2 more"
    )
    assert words_of_switch(before, before) == ""


def test_that_an_exported_file_is_called_by_name_and_model() -> None:
    assert file_name_of(TWO.profile) == "Two Toy · Q4_K"
    assert file_name_of(ALL.profile) == "All"
