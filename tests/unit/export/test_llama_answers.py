"""By which flags of llama.cpp's server a setting is said, as the table of settings names them."""

from __future__ import annotations

import pytest

from app.export import llama_answers
from app.export.engine_words import engine_words
from app.export.llama_flag import situation_of
from app.export.targets import TARGETS
from engine_bridge.settings.config import EngineConfig

SIZED = ("ngram-simple", "ngram-map-k", "ngram-map-k4v")


def how(config: EngineConfig, key: str) -> str:
    return llama_answers.answers(situation_of(config, None, None, "llama-server"))[key].how


def test_that_every_flag_that_is_named_is_one_of_the_program() -> None:
    known = engine_words("llama_cpp")
    for key, flags in llama_answers.FLAG_OF.items():
        for flag in flags.split(", "):
            assert known.flag(flag) is not None, (key, flag)


@pytest.mark.parametrize(
    ("kinds", "flags"),
    [
        ((), [f"--spec-{kind}-size-m" for kind in SIZED]),
        (("ngram-mod",), [f"--spec-{kind}-size-m" for kind in SIZED]),
        (("ngram-map-k",), ["--spec-ngram-map-k-size-m"]),
        (
            ("ngram-simple", "ngram-mod", "ngram-map-k4v"),
            ["--spec-ngram-simple-size-m", "--spec-ngram-map-k4v-size-m"],
        ),
    ],
)
def test_that_of_drafters_the_flags_of_those_in_use_are_named(
    kinds: tuple[str, ...], flags: list[str]
) -> None:
    assert how(EngineConfig(spec_types=kinds), "ngram_size_m") == ", ".join(flags)


@pytest.mark.parametrize("target", list(TARGETS))
def test_that_no_engine_names_a_flag_with_a_gap_in_it(target: str) -> None:
    for kinds in ((), ("ngram-simple",), ("ngram-map-k4v", "ngram-mod")):
        config = EngineConfig(model_path="/models/m.gguf", spec_types=kinds)
        for key, answer in TARGETS[target](config, None, None).carried.items():
            assert "-…" not in answer.how, key
