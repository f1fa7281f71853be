"""What the items of the lists about placement say, and what is refused with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export import llama_server
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.placement_items import (
    endpoint,
    kv_override,
    lora_file,
    tensor_override,
)
from engine_bridge.settings.table import SETTINGS

_LISTS = [setting for setting in SETTINGS if isinstance(setting.domain, ItemsDomain)]


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("tensor_split=3,1", ("3", "1")),
        ("tensor_split=3, 0.50", ("3", "0.5")),
        ("tensor_split=auto", ()),
        ("devices=all", ()),
        ("devices=none", ("none",)),
        ("devices=CUDA0,RPC0", ("CUDA0", "RPC0")),
        ("rpc_servers=LOCALHOST:50052", ("localhost:50052",)),
        (r"override_tensor=\.ffn_(up|down)=CPU, x = RPC0[1.2.3.4:5]",
         (r"\.ffn_(up|down)=CPU", "x=RPC0[1.2.3.4:5]")),
        ('lora="a, b.gguf:0.50",c:\\d.gguf', ("a, b.gguf:0.5", "c:\\d.gguf")),
        ("override_kv=a.b=bool:true,c=int:7,d=float:0.5,e=str:x=y:z",
         ("a.b=bool:true", "c=int:7", "d=float:0.5", "e=str:x=y:z")),
    ],
)  # fmt: skip
def test_that_lists_are_read_as_they_are_typed(assignment: str, value: tuple[str, ...]) -> None:
    ((key, read),) = parse_assignments([assignment]).items()
    assert read == value
    assert getattr(EngineConfig().with_values({key: read}), key) == value


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("tensor_split=3,-1", "is no share"),
        ("tensor_split=3,nan", "is no share"),
        ("devices=CUDA0,CUDA0", "names one twice"),
        ("rpc_servers=here", "HOST:PORT"),
        ("rpc_servers=here:0", "from 1 to 65,535"),
        ("rpc_servers=[::1]:5", "IPv4"),
        ("override_tensor=CPU", "PATTERN=BUFFER"),
        ("override_tensor=a(=CPU", "is no regular expression"),
        ("override_tensor=(?<=a)b=CPU", "kind of group"),
        ("override_kv=a=b", "KEY=TYPE:VALUE"),
        ("override_kv=a=int:x", "no whole number"),
        ("override_kv=a=int:9223372036854775808", "64 bits"),
        ("override_kv=a=bool:yes", "neither true nor false"),
        ("override_kv=a=text:x", "no type of metadata"),
        ("lora=a.gguf:inf", "PATH:SCALE"),
        ('lora="a', "cannot be read as a list"),
    ],
)
def test_that_what_is_no_item_is_refused(assignment: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        parse_assignments([assignment])


def test_that_numbers_count_as_shares() -> None:
    assert EngineConfig.from_values({"tensor_split": [3, 1.5]}).tensor_split == ("3", "1.5")


def test_that_items_are_taken_apart() -> None:
    assert tensor_override("a=b=CPU") == ("a", "b=CPU")
    assert lora_file("x.gguf") == ("x.gguf", 1.0)
    assert lora_file("x.gguf:-0.25") == ("x.gguf", -0.25)
    assert kv_override("k=float:1e5").value == 1e5
    assert endpoint("127.0.0.1:5").is_loopback
    assert endpoint("localhost:5").is_loopback
    assert not endpoint("192.168.0.7:5").is_loopback
    assert not endpoint("worker:5").is_loopback


@pytest.mark.parametrize("setting", _LISTS, ids=lambda setting: setting.key)
@given(text=st.text(max_size=60))
def test_that_any_text_is_refused_or_survives_the_way_through_text(
    setting: object, text: str
) -> None:
    domain = getattr(setting, "domain", None)
    assert isinstance(domain, ItemsDomain)
    try:
        value = domain.parse(text)
    except DomainError:
        return
    assert domain.check(value) == value
    assert domain.parse(domain.format(value)) == value


def test_that_the_line_quotes_items_as_llama_cpp_reads_rows() -> None:
    config = EngineConfig.from_values(
        {
            "lora": ["a, b.gguf", "c.gguf", "d.gguf:0.5"],
            "override_kv": ['general.name=str:"x", y'],
            "rpc_servers": ["127.0.0.1:1", "127.0.0.1:2"],
            "tensor_split": [3, 1],
            "devices": ["RPC1", "RPC0"],
        }
    )
    text = llama_server.export(config, None, None).text
    assert "--lora '\"a, b.gguf\",c.gguf' --lora-scaled d.gguf:0.5" in text
    assert '--override-kv \'"general.name=str:""x"", y"\'' in text
    assert text.index("--rpc 127.0.0.1:1,127.0.0.1:2") < text.index("-dev RPC1,RPC0")
    assert "-ts 3,1" in text
