"""Words of llama.cpp's programs taken apart: flags with their values, broken ones mended.

The program itself takes whatever stands behind a flag for its value, knows every flag in full only
and takes no ``--flag=value``. People write lines for earlier versions, from memory and through chat
windows; what they meant is read, and each liberty is told. Must not know settings.
"""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.importing.gathering import Gathering
from app.importing.llama_retired import BORROWED
from app.importing.llama_said import Said, Vocabulary
from app.importing.loose_json import depth_after, is_json
from app.importing.secret_words import (
    HIDDEN,
    hidden,
    is_bearer,
    is_secret_name,
    words_without_secrets,
)
from app.importing.typed_numbers import decimal, is_variable, truth
from engine_bridge.typed_text import quoted

_FLAG = re.compile(r"--?[A-Za-z]")
_STRAIGHT = str.maketrans("“”„", '"""')
_GLUED = re.compile(r"(-[A-Za-z]+)([0-9][0-9.]*)")
_DASHES = re.compile(r"[\u2010-\u2015\u2212]+-*(?=[A-Za-z])")
# Left over where a line was broken by a sign of another shell.
_CONTINUATION = re.compile(r"[\\^`]+")
# What a flag means where its value is missing: once, these were switches or had a default.
_IMPLIED = {
    "--flash-attn": "on",
    "--log-colors": "on",
    "--fit": "on",
    "--reasoning": "on",
    "--numa": "distribute",
}
_ONCE_SWITCHES = ("--flash-attn", "--log-colors")
# These had the number behind the file as a word of its own.
_SCALED = ("--lora-scaled", "--control-vector-scaled")
_MODELS = ("-m", "--model", "-hf", "-hfr", "--hf-repo", "-mu", "--model-url")
_TRUTHS = ("true", "false", "on", "off", "1", "0")
MOST_WORDS = 2_000
"""Words of one call that are read; people write a tenth of it."""
_MOST_HINTS = 10
_MOST_JSON_WORDS = 200
LONGEST_NAME = 60
"""Characters of what may be a flag: names of flags are shorter."""
_SHORTEST_BEGINNING = 6
"""Characters of a long flag's beginning that tell it: below, chance decides."""


def scan(words: Sequence[str], vocabulary: Vocabulary, gathering: Gathering) -> list[Said]:
    """Every flag of ``words`` with what belongs to it; ``gathering`` is told of each liberty."""
    if len(words) > MOST_WORDS:
        gathering.problem(
            "too_long",
            f"{len(words):,} words are no command line; the first {MOST_WORDS:,} were read",
        )
    return _Scanner(words[:MOST_WORDS], vocabulary, gathering).scan()


def shown_words(said: Said) -> tuple[str, ...]:
    """The words of an unknown flag, without what it keeps secret."""
    name, sign, _ = said.spelling.partition("=")
    if not is_secret_name(name):
        return words_without_secrets(said.words)
    if sign:
        return (f"{name}={HIDDEN}",)
    return (said.spelling, *([HIDDEN] if said.values else []))


def begins_flag(word: str) -> bool:
    """Whether ``word`` looks like a flag; a negative number does not."""
    return _FLAG.match(word) is not None


