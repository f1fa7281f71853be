"""What was found, as values that the desk's settings can take.

Pure; knows settings and the few rules by which a context of one engine becomes that of the desk.
"""

from __future__ import annotations

import re

import msgspec

from app.importing.found import Found
from app.importing.llama_meanings import FLAG_OF_KEY
from app.importing.typed_numbers import is_variable
from engine_bridge.settings.config import pad_context_tok
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.extra_flag import flag_item
from engine_bridge.settings.items_domain import MOST_ITEMS
from engine_bridge.settings.placement_rows import MOST_LAYERS
from engine_bridge.settings.table import BY_KEY

# What systemd puts in at the beginning of a path, such as a home.
_SPECIFIER = re.compile(r"%[A-Za-z]/")
NOT_IN_TEXT = "begins with a variable, and its value is not in the text."
"""How a reason ends that a variable is the matter."""
_CONTEXT = ("ctx_per_slot_tok", "ctx_total_tok", "slots", "kv_unified")
# Engines in which all conversations share one pool, whose size no flag needs to say.
_SHARING = ("vllm", "sglang", "tensorrt-llm")
_LAYERS = ("n_gpu_layers", "draft_n_gpu_layers")
_THREADS = ("threads", "threads_batch")
_PATHS = (
    "model_path", "draft_model_path", "mmproj_path", "lookup_cache_static_path",
    "lookup_cache_dynamic_path",
)  # fmt: skip


class Usable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the desk can take.

    Attributes:
        values: By their keys, each inside its domain: ``EngineConfig.with_values`` takes them.
        left_out: Keys of what it cannot take, each with the reason, a sentence.
    """

    values: dict[str, Value]
    left_out: dict[str, str]


def settings_for(found: Found) -> Usable:
    """What of ``found`` the desk can take, and why it cannot take the rest."""
    left_out: dict[str, str] = {}
    wanted: dict[str, Value] = {}
    for key, value in found.settings.items():
        if value is None:
            left_out[key] = "The text leaves its value open."
        elif key in BY_KEY and key not in _CONTEXT:
            wanted[key] = _on_host(key, _as_kept(key, value), found.mounts)
    wanted |= _context(found, left_out)
    wanted = {key: value for key, value in wanted.items() if _is_known(key, value, left_out)}
    values = {
        key: v for key, value in wanted.items() if (v := _checked(key, value, left_out)) is not None
    }
    flags = _extra_flags(found, left_out)
    if flags:
        values["extra_flags"] = flags
    return Usable(values, left_out)


def _as_kept(key: str, value: Value) -> Value:
    """A value as the desk says it, where engines have another number for it."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and key in _THREADS and isinstance(value, int) and value <= 0:
        return "auto"
    if is_number and key in _LAYERS and isinstance(value, int) and value > MOST_LAYERS:
        return "all"
    return value


def _on_host(key: str, value: Value, mounts: tuple[tuple[str, str], ...]) -> Value:
    """A path of a container as the host has it, where the text tells."""
    if key in _PATHS and isinstance(value, str):
        return _mapped(value, mounts)
    if key == "lora" and isinstance(value, tuple):
        return tuple(_mapped(item, mounts) for item in value)
    return value


def _mapped(path: str, mounts: tuple[tuple[str, str], ...]) -> str:
    """``path`` by the mount that says most of it."""
    for host, inside in sorted(mounts, key=lambda mount: -len(mount[1])):
        folder = inside.rstrip("/")
        if path == inside or path.startswith(f"{folder}/"):
            return host.rstrip("/") + path[len(folder) :]
    return path


def _is_known(key: str, value: Value, left_out: dict[str, str]) -> bool:
    if key not in _PATHS or not isinstance(value, str):
        return True
    if not is_variable(value) and not _SPECIFIER.match(value):
        return True
    left_out[key] = f"{value} {NOT_IN_TEXT}"
    return False


def _checked(key: str, value: Value, left_out: dict[str, str]) -> Value | None:
    try:
        return BY_KEY[key].domain.check(value)
    except DomainError as error:
        left_out[key] = str(error)
        return None


# --- Contexts -------------------------------------------------------------------------------------


def _context(found: Found, left_out: dict[str, str]) -> dict[str, Value]:
    """The context of one slot, the slots, and how they share a pool."""
    said = {key: found.settings.get(key) for key in _CONTEXT}
    values: dict[str, Value] = {}
    slots = _number(said["slots"])
    unified = said["kv_unified"]
    if slots:
        values["slots"] = slots
    total, cap = _number(said["ctx_total_tok"]), _number(said["ctx_per_slot_tok"])
    if unified is None and found.target in _SHARING and (cap or slots):
        # Nothing is multiplied there: a pool for one conversation is the least it starts with.
        unified, total = True, total or cap
    if isinstance(unified, bool):
        values["kv_unified"] = unified
    if said["ctx_total_tok"] == 0:
        left_out["ctx_total_tok"] = (
            "It is the context that the model was trained for, which is known once it is loaded."
        )
    if unified is True:
        return values | _shared(total, cap, slots)
    cap = cap or (pad_context_tok(max(1, total // max(1, slots))) if total else 0)
    if cap:
        values["ctx_per_slot_tok"] = cap
        if isinstance(unified, bool):
            values["ctx_total_tok"] = "auto"
    return values


def _shared(total: int, cap: int, slots: int) -> dict[str, Value]:
    if not total:
        return {"ctx_per_slot_tok": cap} if cap else {}
    padded = pad_context_tok(total)
    each = min(cap, padded) if cap else padded
    return {
        "ctx_per_slot_tok": each,
        "ctx_total_tok": "auto" if pad_context_tok(each * slots) == padded else padded,
    }


def _number(value: Value | None) -> int:
    """A number of tokens or slots; 0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return max(0, value)


# --- What leaves as it came -----------------------------------------------------------------------


def _extra_flags(found: Found, left_out: dict[str, str]) -> tuple[str, ...]:
    items = [
        flag_item((FLAG_OF_KEY[key], f"{value:g}" if isinstance(value, float) else str(value)))
        for key, value in found.settings.items()
        if key in FLAG_OF_KEY and value is not None
    ]
    kept: list[str] = []
    refused: list[str] = []
    domain = BY_KEY["extra_flags"].domain
    for item in (*items, *found.extra_flags):
        try:
            domain.check((item,))
        except DomainError as error:
            refused.append(str(error))
        else:
            kept.append(item)
    if len(kept) > MOST_ITEMS:
        refused.append(f"{len(kept)} flags are more than the {MOST_ITEMS} that can be kept.")
    if refused:
        left_out["extra_flags"] = " ".join(refused)
    return tuple(kept[:MOST_ITEMS])
