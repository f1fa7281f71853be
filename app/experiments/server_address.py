"""Where a server is, and the key that it is shown: as the user names them, checked. Pure.

An address is kept in the history; a key must never be, nor stand in a sentence.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted

USUAL_KEY = "OPENAI_API_KEY"
"""The variable of the environment that clients of such servers read."""

# Characters that a host's name can have.
_LONGEST_HOST = 253
_PORTS = {"http": 80, "https": 443}
# What people copy from a manual beside the base address.
_ENDINGS = ("/chat/completions", "/completions", "/models")
_EXAMPLE = "such as http://localhost:8080"


@dataclass(frozen=True)
class ServerAddress:
    """A server with an OpenAI-compatible API.

    Attributes:
        base_url: What paths like ``/chat/completions`` are put behind.
        host: Name or number of its machine.
        port: Its port.
        is_loopback: Whether it runs on this machine, by its address.
        is_encrypted: Whether what is sent is encrypted on the way.
    """

    base_url: str
    host: str
    port: int
    is_loopback: bool
    is_encrypted: bool

    @property
    def place(self) -> str:
        """``localhost:8080``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class ApiKey:
    """What is shown to the server; its words never contain it.

    Attributes:
        value: The key; empty for none.
        name: The variable it came from.
    """

    value: str = field(default="", repr=False)
    name: str = USUAL_KEY

    def hidden_in(self, text: str) -> str:
        """``text`` without the key, which servers repeat in their errors."""
        return text.replace(self.value, "…") if self.value else text


def address_of(text: str) -> ServerAddress:
    """The address in ``text``: with or without ``http://`` and ``/v1``.

    Raises:
        DomainError: If it is none, or holds what must not be kept.
    """
    given = text.strip()
    split = _split(given if "://" in given else f"http://{given}")
    scheme, host, port = split.scheme, split.hostname or "", _port_of(split)
    if split.username or split.password or split.query or split.fragment:
        # Not quoted: it may be a secret.
        raise DomainError(
            "An address takes no user, password, query or fragment, for it is kept in the history. "
            "A key is taken from the environment, see --api-key-env."
        )
    if (
        scheme not in _PORTS
        or not 0 < len(host) <= _LONGEST_HOST
        or not text.isprintable()
        or " " in given
    ):
        raise _no_address(given)
    path = split.path.rstrip("/")
    for ending in _ENDINGS:
        path = path.removesuffix(ending)
    shown_host = f"[{host}]" if ":" in host else host
    place = shown_host if split.port is None else f"{shown_host}:{port}"
    return ServerAddress(
        base_url=f"{scheme}://{place}{path or '/v1'}",
        host=host,
        port=port,
        is_loopback=_is_loopback(host),
        is_encrypted=scheme == "https",
    )


def key_of(address: ServerAddress, name: str | None, environment: Mapping[str, str]) -> ApiKey:
    """The key for ``address``.

    That of ``OPENAI_API_KEY`` is not sent in the clear to another machine unless it was named.

    Args:
        address: Where it will be sent.
        name: The variable that the user named; None takes the usual one if it is there.
        environment: Variables by name.

    Raises:
        DomainError: If the named variable is not there, or no key can be what it holds.
    """
    value = environment.get(name or USUAL_KEY, "").strip()
    if name is not None and not value:
        raise DomainError(f"The environment has no variable {name}, or it is empty.")
    if not value.isascii() or not value.isprintable() or " " in value:
        raise DomainError(f"What the variable {name or USUAL_KEY} holds cannot be a key.")
    is_safe = address.is_loopback or address.is_encrypted
    return ApiKey(value if name is not None or is_safe else "", name or USUAL_KEY)


# --- Inside -----------------------------------------------------------------------------


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:
        raise DomainError(
            f"{quoted(text)} is no address of a server; name one {_EXAMPLE}."
        ) from None


def _no_address(text: str) -> DomainError:
    return DomainError(f"{quoted(text)} is no address of a server; name one {_EXAMPLE}.")


def _port_of(split: SplitResult) -> int:
    try:
        port = split.port
    except ValueError:
        port = 0
    if port == 0:
        raise DomainError("The port of an address is a number from 1 to 65,535.")
    return port or _PORTS.get(split.scheme, 0)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
