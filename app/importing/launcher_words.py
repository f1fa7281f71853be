"""Programs that start llama.cpp themselves and have names of their own for what it is told.

text-generation-webui with its flags and its file of models, and Jan with its model.yml. What they
say becomes llama.cpp's own words, which are understood as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import msgspec

from app.importing import llama_words
from app.importing.found import Found
from app.importing.invocation import Invocation
from app.importing.name_sets import names
from app.importing.typed_numbers import truth

WEBUI, JAN = "text-generation-webui", "jan"
_Words = Callable[[str], list[str]]


def _flag(name: str) -> _Words:
    return lambda value: [name, value]


def _switch(*words: str) -> _Words:
    return lambda value: [] if truth(value) is False else list(words)


def _flash(value: str) -> list[str]:
    return ["--flash-attn", "off" if truth(value) is False else "on"]


def _unless(*words: str) -> _Words:
    return lambda value: list(words) if truth(value) is False else []


def _caches(value: str) -> list[str]:
    kind = {"fp16": "f16"}.get(value.lower(), value)
    return ["--cache-type-k", kind, "--cache-type-v", kind]


def _filled(name: str) -> _Words:
    """A number that is left to the engine where it is 0."""
    return lambda value: [] if value in {"0", ""} else [name, value]


def _extra(value: str) -> list[str]:
    """``--extra-flags "name=value,name"``: more words for llama-server."""
    if value.lstrip().startswith("-"):
        return value.split()
    words: list[str] = []
    for part in value.split(","):
        name, sign, rest = part.strip().partition("=")
        words += [f"--{name}", *([rest] if sign else [])] if name else []
    return words


_WEBUI: Mapping[str, _Words] = {
    "model": _flag("--model"),
    "gpu-layers": _flag("--gpu-layers"),
    "n-gpu-layers": _flag("--gpu-layers"),
    "ctx-size": _filled("--ctx-size"),
    "n-ctx": _filled("--ctx-size"),
    "max-seq-len": _filled("--ctx-size"),
    "cache-type": _caches,
    "flash-attn": _flash,
    "threads": _filled("--threads"),
    "threads-batch": _filled("--threads-batch"),
    "batch-size": _flag("--batch-size"),
    "n-batch": _flag("--batch-size"),
    "ubatch-size": _flag("--ubatch-size"),
    "tensor-split": _flag("--tensor-split"),
    "row-split": _switch("--split-mode", "row"),
    "split-mode": _flag("--split-mode"),
    "no-kv-offload": _switch("--no-kv-offload"),
    "no-offload-kqv": _switch("--no-kv-offload"),
    "no-mmap": _switch("--no-mmap"),
    "mlock": _switch("--mlock"),
    "numa": _switch("--numa", "distribute"),
    "cpu-moe": _switch("--cpu-moe"),
    "n-cpu-moe": _flag("--n-cpu-moe"),
    "parallel": _flag("--parallel"),
    "fit-target": _flag("--fit-target"),
    "mmproj": _flag("--mmproj"),
    "model-draft": _flag("--model-draft"),
    "draft-max": _flag("--draft-max"),
    "gpu-layers-draft": _flag("--gpu-layers-draft"),
    "device-draft": _flag("--device-draft"),
    "spec-type": _flag("--spec-type"),
    "rope-freq-base": _filled("--rope-freq-base"),
    "extra-flags": _extra,
}
# Without a value behind them.
_WEBUI_SWITCHES = names(
    "flash-attn row-split no-kv-offload no-offload-kqv no-mmap mlock numa cpu-moe streaming-llm "
    "api listen share auto-launch nowebui no-webui verbose public-api trust-remote-code "
    "multi-user cpu chat notebook old-colors portable no-electron"
)
_JAN: Mapping[str, _Words] = {
    "llama_model_path": _flag("--model"),
    "model_path": _flag("--model"),
    "files": _flag("--model"),
    "mmproj": _flag("--mmproj"),
    "mmproj_path": _flag("--mmproj"),
    "ctx_len": _flag("--ctx-size"),
    "ctx_size": _flag("--ctx-size"),
    "ngl": _flag("--gpu-layers"),
    "n_gpu_layers": _flag("--gpu-layers"),
    "n_parallel": _flag("--parallel"),
    "cpu_threads": _flag("--threads"),
    "n_batch": _flag("--batch-size"),
    "n_ubatch": _flag("--ubatch-size"),
    "cache_type": _caches,
    "flash_attn": _flash,
    "use_mmap": _unless("--no-mmap"),
    "cont_batching": _unless("--no-cont-batching"),
    "temperature": _flag("--temp"),
    "top_p": _flag("--top-p"),
    "top_k": _flag("--top-k"),
    "min_p": _flag("--min-p"),
    "max_tokens": _flag("--predict"),
    "repeat_penalty": _flag("--repeat-penalty"),
    "presence_penalty": _flag("--presence-penalty"),
    "frequency_penalty": _flag("--frequency-penalty"),
    "seed": _flag("--seed"),
}
_JAN_ROOMS = ("settings.", "parameters.", "config.")
_TOLD = {JAN: "Jan"}
_OWN = "No setting here says what these of {program} do: {lines}."


def webui_knows(words: Sequence[str]) -> bool:
    """Whether the flags are text-generation-webui's: that one is among them which only it has."""
    flags = {_webui_name(word) for word in words if word.startswith("--")}
    return not flags.isdisjoint({"loader", "extra-flags", "cache-type", "streaming-llm"}) or (
        not flags.isdisjoint({"api", "listen", "n-gpu-layers", "gpu-layers", "n-ctx"})
        and not flags.isdisjoint({"model", "model-dir"})
    )


