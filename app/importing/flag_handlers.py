"""What a dialect makes of its engine's flags: a table of names with what each does.

Knows the common ways; what a flag means to the desk stands in the dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from app.export.engine_words import EngineWords
from app.importing.flag_reader import Reading, Said
from app.importing.gathering import Gathering
from app.importing.typed_numbers import is_placeholder, is_variable
from engine_bridge.settings.domain import Value
from engine_bridge.typed_text import quoted

Handler: TypeAlias = Callable[[Gathering, Said], None]


def understand_flags(
    gathering: Gathering, reading: Reading, engine: EngineWords, handlers: Mapping[str, Handler]
) -> tuple[str, ...]:
    """Do with each flag what ``handlers`` has for its first name; tell of all others.

    Words that the engine knows and no setting here stands for are told in one sentence; flags that
    it does not know are handed on and told of as problems.

    Returns:
        The words that belong to no flag.
    """
    gathering.problems(reading.problems)
    its_own: list[Said] = []
    for said in _last_of_each(gathering, reading):
        if not said.name:
            continue
        if said.word is None:
            gathering.problem(
                "unknown_flag",
                f"{said.written} is no flag of {engine.engine} {engine.version}; it is kept as it "
                "was",
            )
            gathering.keep(said)
        elif not _is_handled(gathering, said, engine, handlers):
            its_own.append(said)
    _tell_its_own(gathering, its_own, engine)
    return tuple(said.values[0] for said in reading.said if not said.name)


def _last_of_each(gathering: Gathering, reading: Reading) -> list[Said]:
    """Every flag, of those that say one thing twice the last."""
    last: dict[tuple[str, str], Said] = {}
    for number, said in enumerate(reading.said):
        adds_up = said.word is None or said.word.repeats or not said.name
        place = (f"{number}", "") if adds_up else (said.name, said.part)
        before = last.pop(place, None)
        if before is not None and (before.values, before.off) != (said.values, said.off):
            gathering.problem(
                "duplicate_option", f"{said.written} stands twice; the last one is taken"
            )
        last[place] = said
    return list(last.values())


def _is_handled(
    gathering: Gathering, said: Said, engine: EngineWords, handlers: Mapping[str, Handler]
) -> bool:
    word = said.word
    if word is None:
        return False
    handler = handlers.get(said.name)
    if word.removed or (word.deprecated and word.heirs):
        gathering.heal(said.written, " ".join(word.heirs))
    age = _age(said, engine)
    if handler is None:
        if age:
            gathering.note(f"{age}.")
        return word.removed
    if word.arity in (1, "+") and not said.values:
        return False  # told of where it was read
    if said.off and not word.negated:
        gathering.note(f"{said.written} was switched off, which is as if it were not there.")
        return True
    if word.choices and word.arity == 1 and not _is_open(said.value):
        reason = word.why_not(said.value)
        if reason is not None:
            gathering.problem("bad_value", f"{said.written} of {engine.engine}: {reason}")
    told = gathering.problem_count
    handler(gathering, said)
    if age and gathering.problem_count == told:  # else the handler told of it
        gathering.problem("removed_flag" if word.removed else "deprecated", age)
    return True


def _is_open(value: str) -> bool:
    return is_variable(value) or is_placeholder(value)


def _age(said: Said, engine: EngineWords) -> str:
    """What became of a flag, a sentence without its full stop; empty where it is as it was."""
    word = said.word
    if word is None or not (word.removed or (word.deprecated and word.heirs)):
        return ""
    state = "is gone from" if word.removed else "is old in"
    instead = f"{' or '.join(word.heirs)} says it today" if word.heirs else "nothing says it today"
    return f"{said.written} {state} {engine.engine} {engine.version}; {instead}"


def _tell_its_own(gathering: Gathering, its_own: list[Said], engine: EngineWords) -> None:
    if not its_own:
        return
    # What is written in one piece has no name to be told by.
    for said in its_own:
        if len(said.words) == 1 and said.values and "=" not in said.words[0]:
            gathering.keep(said)
    gathering.leave(engine.engine, [" ".join(gathering.shown(said)) for said in its_own])


# --- Common ways --------------------------------------------------------------------------------


def whole(key: str) -> Handler:
    """A setting that is a whole number."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.whole(key, said.value, said.written)

    return handle


def decimal(key: str) -> Handler:
    """A setting that is a number."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.decimal(key, said.value, said.written)

    return handle


def fixed(key: str, value: Value) -> Handler:
    """A setting to which a switch alone gives its value."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.setting(key, value)

    return handle


def switched(key: str) -> Handler:
    """A setting that is on, or off where the flag was spelt as its contrary."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.setting(key, not said.off)

    return handle


def chosen(key: str) -> Handler:
    """A setting that is one of some words, which are llama.cpp's own."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.setting(key, said.value.lower())

    return handle


def path(key: str) -> Handler:
    """A setting that is a file."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.setting(key, said.value)

    return handle


def shown(name: str) -> Handler:
    """Something to be shown as it is."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.understood(name, said.value)

    return handle


def shown_whole(name: str) -> Handler:
    """A whole number to be shown."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.understood_whole(name, said.value, said.written)

    return handle


def shown_decimal(name: str) -> Handler:
    """A number to be shown."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.understood_decimal(name, said.value, said.written)

    return handle


def shown_fixed(name: str, value: object) -> Handler:
    """Something that a switch alone says."""

    def handle(gathering: Gathering, said: Said) -> None:
        if said.off:
            gathering.note(f"{said.written} leaves off what is off by itself.")
        else:
            gathering.understood(name, value)

    return handle


def alias(gathering: Gathering, said: Said) -> None:
    """The name that clients ask for; further ones are told of."""
    gathering.understood("alias", said.values[0])
    if len(said.values) > 1:
        gathering.understood("aliases", list(said.values))


def secret(name: str) -> Handler:
    """A key or password, of which only that it is there is told."""

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.secret(name, said.value)

    return handle


def untranslatable(code: str, sentence: str) -> Handler:
    """Something that the desk cannot say, with the reason.

    Args:
        code: Of the problem.
        sentence: Why; ``{}`` is the flag with its value.
    """

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.problem(code, sentence.format(" ".join((said.written, *said.values))))

    return handle


def named_file(gathering: Gathering, said: Said) -> None:
    """A file of settings, which is not opened here."""
    gathering.understood("config_file", said.value)
    if gathering.invocation.values:  # the text has it too
        return
    gathering.problem(
        "config_file",
        f"{said.written} {quoted(said.value)} holds settings too; open that file to have them",
    )
