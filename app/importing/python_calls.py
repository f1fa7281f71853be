"""Calls of engines' libraries in Python: ``Llama(…)``, ``LLM(…)``, ``ollama.chat(…)`` and others.

Parsed and never run; a name whose value is assigned in the text is put in, others stay as they are.
Must not know what an argument means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from app.importing.invocation import Invocation
from app.importing.name_sets import names
from app.importing.python_brackets import to_closing

_MOST_CALLS = 20
_PROMPT = re.compile(r"^(?:>{2,3}|\.\.\.|In \[\d+\]:|[ \t]*\.\.\.:)[ \t]?", re.MULTILINE)
_CALL = re.compile(
    r"(?<![\w.])(?:(?P<llama>(?:llama_cpp\.)?Llama(?:\.from_pretrained)?|(?:Chat)?LlamaCpp)"
    r"|(?P<vllm>(?:vllm\.)?(?:Async)?(?:LLM|EngineArgs|AsyncEngineArgs)|VLLM)"
    r"|(?P<sglang>(?:sglang\.|sgl\.)(?:Engine|Runtime))"
    r"|(?P<lmstudio>(?:lms|lmstudio|client)\.llm(?:\.\w+)?)"
    r"|(?P<ollama>(?:\w+\.)?(?:chat|generate)|ollama\.\w+|(?:Chat)?Ollama(?:LLM)?))\s*\("
)
_TENSORRT = re.compile(r"\btensorrt_llm\b")
_ASSIGNED = re.compile(
    r"^[ \t]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=[ \t]*([^\n#=][^\n#]*)", re.MULTILINE
)
_TYPE = re.compile(r"(?:llama_cpp\.)?GGML_TYPE_(\w+)$")
_GGML = {"F32": "0", "F16": "1", "Q4_0": "2", "Q4_1": "3", "Q5_0": "6", "Q5_1": "7", "Q8_0": "8",
         "IQ4_NL": "20", "BF16": "30"}  # fmt: skip
# Arguments of the library that its server has other names for.
_OF_LLAMA = {"model_path": "model", "repo_id": "hf_model_repo_id", "filename": "hf_file"}
_NOT_LOADED = names("callback_manager callbacks streaming f16_kv stop grammar grammar_path")
_MOST_SHOWN_CHARACTERS = 60
_DEEPEST = 6


@dataclass(frozen=True)
class _Argument:
    """What an argument says.

    Attributes:
        texts: As text; of a list several.
        inside: Of a dictionary, by its keys.
    """

    texts: tuple[str, ...] = ()
    inside: Mapping[str, tuple[str, ...]] | None = None


_Maker: TypeAlias = "Callable[[dict[str, _Argument]], list[Invocation]]"


def is_python(text: str) -> bool:
    """Whether a text is Python that calls one of the libraries."""
    begins = re.search(
        r"^(?:>{2,3} ?|[ \t]*)(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+\w|\w+[ \t]*=[ \t]*"
        r"(?:Llama|LlamaCpp|ChatLlamaCpp|LLM|sgl\.Engine)\b)|^Llama\(|^[\w.]+\(\s*model=",
        text,
        re.MULTILINE,
    )
    return begins is not None and _CALL.search(text) is not None


def read_python(text: str) -> tuple[Invocation, ...]:
    """The calls of engines' libraries in ``text``."""
    text = _PROMPT.sub("", text)
    known = {name: value.strip() for name, value in _ASSIGNED.findall(text)}
    found: list[Invocation] = []
    for match in list(_CALL.finditer(text))[:_MOST_CALLS]:
        kind = match.lastgroup or ""
        if kind == "vllm" and _TENSORRT.search(text):
            kind = "tensorrt"
        call = _parsed(to_closing(text, match.end() - 1))
        if call is not None:
            found += _BY_KIND[kind](_arguments(call, known))
    return tuple(found)


