"""Keys and passwords in a text: an importer tells that they are there and never what they are.

Narrower than ``app.redaction``, which may take a path or a flag such as ``--hf-config-path`` for a
name or a token: here everything else has to stay as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from app.export.engine_words import engine_words
from app.importing.name_sets import names

HIDDEN = "REDACTED"
"""What stands where a secret stood."""

_SECRET_NAME = re.compile(
    r"(?:^|[_.\-])(?:api_?key|[a-z]*token|secret|secret_?key|access_?key|passw(?:or)?d"
    r"|admin_?password|horde_?key|private_?key|credentials?)s?$"
)
# Of these names the value is a number or a word of the engine, no secret.
_HARMLESS_NAME = re.compile(r"(?:tokens|token_?map|max_?token|eos_?token|bos_?token|nobostoken)$")
# Words of a name that make a secret of what it holds, wherever they stand in it.
_SECRET_PARTS = names(
    "secret secrets passphrase password passwords passwd pwd auth authkey authtoken authorization "
    "oauth bearer cookie cookies credential credentials apikey apikeys jwt"
)
_SECRET_ENDING = re.compile(
    r"(?:token|secret|passphrase|password|passwd|bearer|auth|cookie|(?<!by)(?<!com)pass"
    r"|(?:api|auth|access|secret|private|horde|license|master|session|signing|ssh|gpg)key)$"
)
# These words have another meaning too, told by the words beside them.
_AMBIGUOUS_PARTS = {
    "key": names("value values head heads dim length len size count unknown removed"),
    "keys": names("value values head heads dim length len size count unknown"),
    "token": names(
        "limit count num n max min size budget length len map id ids type ratio threshold rate per "
        "predict eos bos pad stop unk usage block time"
    ),
    "pass": names("through forward per"),
    "pat": frozenset[str](),
}
# One letter wrong or two changed round, and it is one of these.
_COMMON_NAMES = ("api_key", "apikey", "hf_token", "auth_token", "access_token", "password",
                 "passphrase", "secret_key")  # fmt: skip
_NEAR = 0.8
_LONGEST_NAME_CHARACTERS = 60
_ENGINES = ("llama_cpp", "koboldcpp", "vllm", "sglang", "tensorrt_llm", "ollama")
_SECRETS = (
    re.compile(
        r"(?<![\w-])(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}"
        r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abps]-[\w-]{10,}"
        r"|nvapi-[\w-]{16,}|AKIA[A-Z0-9]{12,})"
    ),
    re.compile(r"(?i)(?<=bearer )[A-Za-z0-9+/._~-]{8,}=*"),
    re.compile(r"(?<=\bBearer )(?!REDACTED)[^\s\"'“”,;$%<{\[]+"),
    re.compile(
        r"(?i)(?<=[?&])(?P<kept>[\w.~%-]{0,60}(?:sig|token|key|secret|credential|auth|passw)"
        r"[\w.~%-]{0,60}=)(?!REDACTED)[^&\s\"'“”#]+"
    ),
    re.compile(r"(?<=://)[^/\s@:]{1,200}:[^/\s@]{1,200}(?=@)"),
)
_SHORTEST_KNOWN = 8
_SHORTEST_MIXED = 4
_BEARER = re.compile(r"(?:^|[\s:=])bearer:?$", re.IGNORECASE)
_MEMBER = re.compile(
    r"(?:(?P<mark>[\"'])(?P<quoted>[\w.-]{1,60})(?P=mark)|(?<=[{,])\s{0,4}(?P<bare>[\w.-]{1,60}))"
    r"\s{0,4}:\s{0,4}"
)
_SCALAR = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[^\s,}\]]+")
_BRACE_OR_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|[{}\[\]]")
_NO_SECRETS = ("true", "false", "null", "True", "False", "None", HIDDEN)
# What stands for a value that the text does not have.
_NO_VALUE = re.compile(
    r"\$.*|%\w+%|\{\{.*\}\}|<.*>|\[.*\]|"
    # Masks, with or without the beginning that keys have, and words for "yours" and for none.
    r"|(?:[A-Za-z]{1,6}[_-])?[xX*.…•]{3,}|(?i:your[_ -][a-z_ -]+)|none|EMPTY"
)


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether what a flag, a variable or a key of this name holds is for nobody else.

    What an engine is known to take is no secret unless its name says so beyond doubt.
    """
    plain = _plain(name)
    if _HARMLESS_NAME.search(plain) is not None or _is_token_of_text(plain):
        return False
    if _SECRET_NAME.search(plain) is not None:
        return plain not in _known_names() or not _is_number_or_switch(plain)
    return plain not in _known_names() and (_sounds_secret(plain) or _is_nearly_secret(plain))


