"""What leaves in the words of another engine comes back as it was, as far as that engine says it.

Which settings those are the dialect says itself, in its answers; what it has to translate or to
leave out may come back as another value or not at all, and must not come back as something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import assume, given

from app.export import koboldcpp, lmstudio, ollama, sglang, tensorrt_llm, vllm
from app.export.carried import Manner
from app.export.dialect import Dialect, Export
from app.importing.found import Found
from app.importing.importer import import_text, settings_for
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.placement_items import lora_file
from engine_bridge.settings.table import BY_KEY
from tests.unit.importing.test_round_trip import HINTS, configs

DIALECTS: dict[str, Dialect] = {
    ollama.TARGET: ollama.export,
    vllm.TARGET: vllm.export,
    sglang.TARGET: sglang.export,
    tensorrt_llm.TARGET: tensorrt_llm.export,
    lmstudio.TARGET: lmstudio.export,
    koboldcpp.TARGET: koboldcpp.export,
}
# A KoboldCpp line names no model where none is chosen; places for names wait for names.
EXPECTED = {"placeholder", "no_model", "config_file", "home_path", "relative_path", "odd_value",
            "not_gguf", "unknown_context"}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What came back of a line and its files together."""

    found: tuple[Found, ...]

    @property
    def settings(self) -> dict[str, Value]:
        """Values by their keys, as the desk takes them; those of later texts win."""
        return {key: v for one in self.found for key, v in settings_for(one).values.items()}

    @property
    def derived(self) -> set[str]:
        """Keys that follow from an engine's rules."""
        return {key for one in self.found for key in one.derived}

    @property
    def codes(self) -> set[str]:
        """Codes of the problems."""
        return {p.partition(":")[0] for one in self.found for p in one.problems}


def imported(export: Export, shell: Shell) -> Told:
    """Everything that the importer finds in an export."""
    found = list(import_text(export.text, HINTS[shell]))
    for file in export.files:
        found += import_text(file.text, file.name)
    return Told(tuple(found))


def spoken(export: Export) -> list[str]:
    """Settings that stand in the line or a file, by the words of the dialect's own answers."""
    text = " ".join([export.text, *(file.text for file in export.files)])
    return [
        key
        for key, answer in export.carried.items()
        if answer.manner is Manner.SAID and all(w in text for w in re.split(r"[ .]", answer.how))
    ]


def same(key: str, value: Value, back: Value) -> bool:
    """Whether two values of a setting mean the same."""
    if key == "lora" and isinstance(value, tuple) and isinstance(back, tuple):
        return [lora_file(item) for item in value] == [lora_file(item) for item in back]
    if key == "tensor_split" and isinstance(value, tuple) and isinstance(back, tuple):
        return list(map(float, value)) == pytest.approx(list(map(float, back)), rel=1e-5)
    return value == back


@pytest.mark.parametrize("shell", list(Shell))
@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs())
def test_that_what_an_engine_says_comes_back(
    target: str, shell: Shell, config: EngineConfig
) -> None:
    assume(config.ubatch_tok <= config.batch_tok)  # one number stands for both in some engines
    export = DIALECTS[target](config, None, None, shell)
    assume(export.text)
    told = imported(export, shell)
    back, keys = told.settings, spoken(export)
    for key in keys:
        value = getattr(config, key)
        if key == "n_cpu_moe" and config.cpu_moe:
            continue
        assert same(key, value, back.get(key, BY_KEY[key].default)), (key, export.text)
    assert told.codes <= EXPECTED, told.found


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs())
def test_that_what_an_engine_cannot_say_does_not_come_back(
    target: str, config: EngineConfig
) -> None:
    export = DIALECTS[target](config, None, None)
    assume(export.text)
    told = imported(export, Shell.POSIX)
    invented = set(told.settings) - told.derived - set(BY_KEY) | (
        (set(told.settings) & set(export.not_carried)) - told.derived
    )
    # A pool and its parts say each other.
    invented -= {"ctx_total_tok", "ctx_per_slot_tok", "kv_unified", "slots"}
    assert not {key for key in invented if told.settings[key] != getattr(config, key)}


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs())
def test_that_slots_and_context_are_what_they_were(target: str, config: EngineConfig) -> None:
    export = DIALECTS[target](config, None, None)
    assume(export.text)
    settings = imported(export, Shell.POSIX).settings
    if target in ("ollama", "vllm", "sglang", "tensorrt-llm"):
        assert settings["slots"] == config.slots
        assert settings["ctx_per_slot_tok"] == min(config.ctx_per_slot_tok, config.slot_cap_tok)
    if target == "koboldcpp":
        assert settings["slots"] == 1
    if target == "lmstudio":
        back = EngineConfig().with_values(dict(settings))
        assert (back.slots, back.pool_tok) == (config.slots, config.pool_tok)