class _Scanner:
    def __init__(self, words: Sequence[str], vocabulary: Vocabulary, gathering: Gathering) -> None:
        self._rest = deque(words)
        self._vocabulary = vocabulary
        self._gathering = gathering
        self._said: list[Said] = []
        self._hints = 0
        self._stray_before = ""

    def scan(self) -> list[Said]:
        while self._rest:
            word = self._plain(self._rest.popleft())
            if begins_flag(word):
                self._said.append(self._flag(word))
            else:
                self._stray(word)
        return self._said

    def _plain(self, word: str) -> str:
        if not _DASHES.match(word):
            return word
        mended = _DASHES.sub("-" if len(word) < 5 else "--", word, count=1)
        self._gathering.problem(
            "typographic", f"{word} begins with a printer's dash; {mended} is meant"
        )
        return mended

    # --- Which flag ---------------------------------------------------------------------------

    def _flag(self, written: str) -> Said:
        spelling = written
        if self._vocabulary.flag(written) is None:
            mended = self._mended(written)
            if mended is not None:  # what stood behind an equals sign is a word of its own now
                spelling, written = mended, written.partition("=")[0]
        said = self._vocabulary.said(spelling, written=written)
        if said.word is None:
            return self._unknown(said)
        values = self._values(said)
        said = self._vocabulary.said(spelling, values, written)
        return self._switched(said) if said.word is not None and said.word.arity == 0 else said

    def _mended(self, written: str) -> str | None:
        """The flag that is meant by what is none; what was added to it goes back to the rest."""
        menders: tuple[Callable[[str], str | None], ...] = (
            self._with_equals_sign,
            self._with_blank_inside,
            self._borrowed,
            self._with_other_dashes,
            self._glued,
            self._abbreviated,
        )
        return next((found for mend in menders if (found := mend(written)) is not None), None)

    def _with_equals_sign(self, written: str) -> str | None:
        head, sign, tail = written.partition("=")
        if not sign:
            return None
        flag = head if self._vocabulary.flag(head) is not None else self._without_sign(head)
        if flag is None:
            return None
        self._rest.appendleft(tail)
        shown = head if is_secret_name(head) else written
        self._gathering.problem(
            "broken_flag",
            f"{quoted(shown)} read as {flag} and its value: llama.cpp takes no equals sign there",
        )
        return flag

    def _without_sign(self, head: str) -> str | None:
        meant = BORROWED.get(self._vocabulary.spelt(head))
        return meant if meant and self._vocabulary.flag(meant) is not None else None

    def _with_blank_inside(self, written: str) -> str | None:
        if not self._rest or not self._rest[0].startswith(("-", "_")):
            return None
        whole = written + self._rest[0]
        if self._vocabulary.flag(whole) is None:
            return None
        tail = self._rest.popleft()
        self._gathering.problem(
            "broken_flag", f"“{written} {tail}” read as {whole}: a blank got into the flag"
        )
        return whole

    def _borrowed(self, written: str) -> str | None:
        meant = self._without_sign(written)
        if meant is None:
            return None
        self._gathering.problem(
            "unknown_flag", f"{written} is no flag of llama.cpp; {meant} is meant and was read"
        )
        self._gathering.heal(written, meant)
        return meant

    def _with_other_dashes(self, written: str) -> str | None:
        """``-ctx-size`` for ``--ctx-size``, ``--ngl`` for ``-ngl``."""
        bare = written.lstrip("-")
        other = f"-{bare}" if written.startswith("--") else f"--{bare}"
        if len(bare) < 2 or self._vocabulary.flag(other) is None:
            return None
        self._gathering.problem("broken_flag", f"{written} read as {other}")
        return other

    def _glued(self, written: str) -> str | None:
        """``-ngl99`` for ``-ngl 99``, where the flag has one number."""
        parted = _GLUED.fullmatch(written)
        word = self._vocabulary.flag(parted.group(1)) if parted else None
        if parted is None or word is None or word.arity != 1 or word.kind not in ("int", "float"):
            return None
        self._gathering.problem(
            "broken_flag",
            f"{written} read as {parted.group(1)} {parted.group(2)}: llama.cpp wants a blank there",
        )
        self._rest.appendleft(parted.group(2))
        return parted.group(1)

    def _abbreviated(self, written: str) -> str | None:
        """Only where one flag alone begins so, and what follows fits it."""
        if not written.startswith("--") or len(written) < _SHORTEST_BEGINNING:
            return None
        found = self._vocabulary.beginning_with(written)
        if len(found) != 1:
            return None
        start = self._vocabulary.spelt(written)
        name = next(n for n in found[0].names if self._vocabulary.spelt(n).startswith(start))
        has_value = bool(self._rest) and not begins_flag(self._rest[0])
        if has_value != (found[0].arity != 0):
            return None
        self._gathering.problem(
            "abbreviated_flag",
            f"{written} stands for {name}, which llama.cpp knows in full only",
        )
        self._gathering.heal(written, name)
        return name

    def _unknown(self, said: Said) -> Said:
        values: list[str] = []
        while self._rest and not begins_flag(self._rest[0]) and not _DASHES.match(self._rest[0]):
            values.append(self._rest.popleft())
        unknown = Said(said.spelling, tuple(values), written=said.written)
        words = " ".join(shown_words(unknown))
        hint = self._hint(said.spelling)
        self._gathering.problem(
            "unknown_flag", f"{words}: llama.cpp stops at it, since it has no such flag{hint}"
        )
        return unknown

    def _hint(self, spelling: str) -> str:
        """What may have been meant; looking for that takes its time, so for some flags only."""
        self._hints += 1
        if self._hints > _MOST_HINTS:
            return ""
        near = difflib.get_close_matches(spelling[:LONGEST_NAME], self._vocabulary.names(), 1, 0.8)
        return f"; did you mean {near[0]}?" if near else ""

    # --- What belongs to it -------------------------------------------------------------------

    def _values(self, said: Said) -> tuple[str, ...]:
        if said.word is None or not isinstance(said.word.arity, int) or said.word.arity == 0:
            return ()
        values: list[str] = []
        while len(values) < said.word.arity and self._rest and not self._is_another(said):
            values.append(self._rest.popleft())
        if len(values) < said.word.arity:
            return self._implied(said)
        if said.word.kind == "json":
            return (self._whole_json(said, values[0]),)
        if said.is_called(*_SCALED) and self._rest and decimal(self._rest[0]) is not None:
            scale = self._rest.popleft()
            self._gathering.problem(
                "changed_arity", f"{said.written} takes FILE:SCALE now, one word instead of two"
            )
            return (f"{values[0]}:{scale}",)
        return tuple(values)

    def _whole_json(self, said: Said, value: str) -> str:
        """``value`` with the words that belong to it, where the quotes around it were lost."""
        straight = value.translate(_STRAIGHT)
        if straight != value and is_json(straight) and not is_json(value):
            self._gathering.problem(
                "typographic",
                f"the value of {said.written} has curly quotes, which are no JSON; straight ones "
                "are meant and were read",
            )
            return straight
        parts, depth = [value], depth_after(value)
        rest = list(self._rest)[:_MOST_JSON_WORDS]
        while depth > 0 and rest:
            parts.append(rest.pop(0))
            depth = depth_after(parts[-1], depth)
        if depth != 0 or len(parts) == 1:
            return value
        for _ in parts[1:]:
            self._rest.popleft()
        self._gathering.problem(
            "shell_quoting", f"the quotes around the value of {said.written} are lost"
        )
        return " ".join(parts)

    def _is_another(self, said: Said) -> bool:
        """Whether the next word is a flag of its own, and not the value of ``said``."""
        following = self._rest[0]
        if not begins_flag(following) or said.is_called("--dry-sequence-breaker"):
            return False  # as a breaker any text is meant, as the program has it
        is_free_text = said.word is not None and said.word.kind in ("str", "json")
        return not is_free_text or self._vocabulary.flag(following) is not None

    def _implied(self, said: Said) -> tuple[str, ...]:
        value = next((v for name, v in _IMPLIED.items() if said.is_called(name)), None)
        following = self._rest[0] if self._rest else ""
        swallowed = f", and would take {following} for it" if following else ""
        if value is None:
            self._gathering.problem("bad_value", f"{said.written} needs a value{swallowed}")
            return ()
        code = "changed_arity" if said.is_called(*_ONCE_SWITCHES) else "bad_value"
        choices = "|".join(map(str, said.word.choices)) if said.word is not None else ""
        self._gathering.problem(
            code, f"{said.written} needs {choices}{swallowed}; {value} is meant and was read"
        )
        self._gathering.heal(said.written, f"{said.written} {value}")
        return (value,)

    def _switched(self, said: Said) -> Said:
        """A switch with a word of truth behind it, which the program would not take."""
        if not self._rest or self._rest[0].lower() not in _TRUTHS:
            return said
        word = self._rest.popleft()
        self._gathering.problem(
            "changed_arity", f"{said.written} takes no value; “{word}” behind it was read as one"
        )
        return replace(said, is_off=said.is_off != (truth(word) is False))

    # --- What belongs to none -----------------------------------------------------------------

    def _stray(self, word: str) -> None:
        if _CONTINUATION.fullmatch(word) or is_variable(word):
            return  # of the line's form, or told of by whoever read the text
        is_model = word.lower().endswith(".gguf") and not self._names_model()
        if is_model:
            self._gathering.problem("broken_flag", f"{quoted(word)} read as -m {quoted(word)}")
            self._said.append(self._vocabulary.said("-m", (word,), word))
            return
        shown = hidden(word) if is_bearer(self._stray_before) else word
        self._stray_before = word
        self._gathering.problem("unknown_flag", f"{quoted(shown)} belongs to no flag")
        self._gathering.keep_words((shown,))

    def _names_model(self) -> bool:
        if any(said.is_called(*_MODELS) for said in self._said):
            return True
        return any(word in _MODELS for word in self._rest)