def _is_token_of_text(plain: str) -> bool:
    """Whether a name is about tokens of a model, such as how many there are."""
    parts = plain.split("_")
    others = _AMBIGUOUS_PARTS["token"]
    return parts[-1] == "token" and not others.isdisjoint(parts) and len(parts) > 1


def _plain(name: str) -> str:
    bare = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip().strip("-"))
    return re.sub(r"[-.]+", "_", bare.lower())


def _sounds_secret(plain: str) -> bool:
    parts = plain.split("_")
    if not _SECRET_PARTS.isdisjoint(parts):
        return True
    for part in parts:
        others = _AMBIGUOUS_PARTS.get(part)
        if others is not None:
            if others.isdisjoint(parts):
                return True
        elif _SECRET_ENDING.search(part) is not None:
            return True
    return False


def _is_nearly_secret(plain: str) -> bool:
    if len(plain) > _LONGEST_NAME_CHARACTERS:
        return False
    written = {plain, "_".join(plain.split("_")[-2:])}
    return any(
        one[:1] == name[0]
        and abs(len(one) - len(name)) <= 1
        and SequenceMatcher(None, one, name).ratio() >= _NEAR
        for one in written
        for name in _COMMON_NAMES
    )


@lru_cache(maxsize=1)
def _known_names() -> dict[str, bool]:
    """Names of flags and variables of every engine, and whether each takes no text."""
    return {
        _plain(name): word.arity == 0 or word.kind in ("int", "float", "bool")
        for engine in map(engine_words, _ENGINES)
        for word in (*engine.flags, *engine.variables)
        for name in word.names
    }


def _is_number_or_switch(plain: str) -> bool:
    return _known_names()[plain]


def hidden(value: str) -> str:
    """What may be told of the secret ``value``; a variable or a placeholder is none yet."""
    return value if _NO_VALUE.fullmatch(value) else HIDDEN


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """``text`` without what has the form of a key or of a password in an address.

    Args:
        text: To be told.
        known: Secrets that the text was found to hold; short ones are words as well, and stay.
    """
    for secret in known:
        if len(secret) >= _SHORTEST_KNOWN:
            text = text.replace(secret, HIDDEN)
        elif len(secret) >= _SHORTEST_MIXED and not secret.isalpha() and not secret.isdecimal():
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    for pattern in _SECRETS:
        text = pattern.sub(_kept_and_hidden, text)
    return _without_secret_members(text)


def _kept_and_hidden(match: re.Match[str]) -> str:
    return (match.groupdict().get("kept") or "") + HIDDEN


def _without_secret_members(text: str) -> str:
    """``text`` without values of JSON whose keys are names of secrets."""
    made: list[str] = []
    at = 0
    for match in _MEMBER.finditer(text):
        if match.start() < at or not is_secret_name(match["quoted"] or match["bare"] or ""):
            continue
        end = _end_of_value(text, match.end())
        value = text[match.end() : end]
        if value.strip("\"'") in _NO_SECRETS or hidden(value.strip("\"'")) != HIDDEN:
            continue
        made += [text[at : match.end()], f'"{HIDDEN}"']
        at = end
    return "".join([*made, text[at:]])


def _end_of_value(text: str, begin: int) -> int:
    if text[begin : begin + 1] not in ("{", "["):
        found = _SCALAR.match(text, begin)
        return found.end() if found is not None else begin
    depth = 0
    for match in _BRACE_OR_TEXT.finditer(text, begin):
        depth += (match[0] in "{[") - (match[0] in "}]")
        if depth == 0:
            return match.end()
    return len(text)


def words_without_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """Words of a line without what stands behind ``Bearer``.

    Args:
        words: In their order.
    """
    return tuple(
        hidden(word) if at and is_bearer(words[at - 1]) else word for at, word in enumerate(words)
    )


def is_bearer(word: str) -> bool:
    """Whether the word behind ``word`` is a key."""
    return _BEARER.search(word) is not None


def value_without_secrets(name: str, value: str) -> str:
    """``value`` of the variable or key ``name`` as it may be shown."""
    return hidden(value) if is_secret_name(name) else without_secrets(value)
