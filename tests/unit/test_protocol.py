"""Every message survives the wire, and nothing that is no message passes for one."""

from __future__ import annotations

import json
import math
import typing
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_bridge import protocol
from engine_bridge.protocol import Command, Event

_COMMANDS: tuple[type[Any], ...] = typing.get_args(Command)
_EVENTS: tuple[type[Any], ...] = typing.get_args(Event)


def _strategy(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type; msgspec says what the type is."""
    info = msgspec.inspect.type_info(kind)
    return _of_info(info)


_SIMPLE: dict[type, st.SearchStrategy[Any]] = {
    msgspec.inspect.IntType: st.integers(-(2**63), 2**63 - 1),
    msgspec.inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
    # JSON has no lone surrogates; the engine's text is decoded UTF-8 and has none either.
    msgspec.inspect.StrType: st.text(st.characters(exclude_categories=["Cs"])),
    msgspec.inspect.BoolType: st.booleans(),
    msgspec.inspect.NoneType: st.none(),
}


def _of_info(info: Any) -> st.SearchStrategy[Any]:
    if type(info) in _SIMPLE:
        return _SIMPLE[type(info)]
    found: st.SearchStrategy[Any]
    match info:
        case msgspec.inspect.LiteralType():
            found = st.sampled_from(info.values)
        case msgspec.inspect.EnumType():
            found = st.sampled_from(list(info.cls))
        case msgspec.inspect.UnionType():
            found = st.one_of([_of_info(part) for part in info.types])
        case msgspec.inspect.TupleType():
            found = st.tuples(*map(_of_info, info.item_types))
        case msgspec.inspect.VarTupleType():
            found = st.lists(_of_info(info.item_type), max_size=3).map(tuple)
        case msgspec.inspect.DictType():
            found = st.dictionaries(_of_info(info.key_type), _of_info(info.value_type), max_size=3)
        case msgspec.inspect.StructType():
            fields = {field.name: _of_info(field.type) for field in info.fields}
            found = st.builds(info.cls, **fields)
        case _:
            pytest.fail(f"a message has a field of a type this test does not know: {info}")
    return found


# Some messages have a hundred fields, all told; the whole union is drawn some 500 times.
few = settings(max_examples=20)


@pytest.mark.parametrize("kind", _COMMANDS, ids=lambda kind: kind.__name__)
@few
@given(data=st.data())
def test_that_a_command_survives_the_wire(kind: type[Any], data: st.DataObject) -> None:
    message = data.draw(_strategy(kind))
    line = protocol.encode(message)
    assert line.count(b"\n") == 1
    assert protocol.decode_command(line) == message


@pytest.mark.parametrize("kind", _EVENTS, ids=lambda kind: kind.__name__)
@few
@given(data=st.data())
def test_that_an_event_survives_the_wire(kind: type[Any], data: st.DataObject) -> None:
    message = data.draw(_strategy(kind))
    line = protocol.encode(message)
    assert line.count(b"\n") == 1
    assert protocol.decode_event(line) == message


@pytest.mark.parametrize("kind", [*_COMMANDS, *_EVENTS], ids=lambda kind: kind.__name__)
def test_that_messages_are_frozen_tagged_and_closed(kind: type[Any]) -> None:
    shape = kind.__struct_config__
    assert shape.frozen
    assert shape.forbid_unknown_fields
    assert shape.tag_field == "type"


def test_that_tags_are_unique() -> None:
    for union in (_COMMANDS, _EVENTS):
        tags = [kind.__struct_config__.tag for kind in union]
        assert len(set(tags)) == len(tags)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{",
        b"[]",
        b"llama_model_loader: loaded meta data",
        b'{"type":"reboot"}',
        b'{"request_id":1}',
        b'{"type":"cancel"}',
        b'{"type":"cancel","request_id":"1"}',
        b'{"type":"cancel","request_id":1,"why":"a later version"}',
        b'{"type":"cancel","request_id":1} {"type":"shutdown"}',
        b'{"type":"load","request_id":1,"config":{"slot":4}}',
        b'{"type":"load","request_id":1,"config":{"cache_type_k":"q2_k"}}',
        b"\xff\xfe",
    ],
)
def test_that_what_is_no_command_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_command(line)


def test_that_an_event_is_no_command_and_a_command_no_event() -> None:
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_event(protocol.encode(protocol.Shutdown()))
    logged = protocol.Logged(level="info", text="hello")
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_command(protocol.encode(logged))


def test_that_a_number_that_json_lacks_is_not_invented() -> None:
    event = protocol.BandwidthMeasured(peak_bytes_per_s=math.nan, threads=1, how="read")
    sent = json.loads(protocol.encode(event))
    assert sent["peak_bytes_per_s"] is None
    with pytest.raises(msgspec.DecodeError):
        protocol.decode_event(protocol.encode(event))


@given(st.binary(max_size=200))
def test_that_no_bytes_make_a_decoder_fail_in_another_way(line: bytes) -> None:
    for decode in (protocol.decode_command, protocol.decode_event):
        try:
            decode(line)
        except msgspec.DecodeError as error:
            assert str(error)  # noqa: PT017 - either outcome is allowed
