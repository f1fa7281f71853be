"""How bad each kind of problem of a pasted text is, and how it reads. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from app.import_shown import sentence_shown
from app.importing.found import Healed
from engine_bridge.settings.table import BY_KEY
from widgets.import_sheet import ImportProblem, Severity

MOST_PROBLEMS = 40
"""More sentences than these are read by nobody; they are counted."""

# An engine would not start, or what is meant cannot be known.
_ERRORS = frozenset(
    {
        "bad_value", "broken_file", "unsupported_file", "not_gguf",
        "contradiction",
    }
)  # fmt: skip
# Nothing is left to do: it was read as it was meant, or says the same today by another word.
_NOTES = frozenset(
    {
        "removed_flag", "removed_key", "renamed_flag", "changed_arity", "abbreviated_flag",
        "deprecated", "prompt_prefix", "doubled_quotes", "shell_quoting", "preset_flag",
        "log_paste", "fragment", "old_program", "old_image", "typographic", "broken_continuation",
        "duplicate_option", "ctx_zero", "foreign_program", "broken_flag", "late_variable",
    }
)  # fmt: skip
_UNKNOWN = "unknown_flag"
# Not a flag, a type or a file that begins a sentence.
_PLAIN_WORD = re.compile(r"[a-z]+(?=[ ,;])")
_FEW_WORDS = 3
_ORDER: tuple[Severity, ...] = ("error", "warning", "note")


def problems_shown(
    problems: Iterable[str], healed: Iterable[Healed] = (), stops: Iterable[str] = ()
) -> tuple[ImportProblem, ...]:
    """Problems as they are shown: errors first, then in the order of the text.

    Args:
        problems: ``code: sentence`` each.
        healed: Words with their heirs, which are shown beside and need no sentence.
        stops: Flags that would be kept, and at which llama.cpp would stop.
    """
    heirs = {(_first(each.was), _first(each.to)) for each in healed}
    known: dict[str, Severity] = {was: "note" for was, to in heirs if to}
    known |= {_first(flag): "error" for flag in stops}
    read = [_problem(text, known) for text in dict.fromkeys(problems) if _pair(text) not in heirs]
    read.sort(key=lambda problem: _ORDER.index(problem.severity))
    if len(read) > MOST_PROBLEMS:
        more = len(read) - MOST_PROBLEMS + 1
        read[MOST_PROBLEMS - 1 :] = [ImportProblem("warning", f"{more:,} more of this kind.")]
    return tuple(read)


def _first(words: str) -> str:
    return words.partition(" ")[0]


def _pair(text: str) -> tuple[str, str] | None:
    """The two flags of a sentence that says nothing but what became of one."""
    sentence = text.partition(":")[2].strip()
    was, arrow, now = sentence.partition(" -> ")
    return (_first(was), _first(now)) if arrow and len(now.split()) <= _FEW_WORDS else None


def _problem(text: str, known: Mapping[str, Severity]) -> ImportProblem:
    code, colon, sentence = text.partition(":")
    code = code.strip()
    if not colon or " " in code or not sentence.strip():
        return ImportProblem("warning", _as_sentence(text))
    severity: Severity = "error" if code in _ERRORS else "note" if code in _NOTES else "warning"
    if code == _UNKNOWN:  # read as another flag, kept all the same, or left behind
        severity = known.get(_first(sentence.strip()).rstrip(":"), severity)
    return ImportProblem(severity, _as_sentence(sentence))


def _as_sentence(text: str) -> str:
    """With a full stop where there is none."""
    key, colon, rest = text.strip().partition(":")
    if colon and key in BY_KEY:  # as the window calls it
        text = f"{BY_KEY[key].label}:{rest}"
    words = sentence_shown(text.strip()).replace(" -> ", " → ")
    if _PLAIN_WORD.match(words):
        words = words[0].upper() + words[1:]
    return words if not words or words[-1] in ".!?…" else f"{words}."