def webui_alone(words: Sequence[str]) -> bool:
    """Whether flags without a program are those of its ``CMD_FLAGS.txt``."""
    flags = {_webui_name(word.partition("=")[0]) for word in words if word.startswith("--")}
    return not flags.isdisjoint({"loader", "extra-flags", "streaming-llm"}) or (
        "listen" in flags and "api" in flags
    )


def kind_of_values(values: Mapping[str, tuple[str, ...]]) -> str:
    """Whose file it is; empty where it is none of these."""
    last = {key.rpartition(".")[2] for key in values}
    if any(key.endswith(".loader") for key in values):
        return WEBUI
    is_jan = {"ngl", "ctx_len", "llama_model_path"} & last or {"model_path", "size_bytes"} <= last
    return JAN if is_jan else ""


def understand_webui(invocation: Invocation) -> Found:
    """What text-generation-webui is told about llama.cpp."""
    pairs = _pairs(invocation.words)
    title = invocation.title
    for key, items in invocation.values.items():
        section, _, name = key.rpartition(".")
        title = title or section.rstrip("$")
        pairs.append((name, items[-1] if items else "true"))
    has_model = any(_webui_name(name) == "model" for name, _ in pairs)
    if title and not has_model and invocation.values:
        pairs.insert(0, ("model", title))
    loader = next((value for name, value in pairs if _webui_name(name) == "loader"), "llama.cpp")
    notes: list[str] = []
    if loader.lower().replace("-", "").replace(".", "") not in {"llamacpp", "llamacpphf"}:
        notes.append(f"The loader {loader} is not llama.cpp; only what both take is read.")
    pairs = [(name, value) for name, value in pairs if _webui_name(name) != "loader"]
    found = _understood(invocation, pairs, _WEBUI, WEBUI, _webui_name)
    return msgspec.structs.replace(found, title=title, notes=(*notes, *found.notes))


def understand_jan(invocation: Invocation) -> Found:
    """What Jan's file of a model says."""
    pairs = [(key, items[-1]) for key, items in invocation.values.items() if items]
    return _understood(invocation, pairs, _JAN, JAN, _jan_name)


def _understood(
    invocation: Invocation,
    pairs: Sequence[tuple[str, str]],
    known: Mapping[str, _Words],
    program: str,
    name_of: Callable[[str], str],
) -> Found:
    words: list[str] = []
    own: list[str] = []
    for written, value in pairs:
        say = known.get(name_of(written))
        if say is None:
            own.append(f"{written} {value}".strip())
        else:
            words += say(value)
    as_llama = replace(
        invocation, kind="posix", program="llama-server", words=tuple(words), values={}
    )
    found = llama_words.understand(as_llama)
    told = _OWN.format(program=_TOLD.get(program, program), lines="; ".join(own))
    notes = [told] if own else []
    return msgspec.structs.replace(found, target=program, notes=(*notes, *found.notes))


def _webui_name(written: str) -> str:
    return written.lstrip("-").replace("_", "-").lower()


def _jan_name(written: str) -> str:
    for room in _JAN_ROOMS:
        written = written.removeprefix(room)
    return written


def _pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Flags with the value behind each."""
    pairs: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        head, sign, tail = words[at].partition("=")
        at += 1
        is_flag = head.startswith("-")
        takes = is_flag and not sign and _webui_name(head) not in _WEBUI_SWITCHES
        if takes and at < len(words) and not words[at].startswith("--"):
            tail = words[at]
            at += 1
        pairs.append((head if is_flag else words[at - 1], tail if is_flag else ""))
    return pairs
