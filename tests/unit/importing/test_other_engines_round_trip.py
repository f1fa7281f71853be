"""What leaves in the words of another engine comes back as it was, as far as that engine says it.

Which settings those are the dialect says itself, in its answers; what it has to translate or to
leave out may come back as another value or not at all, and must not come back as something else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.export import koboldcpp, lmstudio, ollama, sglang, tensorrt_llm, vllm
from app.export.carried import Manner
from app.export.dialect import Dialect, Export
from app.export.resolved import ALL_LAYERS
from app.importing.found import Found
from app.importing.importer import import_text, settings_for
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.domain import Value
from engine_bridge.settings.placement_items import lora_file
from engine_bridge.settings.table import BY_KEY
from tests.unit.importing.test_round_trip import CONTEXT, HINTS, configs

DIALECTS: dict[str, Dialect] = {
    ollama.TARGET: ollama.export,
    vllm.TARGET: vllm.export,
    sglang.TARGET: sglang.export,
    tensorrt_llm.TARGET: tensorrt_llm.export,
    lmstudio.TARGET: lmstudio.export,
    koboldcpp.TARGET: koboldcpp.export,
}
# A KoboldCpp line names no model where none is chosen; places for names wait for names; fp8 in
# place of q8_0 does not come back; what contradicts itself left so; names of files that do not tell
# which one is the projector.
EXPECTED = {"placeholder", "no_model", "config_file", "home_path", "relative_path", "odd_value",
            "not_gguf", "unknown_context", "shell_quoting", "not_transferable",
            "contradiction", "ambiguous_model"}  # fmt: skip
# Settings of drafts, and those for which some engines have one word.
OF_DRAFTS = ("ngram_", "draft_")
# Numbers of boards are shown alone, since engines count them in orders of their own.
BOARDS = ("main_gpu", "devices")
OF_ONE_WORD = {"cache_type_k", "cache_type_v", *CONTEXT}


@dataclass(frozen=True)
class Told:
    """What came back of a line and its files together."""

    found: tuple[Found, ...]

    @property
    def settings(self) -> dict[str, Value]:
        """Values by their keys, as the desk takes them; those of later texts win."""
        settings = {key: value for one in self.found for key, value in one.settings.items()}
        return settings_for(Found(self.found[0].target, settings)).values

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
    assert {one.target for one in found} == {export.target}
    return Told(tuple(found))


def spoken(export: Export) -> list[str]:
    """Settings that stand in the line or a file, by the words of the dialect's own answers."""
    text = " ".join([export.text, *(file.text for file in export.files)])
    by_kind = export.carried["spec_types"].manner is Manner.SAID
    return [
        key
        for key, answer in export.carried.items()
        if answer.manner is Manner.SAID
        and all(word in text for word in re.split(r"[ .]", answer.how))
        # Where another kind drafts, its lengths are said by another's words.
        and (by_kind or not key.startswith(OF_DRAFTS))
    ]


def same(key: str, value: Value, back: Value) -> bool:
    """Whether two values of a setting mean the same."""
    if key == "lora" and isinstance(value, tuple) and isinstance(back, tuple):
        return [lora_file(item) for item in value] == [lora_file(item) for item in back]
    if key == "tensor_split" and isinstance(value, tuple) and isinstance(back, tuple):
        return list(map(float, value)) == pytest.approx(list(map(float, back)), rel=1e-5)
    if value == "all":
        return back in ("all", ALL_LAYERS)
    return value == back


@pytest.mark.parametrize("target", DIALECTS)
@settings(max_examples=40)
@given(config=configs(), shell=st.sampled_from(list(Shell)))
def test_that_what_an_engine_says_comes_back_and_nothing_else(
    target: str, config: EngineConfig, shell: Shell
) -> None:
    assume(config.ubatch_tok <= config.batch_tok)  # one number stands for both in some engines
    assume(config.top_p > 0)  # engines that refuse it are told a top-k of 1
    export = DIALECTS[target](config, None, None, shell)
    assume(export.text)
    told = imported(export, shell)
    back = told.settings
    for key in spoken(export):
        if key in BOARDS and target in ("vllm", "sglang"):
            continue
        if key in CONTEXT or (key == "n_cpu_moe" and config.cpu_moe):
            continue
        value = getattr(config, key)
        if key == "threads_batch" and value == config.threads:
            continue  # as auto has it
        if value == "auto":
            continue  # said as what it comes to
        assert same(key, value, back.get(key, BY_KEY[key].default)), (key, value, export.text)
    assert told.codes <= EXPECTED, told.found
    invented = set(back) & set(export.not_carried) - told.derived - OF_ONE_WORD
    moved = {key for key in invented if back[key] != getattr(config, key)}
    assert not {key for key in moved if not key.startswith(OF_DRAFTS)}


@pytest.mark.parametrize("target", DIALECTS)
@settings(max_examples=40)
@given(config=configs())
def test_that_slots_and_context_are_what_they_were(target: str, config: EngineConfig) -> None:
    export = DIALECTS[target](config, None, None)
    assume(export.text)
    back = EngineConfig().with_values(dict(imported(export, Shell.POSIX).settings))
    if target != "koboldcpp":
        assert back.slots == config.slots
    if target == "lmstudio":
        assert back.pool_tok == config.pool_tok
        return
    wanted = min(config.ctx_per_slot_tok, config.slot_cap_tok)
    if target == "koboldcpp":
        assert (back.slots, back.pool_tok) == (1, pad_context_tok(min(max(wanted, 256), 524_288)))
    else:
        assert pad_context_tok(back.slot_cap_tok) == pad_context_tok(wanted)