def _parsed(brackets: str) -> ast.Call | None:
    try:
        node = ast.parse(f"f{brackets}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) else None


def _arguments(call: ast.Call, known: Mapping[str, str]) -> dict[str, _Argument]:
    found = {str(at): _argument(node, known) for at, node in enumerate(call.args)}
    return found | {each.arg: _argument(each.value, known) for each in call.keywords if each.arg}


def _argument(node: ast.expr, known: Mapping[str, str]) -> _Argument:
    if isinstance(node, ast.Dict):
        return _Argument(inside=_flat(node, known, ""))
    return _Argument(tuple(_texts(node, known)))


def _flat(node: ast.Dict, known: Mapping[str, str], room: str) -> dict[str, tuple[str, ...]]:
    """A dictionary with the keys of those in it joined by dots."""
    found: dict[str, tuple[str, ...]] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = room + "".join(_texts(key, known)) if key is not None else ""
        if isinstance(value, ast.Dict) and name.count(".") < _DEEPEST:
            found |= _flat(value, known, f"{name}.")
        elif name:
            found[name] = tuple(_texts(value, known))
    return found


def _texts(node: ast.expr, known: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """What an expression is as text; as it was written where only Python could tell."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for item in node.elts:
            yield from _texts(item, known, depth)
        return
    value = known.get(node.id) if isinstance(node, ast.Name) else None
    if value is not None and depth < 3:
        try:
            inside = ast.parse(value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            yield f"${ast.unparse(node)}"
            return
        yield from _texts(inside, known, depth + 1)
        return
    written = ast.unparse(node)
    kind = _TYPE.match(written)
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        yield _GGML.get(kind.group(1), written) if kind else f"${written[:_MOST_SHOWN_CHARACTERS]}"
        return
    if literal is not None:
        yield str(literal).lower() if isinstance(literal, bool) else str(literal)


# --- each library -------------------------------------------------------------------------------


def _llama(said: dict[str, _Argument]) -> list[Invocation]:
    if not {"model_path", "repo_id", "0"} & said.keys():
        return []
    if "0" in said:
        said = {"model_path": said["0"], **said}
    words: list[str] = []
    notes: list[str] = []
    for name, argument in said.items():
        if name.isdigit() or name in _NOT_LOADED or not argument.texts:
            if name in _NOT_LOADED and argument.texts:
                notes.append(f"{name}={', '.join(argument.texts)} is no part of how it is loaded.")
            continue
        words += [f"--{_OF_LLAMA.get(name, name)}", ",".join(argument.texts)]
    return [Invocation("python", "llama_cpp.server", tuple(words), notes=tuple(notes))]


def _by_values(program: str) -> _Maker:
    def make(said: dict[str, _Argument]) -> list[Invocation]:
        named = {"model_tag" if name == "0" else name: each for name, each in said.items()}
        values: dict[str, tuple[str, ...]] = {}
        for name, argument in named.items():
            if argument.inside is not None:
                values |= {f"{name}.{key}": texts for key, texts in argument.inside.items()}
            elif argument.texts and not name.isdigit():
                values[name] = argument.texts
        is_engine = {"model", "model_tag", "model_path"} & values.keys()
        return [Invocation("python", program, values=values)] if is_engine else []

    return make


def _lm_studio(said: dict[str, _Argument]) -> list[Invocation]:
    config = said.get("config")
    inside = dict(config.inside or {}) if config is not None else {}
    name = said.get("0") or said.get("model_key")
    if not inside or name is None:
        return []
    values = {"model": name.texts} | {f"load.{key}": texts for key, texts in inside.items()}
    return [Invocation("json", "lms", values=values)]


def _ollama(said: dict[str, _Argument]) -> list[Invocation]:
    options = said.get("options")
    inside = options.inside if options is not None else None
    values = {name: each.texts for name, each in said.items() if each.texts and not name.isdigit()}
    if "model" not in values:
        return []
    # A library of chains has the options among its arguments.
    loose = {name for name in values if name.startswith(("num_", "repeat_"))}
    values = {(f"options.{name}" if name in loose else name): v for name, v in values.items()}
    values |= {f"options.{key}": texts for key, texts in (inside or {}).items()}
    is_set = any(key.startswith("options.") for key in values)
    return [Invocation("json", "", values=values)] if is_set else []


_BY_KIND = {
    "llama": _llama,
    "vllm": _by_values("vllm"),
    "tensorrt": _by_values("trtllm-serve"),
    "sglang": _by_values("sglang.launch_server"),
    "lmstudio": _lm_studio,
    "ollama": _ollama,
}
