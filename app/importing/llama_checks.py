"""What is wrong with a call of llama.cpp although each of its words is in order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from app.importing.llama_gathering import PRESETS, LlamaGathering
from app.importing.llama_rules import is_router, names_model
from app.importing.programs import base_name
from app.importing.typed_numbers import is_variable
from engine_bridge.settings.config import CONTEXT_PAD_TOK, pad_context_tok
from engine_bridge.settings.table import BY_KEY

# Models whose keys and values are compressed together, by what their files are called.
_MLA = re.compile(
    r"deepseek[-_ ]?(?:coder[-_ ]?v2|prover[-_ ]?v2|v2|v3|v4|r1(?![-_ ]?distill))|kimi[-_ ]?k2"
    r"|minicpm[-_ ]?3|glm[-_ ]?(?:4\.7[-_ ]?flash|5)",
    re.IGNORECASE,
)
_DISTILLED = re.compile(r"distill", re.IGNORECASE)
_BLOB = re.compile(r"sha256[-:][0-9a-f]{6,}")
_OTHER_FILES = (".bin", ".safetensors", ".ggml", ".pth", ".pt", ".onnx")
# Flags that came after -ngl -1 had come to mean "auto": who writes them knows.
_RECENT = (
    "--spec-type", "--spec-draft-n-max", "--spec-draft-n-min", "--load-mode", "--lazy-mode",
    "--fit", "--fit-target", "--reasoning", "--kv-unified", "--n-cpu-moe", "--cpu-moe",
    "--cache-ram", "--ctx-checkpoints", "--models-dir", "--models-preset",
)  # fmt: skip
_LIKE_A_FILE = re.compile(r"\.[A-Za-z]\w{0,7}$")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(?::[\w.-]+)?")
_EVERYWHERE = ("0.0.0.0", "::", "*")
_THINKING = "enable_thinking"


def check(gathering: LlamaGathering, *, is_server: bool) -> None:
    """Tell of everything that is wrong, worth knowing, or not what it seems."""
    for one in _CHECKS:
        one(gathering)
    if is_server:
        _model(gathering)
        _reach(gathering)


# --- The model ------------------------------------------------------------------------------------


def _model(gathering: LlamaGathering) -> None:
    if is_router(gathering):
        gathering.understood("router", value=True)
        gathering.note(
            "The server has no model of its own: it starts one for each model of the folder or "
            "of the preset. Open the preset itself for their settings."
        )
        return
    if names_model(gathering) or gathering.has_problem("no_model"):
        return
    invocation = gathering.invocation
    if invocation.kind == "preset" and _REPOSITORY.fullmatch(invocation.title):
        gathering.derive("hf_repo", invocation.title)
        gathering.note(
            "The section is called like a repository: llama-server takes it for that model in its "
            "cache."
        )
        return
    is_part = not invocation.program or gathering.has_problem("log_paste")
    if gathering.has_problem("fragment"):
        return
    if invocation.kind == "env" and not invocation.words:
        gathering.note("The variables name no model.")
    elif is_part and invocation.kind != "preset":
        gathering.problem("fragment", "the text names no model; it goes on top of what is set")
    else:
        gathering.problem("no_model", "neither a model nor a repository is named")


def _model_file(gathering: LlamaGathering) -> None:
    for key in ("model_path", "draft_model_path"):
        path = gathering.settings.get(key)
        if not isinstance(path, str) or not path:
            continue
        name = base_name(path)
        if _BLOB.match(name):
            gathering.problem("blob_path", f"{name[:20]}… is a file without .gguf, of Ollama's")
        elif name.lower().endswith(_OTHER_FILES):
            gathering.problem("unsupported_file", f"{name} is no GGUF, which llama.cpp needs")


def _mla(gathering: LlamaGathering) -> None:
    settings = gathering.settings
    names = [settings.get(key) for key in ("model_path", "hf_repo", "hf_file")]
    text = " ".join(name for name in names if isinstance(name, str))
    if not _MLA.search(text) or _DISTILLED.search(text):
        return
    k, v = settings.get("cache_type_k", "f16"), settings.get("cache_type_v", "f16")
    if k and v and k != v:
        gathering.problem(
            "mla_kv_types",
            f"K {k} and V {v} differ, and a model that compresses both together (MLA) needs equal "
            "types",
        )


# --- Numbers --------------------------------------------------------------------------------------


def _context(gathering: LlamaGathering) -> None:
    total = gathering.settings.get("ctx_total_tok")
    if not isinstance(total, int) or isinstance(total, bool):
        return
    if total == 0 and not any(s.is_called("-c") and "-" in s.value for s in gathering.flags):
        gathering.problem("ctx_zero", "the real size is known only after reading the GGUF")
    elif total % CONTEXT_PAD_TOK:
        padded = pad_context_tok(total)
        if total % 100:
            gathering.problem(
                "odd_value",
                f"context {total} is no multiple of {CONTEXT_PAD_TOK}; llama.cpp makes {padded} "
                "of it",
            )
        else:
            gathering.note(f"llama.cpp pads the context of {total:,} tokens to {padded:,}.")


def _micro_batch(gathering: LlamaGathering) -> None:
    batch = gathering.settings.get("batch_tok", BY_KEY["batch_tok"].default)
    ubatch = gathering.settings.get("ubatch_tok")
    if isinstance(batch, int) and isinstance(ubatch, int) and ubatch > batch:
        gathering.problem("ubatch_gt_batch", f"{ubatch} > {batch}, and llama.cpp uses {batch}")


def _layers(gathering: LlamaGathering) -> None:
    said = [one for one in gathering.flags if one.is_called("-ngl") and one.value == "-1"]
    if not said:
        return
    if gathering.has(*_RECENT):
        gathering.note("-ngl -1 is auto: as many layers as fit.")
        return
    gathering.problem(
        "changed_meaning",
        "n_gpu_layers -1 is auto in 0.5.0; it meant none once, and was often written for all",
    )


# --- Who reaches it, and what it may do -----------------------------------------------------------


def _reach(gathering: LlamaGathering) -> None:
    host = gathering.other.get("host")
    has_key = {"api_key", "api_key_file"} & gathering.other.keys()
    if isinstance(host, str) and not has_key and set(host.split(",")) & set(_EVERYWHERE):
        gathering.note(
            f"The server listens on {host} without an API key, so whoever reaches this machine can "
            "use it."
        )


def _tools(gathering: LlamaGathering) -> None:
    flag = next((s for s in gathering.flags if s.is_called("--tools")), None)
    if gathering.has("--agent") and gathering.other.get("agent") is True:
        gathering.problem("security", "--agent gives the model tools that read and write files")
    if flag is None or flag.word is None:
        return
    named = [name.strip() for name in flag.value.split(",") if name.strip()]
    known = set(map(str, flag.word.choices))
    for name in named:
        if known and name not in known and not is_variable(name):
            gathering.problem("bad_value", f"tool {name} is not in 0.5.0")
    if named:
        gathering.problem("security", "built-in tools give the model access to files")


def _slot_folder(gathering: LlamaGathering) -> None:
    path = gathering.other.get("slot_save_path")
    if isinstance(path, str) and _LIKE_A_FILE.search(base_name(path)):
        gathering.problem(
            "slot_save_path", f"{path} looks like a file, and llama.cpp expects a folder"
        )


# --- What is said otherwise now -------------------------------------------------------------------


def _thinking(gathering: LlamaGathering) -> None:
    arguments = gathering.other.get("chat_template_kwargs")
    if isinstance(arguments, str):  # its quotes were lost on the way
        found = re.search(_THINKING + r"\W{1,4}(true|false)", arguments, re.IGNORECASE)
        value: object = found[1].lower() == "true" if found else None
    else:
        value = arguments.get(_THINKING) if isinstance(arguments, dict) else None
    if not isinstance(value, bool):
        return
    meant = "on" if value else "off"
    gathering.problem("deprecated", f"{_THINKING} in the template's words -> --reasoning {meant}")
    gathering.heal(
        f"--chat-template-kwargs {json.dumps({_THINKING: value})}", f"--reasoning {meant}"
    )
    if "reasoning" in gathering.other:
        return
    gathering.other["reasoning"] = meant
    rest = (
        {k: v for k, v in arguments.items() if k != _THINKING}
        if isinstance(arguments, dict)
        else {}
    )
    kept = [("--chat-template-kwargs", json.dumps(rest))] if rest else []
    gathering.hand_on_instead("--chat-template-kwargs", ("--reasoning", meant), *kept)


def _presets(gathering: LlamaGathering) -> None:
    if gathering.has(*PRESETS):
        gathering.note("What the preset stands for is not in the text, so no setting is made up.")


_CHECKS: tuple[Callable[[LlamaGathering], None], ...] = (
    _model_file,
    _mla,
    _context,
    _micro_batch,
    _layers,
    _tools,
    _slot_folder,
    _thinking,
    _presets,
)
