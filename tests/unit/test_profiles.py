"""What a profile is, what becomes of the settings with it, and what the model recommends."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.model_bound import OF_ONE_MODEL
from app.profiles import (
    DEFAULTS_ID,
    MODELS_OWN_ID,
    MOST_NAME_CHARACTERS,
    ModelScope,
    Profile,
    built_in,
    changed_to,
    checked_name,
    cost_of_switching,
    difference,
    fits,
    folded,
    free_name,
    keys_left_out,
    profile_of,
    settings_for,
    switched,
    taken,
)
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_sampling import recommended, sampling_in
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import BY_KEY
from tests.unit.fake_client import model_facts
from tests.unit.gguf_bytes import Gguf, llama_values

TOY = ModelScope.of(model_facts())
SAMPLING = (
    ("temp", "0.600000"), ("top_k", "20"), ("top_p", "0.950000"), ("min_p", "0.000000"),
    ("penalty_repeat", "1.050000"), ("penalty_last_n", "256"),
)  # fmt: skip


# --- Names ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  long   context ", "long context"),
        ("two\nlines\tof it", "two lines of it"),
        ("a\u202eb\x07c\ud800", "abc"),
        ("ÄÖ & <b>50%</b>", "ÄÖ & <b>50%</b>"),
        ("👩\u200d👩\u200d👧 家族", "👩\u200d👩\u200d👧 家族"),
        ("e\u0301", "é"),
        ("x" * MOST_NAME_CHARACTERS, "x" * MOST_NAME_CHARACTERS),
    ],
)
def test_that_a_name_is_any_text_in_one_line(typed: str, kept: str) -> None:
    assert checked_name(typed) == kept


@pytest.mark.parametrize("typed", ["", "  \n ", "\u200d", "\u202e\x00"])
def test_that_nothing_that_can_be_seen_is_no_name(typed: str) -> None:
    with pytest.raises(ValueError, match="needs a name"):
        checked_name(typed)


def test_that_a_name_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(ValueError, match="81 characters; 80"):
        checked_name("x" * 81)


def test_that_names_that_differ_in_capitals_alone_are_the_same() -> None:
    assert folded("Straße") == folded("STRASSE")
    assert folded("Long") != folded("Lung")


def test_that_a_taken_name_gets_the_next_number() -> None:
    assert free_name("Long", ()) == "Long"
    assert free_name("Long", ("long", "LONG (2)")) == "Long (3)"
    assert free_name("Defaults", ()) == "Defaults (2)"
    longest = free_name("x" * 80, ("x" * 80,))
    assert (len(longest), longest[-4:]) == (80, " (2)")


# --- What is kept ---------------------------------------------------------------------------


def test_that_a_profile_keeps_what_differs_from_the_defaults_but_no_model() -> None:
    config = EngineConfig(model_path="/m.gguf", slots=8, spec_types=("ngram-simple",))
    profile = profile_of(config, "Eight", TOY, 5.0)
    assert profile.settings == {"slots": 8, "spec_types": ["ngram-simple"]}
    assert (profile.name, profile.model, profile.saved_s) == ("Eight", TOY, 5.0)


def test_that_one_for_all_models_keeps_nothing_made_for_one() -> None:
    config = EngineConfig(lora=("/a.gguf",), mmproj_path="/p.gguf", slots=2)
    assert settings_for(config, None) == {"slots": 2}
    assert set(settings_for(config, TOY)) == {"lora", "mmproj_path", "slots"}
    assert set(keys_left_out(config, None)) == {"lora", "mmproj_path"}
    assert keys_left_out(config, TOY) == ()


def test_that_what_is_kept_and_taken_again_is_the_same_for_every_setting() -> None:
    for key, setting in BY_KEY.items():
        if key == "model_path":
            continue
        for value in _other_values(key):
            config = EngineConfig().with_values({key: value})
            profile = profile_of(config, "one", TOY, 0.0)
            assert set(profile.settings) <= {key}
            through_json = msgspec.json.decode(msgspec.json.encode(profile.settings))
            assert taken(Profile("one", through_json, TOY)).config == config, setting.label


def _other_values(key: str) -> tuple[object, ...]:
    """Values of a setting beside its default, by its domain."""
    domain = BY_KEY[key].domain
    tried: list[object] = [
        *getattr(domain, "stops", ()), *getattr(domain, "words", ()),
        *getattr(domain, "choices", ()), *getattr(domain, "examples", ()),
    ]  # fmt: skip
    found = []
    tried += [getattr(domain, "example", ""), "15043+1", "/somewhere/a file.gguf", ("\n", "x")]
    for value in (*tried, True, False, 0.5, 2):
        for shaped in (value, (value,)):
            try:
                domain.check(shaped)
            except ValueError:
                continue
            found.append(shaped)
    assert found, key
    return tuple(found[:12])


def test_that_a_profile_saved_again_keeps_what_this_version_does_not_know() -> None:
    old = Profile("Eight", {"slots": 8, "fader_of_tomorrow": [1]}, TOY, 5.0, "id", rest={"x": 1})
    new = changed_to(old, EngineConfig(top_k=7), 9.0)
    assert new.settings == {"fader_of_tomorrow": [1], "top_k": 7}
    assert (new.name, new.model, new.id, new.saved_s, new.rest) == (
        "Eight", TOY, "id", 9.0, {"x": 1},
    )  # fmt: skip


# --- What is taken --------------------------------------------------------------------------


def test_that_what_a_profile_does_not_say_is_at_its_default() -> None:
    now = EngineConfig(model_path="/m.gguf", slots=8, top_k=7, lora=("/a.gguf",))
    target = switched(now, taken(Profile("Two", {"slots": 2})))
    assert target == EngineConfig(model_path="/m.gguf", slots=2)


def test_that_values_outside_their_domain_are_named_and_left_out() -> None:
    found = taken(
        Profile("Bad", {"slots": 0, "flash_attn": "maybe", "top_k": 7, "cpu_moe": {"a": 1}})
    )
    assert found.config == EngineConfig(top_k=7)
    assert len(found.left_out) == 3
    assert "Parallel slots (slots): 0 is outside 1 to 256." in found.left_out[0]
    assert "4 taken" in found.left_out[0]
    for sentence in found.left_out:
        assert sentence in found.caution


def test_that_unknown_settings_are_named_and_have_no_effect() -> None:
    found = taken(Profile("New", {"fader_of_tomorrow": 3, "slots": 2}))
    assert (found.config, found.unknown) == (EngineConfig(slots=2), ("fader_of_tomorrow",))
    assert "fader_of_tomorrow" in found.caution


def test_that_a_model_in_a_profile_moves_no_model() -> None:
    found = taken(Profile("Sly", {"model_path": "/other.gguf", "slots": 2}, TOY))
    assert (found.config, found.left_out) == (EngineConfig(slots=2), ())


def test_that_what_was_made_for_one_model_is_left_out_of_one_for_all() -> None:
    assert OF_ONE_MODEL
    found = taken(Profile("Sly", {"lora": ["/a.gguf"], "slots": 2}))
    assert found.config == EngineConfig(slots=2)
    assert "lora" in found.left_out[0]


def test_that_switching_costs_what_its_dearest_setting_costs() -> None:
    now = EngineConfig(model_path="/m.gguf")
    assert cost_of_switching(now, taken(Profile("Same", {}))) is None
    assert cost_of_switching(now, taken(Profile("Live", {"top_k": 7}))) is Applies.LIVE
    context = Profile("Context", {"top_k": 7, "cache_type_k": "q8_0"})
    assert cost_of_switching(now, taken(context)) is Applies.CONTEXT
    reload = Profile("Reload", {"slots": 2, "n_gpu_layers": 0})
    assert cost_of_switching(now, taken(reload)) is Applies.RELOAD


def test_that_differences_come_with_both_values_and_their_cost() -> None:
    first = EngineConfig(model_path="/a.gguf", slots=2, temperature=0.1)
    second = EngineConfig(model_path="/b.gguf", slots=8, temperature=0.1, top_k=7)
    found = difference(first, second)
    assert [(d.key, d.before, d.after, d.cost) for d in found] == [
        ("slots", 2, 8, Applies.CONTEXT), ("top_k", 40, 7, Applies.LIVE),
    ]  # fmt: skip
    assert difference(first, first) == ()


# --- Whose it is ----------------------------------------------------------------------------


def test_that_a_model_is_known_wherever_its_file_lies() -> None:
    moved = ModelScope.of(model_facts(path="/elsewhere/renamed.gguf"))
    assert moved == TOY
    assert ModelScope.of(model_facts(quantisation="Q8_0")) != TOY
    assert TOY.name == "Toy · Q4_K"


def test_that_a_profile_of_a_model_fits_that_model_alone() -> None:
    other = ModelScope.of(model_facts(name="Other"))
    own = Profile("x", {}, TOY)
    assert [fits(own, model) for model in (TOY, other, None)] == [True, False, False]
    assert all(fits(Profile("x", {}), model) for model in (TOY, other, None))


# --- What is built in -----------------------------------------------------------------------


def test_that_the_defaults_are_built_in() -> None:
    (defaults,) = built_in(None)
    assert (defaults.id, defaults.settings, defaults.is_built_in) == (DEFAULTS_ID, {}, True)
    assert built_in(model_facts()) == (defaults,)


def test_that_the_model_s_own_sampling_is_built_in_with_where_it_comes_from() -> None:
    _, own = built_in(model_facts(sampling=SAMPLING))
    assert own.id == MODELS_OWN_ID
    assert own.is_built_in
    # top_p is what TuneDeck takes anyway.
    assert own.settings == {
        "temperature": 0.6, "top_k": 20, "min_p": 0.0, "repeat_penalty": 1.05,
        "repeat_last_n_tok": 256,
    }  # fmt: skip
    assert "general.sampling" in own.about
    assert "Toy" in own.about
    assert taken(own).caution == ""


def test_that_recommendations_no_setting_takes_are_said() -> None:
    found = recommended(
        (("sequence", "top_k;temp"), ("temp", "warm"), ("penalty_last_n", "-1"), ("top_k", "nan"))
    )
    assert found.values == {}
    assert ["top_k;temp" in found.left_out[0], "warm" in found.left_out[1]] == [True, True]
    assert "-1" in found.left_out[2]
    assert len(found.left_out) == 4
    _, own = built_in(model_facts(sampling=(("temp", "warm"),)))
    assert "warm" in own.about


def test_that_numbers_of_the_header_are_read_as_llama_cpp_reads_them() -> None:
    found = sampling_in(
        {
            "general.sampling.temp": 0.6000000238418579,
            "general.sampling.top_k": 64.0,
            "general.sampling.top_p": 1,
            "general.sampling.sequence": "x" * 5000,
            "general.sampling.unheard_of": 1,
            "general.sampling.min_p": object(),
        }
    )
    names = dict(found)
    assert set(names) == {"temp", "top_k", "top_p", "sequence"}
    assert len(names["sequence"]) == 200
    assert recommended(found[:3]).values == {"temperature": 0.6, "top_k": 64, "top_p": 1.0}


def test_that_a_model_file_says_its_recommendations(tmp_path: Path) -> None:
    values = llama_values() | {
        "general.sampling.temp": 0.7, "general.sampling.top_k": 20,
    }  # fmt: skip
    path = tmp_path / "m.gguf"
    path.write_bytes(Gguf(values=values).file())
    facts = read_model_facts(path)
    assert facts.sampling == (("temp", "0.700000"), ("top_k", "20"))
    assert facts.recommends_sampling
    assert msgspec.json.decode(msgspec.json.encode(facts), type=type(facts)) == facts
