"""What the items of the lists about placement and model files say, taken apart.

Pure text; knows llama.cpp's own spelling of each (``common/arg.cpp``), must not know devices.
"""

from __future__ import annotations

import ipaddress
import math
import re
import warnings
from typing import Literal, NamedTuple

from engine_bridge.settings.domain import DomainError
from engine_bridge.typed_text import quoted

KvKind = Literal["int", "float", "bool", "str"]

# llama.cpp reads patterns with std::regex in its ECMAScript dialect, which has none of Python's
# other groups (lookbehind, named, flags).
_FOREIGN_GROUP = re.compile(r"\(\?(?![:=!])")
_KEY_MOST, _TEXT_MOST = 127, 127  # char[128] in llama_model_kv_override
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")
_INT64 = 2**63
_MOST_PORT = 65_535


class TensorOverride(NamedTuple):
    """Tensors whose name a pattern finds, and the buffer type they go to."""

    pattern: str
    buffer: str


class LoraFile(NamedTuple):
    """An adapter and how strongly it acts; 1 is as it was trained."""

    path: str
    scale: float


class KvOverride(NamedTuple):
    """A key of the model's metadata that is taken to have another value."""

    key: str
    kind: KvKind
    value: int | float | bool | str


class Endpoint(NamedTuple):
    """Where a worker listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def tensor_override(text: str) -> TensorOverride:
    """Read ``PATTERN=BUFFER``.

    Raises:
        DomainError: If it is not of that form, or the pattern is no regular expression.
    """
    pattern, found, buffer = (part.strip() for part in text.partition("="))
    if not found or not pattern or not buffer:
        raise DomainError(
            f"{quoted(text)} is not of the form PATTERN=BUFFER, such as blk\\.0\\.=CPU."
        )
    if "," in text:
        raise DomainError(
            f"{quoted(text)} holds a comma, at which llama.cpp cuts a list in pieces."
        )
    if _FOREIGN_GROUP.search(pattern):
        raise DomainError(
            f"{quoted(pattern)} holds a kind of group that llama.cpp's patterns have not."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # [[:alpha:]] is meant as llama.cpp reads it
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise DomainError(f"{quoted(pattern)} is no regular expression: {error}.") from None
    return TensorOverride(pattern, buffer)


def lora_file(text: str) -> LoraFile:
    """Read ``PATH`` or ``PATH:SCALE``.

    Raises:
        DomainError: If no path is left, or the scale is no finite number.
    """
    path, found, tail = text.rpartition(":")
    try:
        scale = float(tail) if found else 1.0
    except ValueError:
        return LoraFile(text, 1.0)  # a colon of the path itself
    if not found:
        return LoraFile(text, 1.0)
    if not path or not math.isfinite(scale):
        raise DomainError(f"{quoted(text)} is not of the form PATH or PATH:SCALE.")
    return LoraFile(path.strip(), scale)


def kv_override(text: str) -> KvOverride:
    """Read ``KEY=TYPE:VALUE``.

    Raises:
        DomainError: If it is not of that form, or llama.cpp could not hold it.
    """
    key, found, typed = text.partition("=")
    kind, colon, value = typed.partition(":")
    key = key.strip()
    if not found or not colon or not key or len(key.encode()) > _KEY_MOST:
        raise DomainError(f"{quoted(text)} is not of the form KEY=TYPE:VALUE; TYPE is {_KINDS}.")
    match kind.strip():
        case "int":
            return KvOverride(key, "int", _whole(text, value))
        case "float":
            return KvOverride(key, "float", _decimal(text, value))
        case "bool":
            return KvOverride(key, "bool", _truth(text, value))
        case "str":
            if len(value.encode()) > _TEXT_MOST:
                raise DomainError(f"The text of {key} is longer than {_TEXT_MOST} bytes.")
            return KvOverride(key, "str", value)
    raise DomainError(f"{quoted(kind)} is no type of metadata; there are {_KINDS}.")


def endpoint(text: str) -> Endpoint:
    """Read ``HOST:PORT``.

    Raises:
        DomainError: If it is not of that form; llama.cpp reads no IPv6 address.
    """
    host, _, port = text.rpartition(":")
    if ":" in host:
        raise DomainError(
            f"{quoted(text)}: llama.cpp's workers are reached by name or IPv4 address."
        )
    if not _HOST.fullmatch(host) or not port.isascii() or not port.isdigit():
        raise DomainError(f"{quoted(text)} is not of the form HOST:PORT, such as 127.0.0.1:50052.")
    if not 0 < int(port) <= _MOST_PORT:
        raise DomainError(f"{quoted(text)}: a port is a number from 1 to {_MOST_PORT:,}.")
    return Endpoint(host.lower(), int(port))


def proportion(text: str) -> float:
    """Read one device's share, a number of any size.

    Raises:
        DomainError: If it is negative or no finite number.
    """
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not math.isfinite(share) or share < 0 or share > _MOST_SHARE:
        raise DomainError(f"{quoted(text)} is no share: a number such as 3, 0 for nothing.")
    return share


_KINDS = "int, float, bool or str"
_MOST_SHARE = 1e6  # llama.cpp adds the shares up in single precision


def _whole(text: str, value: str) -> int:
    try:
        number = int(value.strip()[:30])
    except ValueError:
        raise DomainError(f"{quoted(text)}: {quoted(value)} is no whole number.") from None
    if not -_INT64 <= number < _INT64:
        raise DomainError(f"{quoted(text)}: {value} does not fit into 64 bits.")
    return number


def _decimal(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise DomainError(f"{quoted(text)}: {quoted(value)} is no number.")
    return number


def _truth(text: str, value: str) -> bool:
    word = value.strip()
    if word not in ("true", "false"):
        raise DomainError(f"{quoted(text)}: {quoted(value)} is neither true nor false.")
    return word == "true"


# --- As they are kept: what the domains of the settings call -------------------------------------


def checked_override(text: str) -> str:
    """A tensor override as it is kept."""
    return "=".join(tensor_override(text))


def checked_lora(text: str) -> str:
    """An adapter as it is kept: without a scale of 1."""
    path, scale = lora_file(text)
    return path if scale == 1.0 and lora_file(path).path == path else f"{path}:{scale:g}"


def checked_kv(text: str) -> str:
    """A metadata override as it is kept."""
    key, kind, value = kv_override(text)
    word = str(value).lower() if kind == "bool" else str(value)
    return f"{key}={kind}:{word}"


def checked_endpoint(text: str) -> str:
    """A worker's address as it is kept."""
    host, port = endpoint(text)
    return f"{host}:{port}"


def checked_proportion(text: str) -> str:
    """A share as it is kept."""
    return f"{proportion(text):g}"


def checked_device(text: str) -> str:
    """A device's name.

    Raises:
        DomainError: If it holds what a list of names cannot.
    """
    if "," in text or " " in text:
        raise DomainError(
            f"{quoted(text)} is no name of a device, such as CUDA0; none is for no device."
        )
    return text
