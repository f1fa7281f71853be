"""What is being recovered from one invocation, until it is complete.

Knows settings and the shape of ``Found``; must not know any engine's flags.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.importing.flag_reader import Said
from app.importing.found import Found, Healed
from app.importing.invocation import Invocation
from app.importing.secret_words import (
    HIDDEN,
    hidden,
    is_secret_name,
    value_without_secrets,
    without_secrets,
    words_without_secrets,
)
from app.importing.typed_numbers import decimal, is_placeholder, is_variable, whole
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.table import BY_KEY
from engine_bridge.typed_text import quoted


class Gathering:
    """Takes what is understood, one piece after another.

    Attributes:
        invocation: What is being read.
        settings: By their keys, as in ``Found``.
        other: As in ``Found``.
    """

    def __init__(self, target: str, invocation: Invocation) -> None:
        """Begin with what the reader of the text had to say."""
        self.invocation = invocation
        self.settings: dict[str, Value | None] = {}
        self.other: dict[str, object] = {}
        self._target = target
        # In their order, each once.
        self._problems = dict.fromkeys(invocation.problems)
        self._notes = dict.fromkeys(invocation.notes)
        self._healed: list[Healed] = []
        self._passthrough: list[str] = []
        self._derived: list[str] = []
        env = invocation.env
        self._secrets = {
            v for name, v in env.items() if is_secret_name(name) and hidden(v) == HIDDEN
        }

    # --- Settings -----------------------------------------------------------------------------

    def setting(self, key: str, value: Value, *, derived: bool = False) -> None:
        """Take ``value`` for the setting ``key``, as typed; a value out of bounds is told of.

        Args:
            key: Of a setting.
            value: As typed.
            derived: Whether it follows from the engine's rules and is not in the text.
        """
        self.settings[key] = value
        if derived:
            self._derived.append(key)
        elif key in self._derived:
            self._derived.remove(key)
        row = BY_KEY.get(key)
        if row is None:
            return
        try:
            row.domain.check(value)
        except DomainError as error:
            self.problem("odd_value", f"{row.label}: {error}")

    def whole(self, key: str, text: str, written: str) -> int | None:
        """Take the whole number ``text``; what is none is told of and leaves the value open."""
        number = whole(text)
        if number is None:
            self.open(key, text, written)
        else:
            self.setting(key, number)
        return number

    def decimal(self, key: str, text: str, written: str) -> float | None:
        """Take the number ``text``; what is none is told of and leaves the value open."""
        number = decimal(text)
        if number is None:
            self.open(key, text, written)
        else:
            self.setting(key, number)
        return number

    def open(self, key: str, text: str, written: str) -> None:
        """Leave the setting ``key`` for a person to say, since ``text`` is no value for it."""
        self.settings[key] = None
        self._not_a_value(text, written)

    def _not_a_value(self, text: str, written: str) -> None:
        if is_variable(text):
            if not any(p.startswith("unresolved_variable:") and text in p for p in self._problems):
                self.problem(
                    "unresolved_variable", f"{written} {text}: its value is not in the text"
                )
        elif is_placeholder(text):
            self.problem("placeholder", f"{written} {text} waits for a value of yours")
        else:
            self.problem("bad_value", f"{written} cannot be {quoted(without_secrets(text))}")

    # --- What is no setting -------------------------------------------------------------------

    def understood(self, name: str, value: object) -> None:
        """Take something that no setting stands for and a person wants to see."""
        self.other[name] = value

    def understood_whole(self, name: str, text: str, written: str) -> int | None:
        """The same for a whole number."""
        number = whole(text)
        self.other[name] = number
        if number is None:
            self._not_a_value(text, written)
        return number

    def understood_decimal(self, name: str, text: str, written: str) -> float | None:
        """The same for a number."""
        number = decimal(text)
        self.other[name] = number
        if number is None:
            self._not_a_value(text, written)
        return number

    def secret(self, name: str, value: str) -> None:
        """Tell that there is a key or password, never which."""
        self.other[name] = hidden(value)
        if self.other[name] == HIDDEN:
            self._secrets.add(value)

    def shown(self, said: Said) -> tuple[str, ...]:
        """The words of a flag as they may be told: of a secret only that there is one."""
        if not is_secret_name(said.name):
            return said.words
        self._secrets.update(value for value in said.values if hidden(value) == HIDDEN)
        return (said.written, *([HIDDEN] if said.values else []))

    def keep(self, said: Said) -> None:
        """Hand on the words of a flag that nothing here stands for."""
        self._passthrough += self.shown(said)

    def keep_words(self, words: Iterable[str]) -> None:
        """Hand on ``words`` as they are."""
        self._passthrough += words

    def heal(self, was: str, to: str) -> None:
        """Replace a word that the engine does not take any more."""
        self._healed.append(Healed(was, to))

    def leave(self, engine: str, lines: Sequence[str]) -> None:
        """Tell what ``engine`` is told besides, for which there is no setting here."""
        if lines:
            self.note(f"No setting here says what these of {engine} do: {'; '.join(lines)}.")

    # --- What is said of it -------------------------------------------------------------------

    def problem(self, code: str, sentence: str) -> None:
        """Tell of a problem, once."""
        self._problems[f"{code}: {sentence}"] = None

    def problems(self, lines: Sequence[str]) -> None:
        """Tell of several that have their codes in front."""
        for line in lines:
            self.problem(*line.split(": ", 1))

    @property
    def problem_count(self) -> int:
        """How many problems were told of so far."""
        return len(self._problems)

    def has_problem(self, code: str) -> bool:
        """Whether this was told of already, by the reader of the text as well."""
        return any(problem.startswith(f"{code}:") for problem in self._problems)

    def note(self, sentence: str) -> None:
        """Tell what is good to know, once."""
        self._notes[sentence] = None

    # --- The end ------------------------------------------------------------------------------

    def found(self) -> Found:
        """Everything, without any secret."""
        env = self.invocation.env
        return Found(
            target=self._target,
            settings={key: self._clean(value) for key, value in self.settings.items()},
            healed=tuple(Healed(self._told(one.was), self._told(one.to)) for one in self._healed),
            passthrough=tuple(map(self._told, words_without_secrets(self._passthrough))),
            problems=tuple(map(self._told, self._problems)),
            notes=tuple(map(self._told, self._notes)),
            env={name: value_without_secrets(name, value) for name, value in env.items()},
            other={name: self._clean_other(value) for name, value in self.other.items()},
            derived=tuple(dict.fromkeys(self._derived)),
            title=self._told(self.invocation.title),
            mounts=self.invocation.mounts,
        )

    def _told(self, text: str) -> str:
        return without_secrets(text, self._secrets)

    def _clean(self, value: Value | None) -> Value | None:
        if isinstance(value, str):
            return self._told(value)
        return tuple(map(self._told, value)) if isinstance(value, tuple) else value

    def _clean_other(self, value: object) -> object:
        if isinstance(value, str):
            return self._told(value)
        if isinstance(value, (list, tuple)):
            return [self._clean_other(item) for item in value]
        if isinstance(value, dict):
            return {name: self._clean_member(name, item) for name, item in value.items()}
        return value

    def _clean_member(self, name: str, value: object) -> object:
        """A value of JSON: of a secret only that there is one, whatever it is made of."""
        is_plain = value is None or isinstance(value, bool)
        return HIDDEN if is_secret_name(name) and not is_plain else self._clean_other(value)
