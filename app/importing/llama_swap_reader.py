"""llama-swap's YAML: a command for each model, with macros in it.

Knows its format; must not know any engine's flags.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from app.importing.call import Call, home_problems, once
from app.importing.cmd_reader import read_script as read_cmd
from app.importing.docker_run_reader import add_variable
from app.importing.invocation import Invocation
from app.importing.kinds import shell_of
from app.importing.posix_words import read_words
from app.importing.text_error import TextError
from app.importing.unwrapping import unwrapped
from app.importing.yaml_text import Folded, Node, doubled_in, mappings_in, texts_of

_MACRO = re.compile(r"\$\{([A-Za-z_][\w.-]*)\}")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
# What is told of elsewhere, or says nothing of how the engine runs.
_READ = frozenset({"cmd", "env", "macros", "name", "description", "metadata"})
# Macros that hold each other multiply; no command is longer than this.
_LONGEST_CHARACTERS = 50_000
_DEEPEST = 20
_MOST_MODELS = 200
_FOLDED = (
    "broken_file: a folded block (>) makes one line of the command, so that llama-swap drops all "
    "behind “#”; the lines were read as they stand, use | instead"
)
_OWN = {"PORT": "a free port", "MODEL_ID": "the model's name", "PID": "the number of the process"}


def models_in(document: Node) -> tuple[Invocation, ...]:
    """What llama-swap starts for each model of ``document``.

    Raises:
        TextError: If its macros multiply without bounds.
    """
    found: list[Invocation] = []
    macros: dict[str, str] = {}
    for path, mapping in mappings_in(document):
        if "cmd" not in mapping:
            macros |= _macros(mapping.get("macros"))
        elif len(found) < _MOST_MODELS:
            found += _model(path[-1] if path else "", mapping, macros)
    beside = _beside(document)
    return tuple(replace(each, notes=once([*each.notes, *beside])) for each in found)


def _beside(document: Node) -> tuple[str, ...]:
    """What the file says of llama-swap itself."""
    is_file = isinstance(document, dict) and "models" in document
    keys = [str(key) for key in document if key not in {"models", "macros"}] if is_file else []
    if not keys:
        return ()
    return (f"The file says of llama-swap itself, and it is not carried: {', '.join(keys[:12])}.",)


def _macros(node: Node | None) -> dict[str, str]:
    """Macros as a mapping, or as a list of mappings with one each."""
    if isinstance(node, dict):
        return {name: text for name, text in node.items() if isinstance(text, str)}
    found: dict[str, str] = {}
    for item in node if isinstance(node, list) else []:
        found |= _macros(item) if isinstance(item, dict) else {}
    return found


def _model(
    name: str, model: Mapping[str, Node], macros: Mapping[str, str]
) -> tuple[Invocation, ...]:
    known = {**macros, **_macros(model.get("macros")), "MODEL_ID": name}
    problems: list[str] = []
    if "cmd" in doubled_in(model):
        problems.append("broken_file: cmd stands more than once; the last one was read")
    text = " ".join(map(_lines, texts_of(model.get("cmd"))))
    if any(isinstance(each, Folded) for each in texts_of(model.get("cmd"))):
        problems.append(_FOLDED)
    text = _put_in(_COMMENT.sub("", text), known)
    problems += [_left(macro) for macro in dict.fromkeys(_MACRO.findall(text))]
    # The indents of a block are no part of the command, nor are marks that continue its lines.
    text = "\n".join(line.strip() for line in text.split("\n"))
    words, more = _words(text)
    problems += [each for each in more if not each.startswith(("unresolved_variable", "broken_"))]
    problems += home_problems(words)
    env: dict[str, str] = {}
    asked: list[str] = []
    for item in texts_of(model.get("env")):
        add_variable(_put_in(item, known), env, asked)
    call = Call(tuple(words), env, name, problems=once(problems), notes=_notes(model))
    found = unwrapped(call, "llama-swap")
    # A shell inside knows no more of a macro than is told already.
    dropped = {f"unresolved_variable: ${{{name}}} " for name in _MACRO.findall(text)}
    return tuple(
        # Its name is the model's alias, whatever starts it.
        replace(
            each,
            kind="llama-swap",
            problems=tuple(p for p in each.problems if not p.startswith(tuple(dropped) or "\0")),
        )
        for each in found
    )


def _lines(text: str) -> str:
    return "\n".join(text.lines) if isinstance(text, Folded) else text


def _words(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words; llama-swap parts them as the system does that it runs on."""
    if shell_of(text) == "cmd":
        calls = read_cmd(text.replace("\n", " ")).calls
        return (calls[0].words, calls[0].problems) if calls else ((), ())
    call = read_words(text)
    return call.words, call.problems


def _put_in(text: str, macros: Mapping[str, str]) -> str:
    """``text`` with macros, in quotes too, and with macros that they hold."""
    for _ in range(_DEEPEST):
        names = _MACRO.findall(text)
        if not any(name in macros for name in names):
            break
        if len(text) + sum(len(macros.get(name, "")) for name in names) > _LONGEST_CHARACTERS:
            raise TextError(
                f"The macros of this file make commands of more than {_LONGEST_CHARACTERS:,} "
                "characters, which no engine takes. Paste the command of one model."
            )
        text = _MACRO.sub(lambda match: macros.get(match.group(1), match.group()), text)
    return text


def _left(macro: str) -> str:
    written = f"${{{macro}}}"
    if macro in _OWN:
        return f"macro: {written} is set by llama-swap: {_OWN[macro]}"
    if macro.startswith("env."):
        return f"macro: {written} is a variable of the system that llama-swap runs on"
    return f"macro: {written} is not defined in this text"


def _notes(model: Mapping[str, Node]) -> tuple[str, ...]:
    names = [name for name in model if name not in _READ]
    if not names:
        return ()
    return (f"Of llama-swap, and no setting of the engine: {', '.join(names[:12])}.",)
