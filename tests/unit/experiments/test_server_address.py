"""Addresses and keys as users write them."""

from __future__ import annotations

import pytest

from app.experiments.server_address import ApiKey, address_of, key_of
from engine_bridge.settings.domain import DomainError


@pytest.mark.parametrize(
    ("text", "base_url"),
    [
        ("localhost:8080", "http://localhost:8080/v1"),
        ("http://localhost:8080/", "http://localhost:8080/v1"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("https://api.example.org/openai/v1/chat/completions", "https://api.example.org/openai/v1"),
        ("http://host:1234/v1/models", "http://host:1234/v1"),
        (" http://[::1]:9000 ", "http://[::1]:9000/v1"),
        ("https://api.example.org", "https://api.example.org/v1"),
    ],
)
def test_that_an_address_is_taken_as_people_write_it(text: str, base_url: str) -> None:
    assert address_of(text).base_url == base_url


def test_that_a_port_follows_from_the_scheme() -> None:
    assert (address_of("https://a.org").port, address_of("http://a.org").port) == (443, 80)
    assert address_of("http://[::1]").place == "[::1]:80"


@pytest.mark.parametrize(
    "text", ["", "   ", "ftp://host", "http://", "http://a b", "http://a:0", "http://a:99999",
             "http://[::1", "http://a:x", "file:///etc/passwd", "http://host\n.org"],
)  # fmt: skip
def test_that_what_is_no_address_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(DomainError) as error:
        address_of(text)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    "text", ["http://me:s3cret@host", "http://host/v1?key=s3cret", "http://host/#s3cret"]
)
def test_that_a_secret_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(DomainError) as error:
        address_of(text)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "is_loopback"),
    [("localhost:1", True), ("127.0.0.9:1", True), ("http://[::1]:1", True), ("a.localhost", True),
     ("0.0.0.0:1", True), ("192.168.1.2:1", False), ("localhost.example.org", False)],
)  # fmt: skip
def test_that_this_machine_is_known_by_its_addresses(text: str, is_loopback: bool) -> None:
    assert address_of(text).is_loopback is is_loopback


@pytest.mark.parametrize(
    ("address", "name", "sent"),
    [("localhost:1", None, "k3y"), ("https://a.org", None, "k3y"), ("http://a.org", None, ""),
     ("http://a.org", "OPENAI_API_KEY", "k3y"), ("http://a.org", "OTHER", "0ther")],
)  # fmt: skip
def test_that_a_key_goes_in_the_clear_to_another_machine_only_if_it_was_named(
    address: str, name: str | None, sent: str
) -> None:
    environment = {"OPENAI_API_KEY": "k3y", "OTHER": "0ther"}
    assert key_of(address_of(address), name, environment).value == sent


def test_that_a_named_key_must_be_there_and_an_unnamed_one_need_not() -> None:
    address = address_of("localhost:1")
    assert not key_of(address, None, {}).value
    with pytest.raises(DomainError, match="no variable MINE"):
        key_of(address, "MINE", {"OPENAI_API_KEY": "k"})


@pytest.mark.parametrize("value", ["a\nb", "schlüssel", "two words"])
def test_that_what_cannot_be_a_key_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(DomainError) as error:
        key_of(address_of("localhost:1"), "MINE", {"MINE": value})
    assert value not in str(error.value)


def test_that_a_key_is_in_no_words() -> None:
    key = ApiKey("k3y-value")
    assert "k3y-value" not in repr(key)
    assert key.hidden_in("wrong key k3y-value, sorry") == "wrong key …, sorry"
    assert ApiKey().hidden_in("as it is") == "as it is"
