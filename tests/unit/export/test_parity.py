"""Every dialect answers for every setting, and does what it answers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.export.carried import Manner, reasons_in
from app.export.dialect import Export
from app.export.targets import TARGETS
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import SETTINGS
from tests.unit.test_export import COMPANY, FACTS, OTHER_VALUE, configs, effectives

EVERY_KEY = [setting.key for setting in SETTINGS]
_OTHERS = OTHER_VALUE | {"prefill_chunk_tok": 64}
# Lists of which a dialect may carry one item and not another: it says so of the whole.
IN_PARTS = {"extra_flags", "spec_types", "lora", "devices"}


def _said(export: Export) -> tuple[str, tuple[str, ...]]:
    return export.text, tuple(file.text for file in export.files)


@pytest.mark.parametrize("target", TARGETS)
def test_that_every_setting_is_answered_for(target: str) -> None:
    export = TARGETS[target](EngineConfig(model_path="/m.gguf"), None, None)
    assert list(export.carried) == EVERY_KEY
    assert export.not_carried == reasons_in(export.carried)
    assert export.text
    for answer in export.carried.values():
        assert answer.how
        if answer.manner is not Manner.SAID:
            assert answer.how.endswith("."), answer.how
            assert answer.how[-2] != ".", answer.how


@pytest.mark.parametrize("target", TARGETS)
def test_that_what_is_carried_makes_a_difference_and_nothing_else_does(target: str) -> None:
    wrong = {key: why for key in EVERY_KEY if (why := _why_wrong(target, key))}
    assert not wrong


def _why_wrong(target: str, key: str) -> str:
    """What the export does otherwise than it answers for the setting; else empty."""
    config = EngineConfig().with_values({"model_path": "/models/m.gguf"} | COMPANY.get(key, {}))
    other = config.with_values({key: _OTHERS[key]})
    before, after = (TARGETS[target](one, None, FACTS) for one in (config, other))
    answer = after.carried[key]
    differs = _said(before) != _said(after)
    if answer.manner is not Manner.NOT_CARRIED:
        # An engine that always does so takes no word for it, and cannot be told to do otherwise.
        is_always_so = answer.how.startswith("always ")
        if is_always_so and before.carried[key].manner is Manner.NOT_CARRIED:
            return "said to be always so, and yet told" if differs else ""
        return "" if differs else f"said to be carried as {answer.how}"
    return f"said not to be carried: {answer.how}" if differs and key not in IN_PARTS else ""


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40)
@given(config=configs(), effective=st.none() | effectives(), shell=st.sampled_from(Shell))
def test_that_no_configuration_is_too_much(
    target: str, config: EngineConfig, effective: EffectiveConfig | None, shell: Shell
) -> None:
    export = TARGETS[target](config, effective, FACTS, shell)
    assert export.target == target
    assert list(export.carried) == EVERY_KEY
    assert export.not_carried == reasons_in(export.carried)
    assert all(note.endswith(".") for note in export.notes), export.notes
    assert len({file.name for file in export.files}) == len(export.files)
    for file in export.files:
        assert file.text.endswith("\n")
        assert file.about.endswith(".")
        file.text.encode("utf-8")
    if not export.text:
        assert export.notes  # which say why
        assert not export.files
