"""Flags of a pasted text that leave as they came: which of them wait for a person's tick. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from app.export.engine_words import engine_words
from app.export.llama_extras import names_model
from app.importing.found import Found
from app.importing.llama_meanings import name_of
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.extra_flag import flag_words

FLAGS = "extra_flags"
"""Key of the setting that holds them."""
ANOTHER_MODEL = "Names another model"
STOPS = "llama.cpp stops at it"
NO_KEY = "No key goes with it"

_NEAR = ("localhost", "::1", "[::1]")
_NEAR_BEGINNING, _SOCKET_END = "127.", ".sock"


@dataclass(frozen=True)
class Flags:
    """The flags of one command.

    Attributes:
        items: All, in the order of the text: of a flag said twice the program takes the last.
        reasons: Why one is not taken unless a person ticks it, by its place in ``items``.
    """

    items: tuple[str, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)

    def usual(self) -> tuple[str, ...]:
        """Those that are taken together."""
        return tuple(each for at, each in enumerate(self.items) if at not in self.reasons)

    def taken(self, keys: Collection[str], wanted: tuple[str, ...], *, follows: bool) -> Value:
        """The flags that are wanted once the rows of ``keys`` are taken.

        Args:
            keys: Keys of the rows that are ticked.
            wanted: Flags that are wanted now.
            follows: Whether the usual ones of the text are wanted: ticked, or as they are.
        """
        ticked = {at for at in self.reasons if row_key(at) in keys}
        if follows:
            places = (at for at in range(len(self.items)) if at not in self.reasons or at in ticked)
            return tuple(self.items[at] for at in places)
        return (*wanted, *(self.items[at] for at in sorted(ticked)))


def row_key(place: int) -> str:
    """Key of the row of a flag that stands apart."""
    return f"{FLAGS}#{place}"


def setting_of(key: str) -> str:
    """Key of the setting that a row is about."""
    return key.partition("#")[0]


def flags_of(value: Value | None, found: Found, wanted: EngineConfig, running: str) -> Flags:
    """Flags of a text, and why some of them wait; what is wanted already waits for nothing.

    Args:
        value: The setting as the text has it; None where it says no flag.
        found: The command.
        wanted: Settings of the desk at present.
        running: Path of the model that is loaded; may be empty.
    """
    items = value if isinstance(value, tuple) else ()
    has_model = bool(running or wanted.model_path)
    reasons = {
        place: reason
        for place, item in enumerate(items)
        if item not in wanted.extra_flags and (reason := _reason(item, found, has_model))
    }
    return Flags(items, reasons)


def says_model(item: str) -> bool:
    """Whether a flag says which model is run, or which file of its repository."""
    return names_model(EngineConfig(extra_flags=(item,))) or _is_called(item, "--hf-file")


def is_unknown(item: str) -> bool:
    """Whether llama.cpp's server has no such flag."""
    word = engine_words("llama_cpp").flag(flag_words(item)[0])
    return word is None or word.removed


def about_models(flags: Flags) -> list[str]:
    """A sentence for each flag that is left out since there is a model already."""
    return [
        f"{flags.items[place]} is not ticked: it names another model than the one that is loaded."
        for place, reason in flags.reasons.items()
        if reason == ANOTHER_MODEL
    ]


def lost_key_warning(flags: Flags, found: Found) -> str:
    """What a person must know where the key stays behind and the open address does not."""
    host = next((host for item in flags.items if (host := _open_host(item))), "")
    if not host or not _loses_key(found):
        return ""
    return (
        f"The key is not taken over: a line with --host {host} and no key serves everybody on the "
        "network."
    )


def as_pasted(flags: Flags) -> dict[str, str]:
    """How flags are written in the text, by their names among what is no setting."""
    written: dict[str, str] = {}
    for item in flags.items:
        flag = flag_words(item)[0]
        word = engine_words("llama_cpp").flag(flag)
        if word is not None:
            written[name_of(word)] = flag
    return written


def _reason(item: str, found: Found, has_model: bool) -> str:
    if is_unknown(item):
        return STOPS
    if has_model and says_model(item):
        return ANOTHER_MODEL
    return NO_KEY if _open_host(item) and _loses_key(found) else ""


def _loses_key(found: Found) -> bool:
    return "api_key" in found.other and "api_key_file" not in found.other


def _open_host(item: str) -> str:
    """The address of ``--host`` where others reach it; empty of any other flag."""
    if not _is_called(item, "--host"):
        return ""
    host = ",".join(flag_words(item)[1:])
    return host if not all(map(_is_near, host.split(","))) else ""


def _is_near(host: str) -> bool:
    return host in _NEAR or host.startswith(_NEAR_BEGINNING) or host.endswith(_SOCKET_END)


def _is_called(item: str, name: str) -> bool:
    word = engine_words("llama_cpp").flag(flag_words(item)[0])
    return word is not None and name in word.names
