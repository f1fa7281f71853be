"""Walks the settings table: what must hold for every row, whichever rows there are."""

from __future__ import annotations

import inspect
import typing

import msgspec
import pytest

from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import ChoiceDomain, FloatDomain, IntDomain, ListDomain
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Applies, Setting
from engine_bridge.settings.table import BY_KEY, SETTINGS
from engine_bridge.settings.text_domain import TextDomain, WordsDomain

every_row = pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.key)


def test_that_keys_and_labels_are_unique() -> None:
    assert len(BY_KEY) == len(SETTINGS)
    assert len({row.label for row in SETTINGS}) == len(SETTINGS)


def test_that_the_fields_of_the_configuration_are_the_rows() -> None:
    fields = [field.name for field in msgspec.structs.fields(EngineConfig)]
    assert sorted(fields) == sorted(BY_KEY)


@every_row
def test_that_the_default_is_valid_and_the_configuration_s(row: Setting) -> None:
    assert row.domain.check(row.default) == row.default
    assert getattr(EngineConfig(), row.key) == row.default


@every_row
def test_that_help_is_there_and_short(row: Setting) -> None:
    assert row.help.endswith(".")
    assert 20 <= len(row.help) <= 240
    assert row.label[0].isupper()


@every_row
def test_that_keys_say_their_unit(row: Setting) -> None:
    if row.key.endswith("_tok"):
        assert row.unit == "tok"


@every_row
def test_that_values_survive_the_way_through_text(row: Setting) -> None:
    for value in _examples(row):
        assert row.domain.check(value) == value
        assert row.domain.parse(row.domain.format(value)) == value


@every_row
def test_that_the_wire_takes_every_value(row: Setting) -> None:
    for value in _examples(row):
        config = EngineConfig().with_values({row.key: value})
        back = msgspec.json.decode(msgspec.json.encode(config), type=EngineConfig)
        assert back == config


@every_row
def test_that_stops_ascend_within_the_domain(row: Setting) -> None:
    if isinstance(row.domain, IntDomain):
        assert list(row.domain.stops) == sorted(set(row.domain.stops))
        for stop in row.domain.stops:
            row.domain.check(stop)


@every_row
def test_that_choices_are_those_of_the_field(row: Setting) -> None:
    if isinstance(row.domain, ChoiceDomain):
        hint = typing.get_type_hints(EngineConfig, include_extras=True)[row.key]
        assert typing.get_args(hint) == row.domain.choices


@every_row
def test_that_what_needs_memory_is_not_live(row: Setting) -> None:
    """But for what may take memory later, and gives it back when it is asked to."""
    if row.affects_memory and row.key not in ("cache_ram_mib", "ctx_checkpoints"):
        assert row.applies is not Applies.LIVE


def test_that_cache_types_are_the_nine_with_ggml_s_block_sizes() -> None:
    bytes_per_32 = {name: kind.row_bytes(32) for name, kind in CACHE_TYPES.items()}
    assert bytes_per_32 == {
        "f32": 128,
        "f16": 64,
        "bf16": 64,
        "q8_0": 34,
        "q5_1": 24,
        "q5_0": 22,
        "q4_1": 20,
        "iq4_nl": 18,
        "q4_0": 18,
    }


def test_that_a_row_is_documented_by_its_class() -> None:
    documented = inspect.getdoc(Setting) or ""
    for field in Setting.__dataclass_fields__:
        assert f"{field}:" in documented


def _examples(row: Setting) -> list[object]:
    """The default and the extremes of a row's domain."""
    examples: list[object] = [row.default]
    match row.domain:
        case IntDomain() as domain:
            examples += [domain.minimum, domain.maximum, *domain.stops, *domain.words]
        case FloatDomain() as domain:
            examples += [domain.minimum, domain.maximum, domain.minimum + domain.step]
        case ChoiceDomain() as domain:
            examples += domain.choices
        case ListDomain() as domain:
            examples += [(), domain.choices]
        case ItemsDomain() as domain:
            examples += [(), domain.examples, domain.examples[-1:]]
        case TextDomain() as domain:
            examples += ["", domain.example]
        case WordsDomain():
            examples += [(), (" ", ",", "\\", "\\n", "a b\tc")]
    return examples
