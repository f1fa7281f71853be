"""What programs in Python print of their arguments: ``Namespace(contextsize=4096, …)``.

KoboldCpp and vLLM print it when they start, with every argument there is. Parsed and never run.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from app.importing.invocation import Invocation
from app.importing.kcpps_reader import is_kcpps, read_kcpps
from app.importing.shell_text import begins_call, calls_inside
from app.importing.yaml_text import Node, flat

_NAMESPACE = re.compile(r"\bNamespace\(")
_LONGEST_CHARACTERS = 40_000
_LINES_BEFORE = 60
"""Lines before the arguments in which a command may stand."""
# Arguments of vLLM that are no flags of it.
_NO_FLAGS = ("subparser", "dispatch_function", "config", "model_config")
_LOG = "log_paste: the words were taken out of the lines of a log; it may be cut off"


def has_namespace(text: str) -> bool:
    """Whether arguments are printed in ``text``, and no command stands before them."""
    match = _NAMESPACE.search(text)
    before = text[: match.start()].split("\n")[:-1] if match else []
    # A prompt ends before the command.
    texts = [part for line in before[-_LINES_BEFORE:] for part in (line, line.rpartition(">")[2])]
    return match is not None and not any(map(_calls, texts))


def _calls(line: str) -> bool:
    return begins_call(line.strip()) or bool(calls_inside(line))


def read_namespace(text: str) -> tuple[Invocation, ...]:
    """What the arguments say; nothing where they are cut off or of another program."""
    match = _NAMESPACE.search(text)
    source = _to_end(text[match.end() - 1 :][:_LONGEST_CHARACTERS]) if match else ""
    said = _arguments(source)
    if is_kcpps(said):
        return tuple(replace(each, problems=(_LOG, *each.problems)) for each in read_kcpps(said))
    if "max_model_len" in said or "gpu_memory_utilization" in said:
        kept = {key: node for key, node in said.items() if key not in _NO_FLAGS}
        if "model_tag" in kept:
            kept.pop("model", None)
        return (Invocation("yaml", "vllm", values=flat(kept), problems=(_LOG,)),)
    return ()


def _to_end(text: str) -> str:
    """Up to the bracket that closes the first."""
    depth, quote, skips = 0, "", False
    for at, sign in enumerate(text):
        if skips:
            skips = False
        elif quote:
            skips = sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += (sign == "(") - (sign == ")")
            if not depth:
                return text[: at + 1]
    return ""


def _arguments(source: str) -> dict[str, Node]:
    # Objects that print themselves as <…> are no Python.
    source = re.sub(r"<(?:function|class|bound)[^<>]*(?:<[^<>]*>)?[^<>]*>", "None", source)
    try:
        node = ast.parse(f"f{source}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, Node] = {}
    for each in node.keywords if isinstance(node, ast.Call) else []:
        try:
            value = _node(ast.literal_eval(each.value))
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if each.arg and value is not None:
            found[each.arg] = value
    return found


def _node(value: object) -> Node | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return [node for item in value if (node := _node(item)) is not None]
    if isinstance(value, dict):
        parts = {str(key): _node(item) for key, item in value.items()}
        return {key: node for key, node in parts.items() if node is not None}
    return str(value)
