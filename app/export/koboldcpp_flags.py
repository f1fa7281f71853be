"""KoboldCpp's flags about the model, its context, its cache, batches and drafts.

A ``.kcpps`` file has the flags by their first long name, with ``_`` for ``-``.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.export.carried import not_carried, same_for
from app.export.conversation_room import capped_note, conversation_tok
from app.export.kv_numerics import kv_wish
from app.export.llama_flag import Situation
from app.export.resolved import ALL_LAYERS, flash_attention, thread_counts
from app.export.sheet import Sheet
from app.export.unused_drafts import leave_unused_drafts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.placement_items import lora_file
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY

ENGINE = "KoboldCpp"
_LEAST_CONTEXT_TOK, _MOST_CONTEXT_TOK = 256, 524_288
_BATCHES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_KV_TYPES = ("f16", "bf16", "q8_0", "q5_1", "q4_0")
_LOAD_FLAGS: dict[str, tuple[str, ...]] = {
    "mmap": ("--usemmap",),
    "mlock": ("--usemlock",),
    "mmap+mlock": ("--usemmap", "--usemlock"),
    "dio": ("--usedirectio",),
    "none": (),
}


class KoboldSheet(Sheet):
    """A sheet with the file beside the command line.

    Attributes:
        kcpps: What the file holds, by the names it has for the flags.
    """

    def __init__(self, situation: Situation) -> None:
        """Start an empty sheet for ``situation``."""
        super().__init__(situation)
        self.kcpps: dict[str, object] = {}

    def put(self, flag: str, value: object = True) -> None:
        """``flag`` with ``value`` goes onto the line and into the file; true is a switch."""
        self.kcpps[flag.removeprefix("--")] = value
        self.words.append(flag)
        if value is not True:
            values = value if isinstance(value, (list, tuple)) else [value]
            self.words += map(str, values)

    def option(self, keys: str | Iterable[str], flag: str, value: object = True) -> None:
        """The same, and it says ``keys``."""
        self.put(flag, value)
        self.say(keys, flag)

    def bridging_option(
        self, keys: str | Iterable[str], how: str, flag: str, value: object = True
    ) -> None:
        """The same by a flag that means something else; ``how`` begins with it."""
        self.put(flag, value)
        self.bridge(keys, how)


def say_files(sheet: KoboldSheet) -> None:
    """Writes the model and what stands beside it."""
    config = sheet.config
    if config.model_path:
        sheet.words += ["--model", _path(config.model_path)]
        sheet.kcpps["model_param"] = _path(config.model_path)
        sheet.say("model_path", "--model")
    else:
        sheet.say("model_path", "--model")
        sheet.notes.append("No model is chosen, so the line names none: add --model FILE.")
    if config.mmproj_path:
        sheet.option("mmproj_path", "--mmproj", _path(config.mmproj_path))
    else:
        sheet.say("mmproj_path", "no --mmproj")
    _adapters(sheet)
    _metadata(sheet)


def _path(path: str) -> str:
    """``path`` as a value that is not taken for a flag."""
    return f"./{path}" if path.startswith("-") else path


def _adapters(sheet: KoboldSheet) -> None:
    loras = [lora_file(item) for item in sheet.config.lora]
    scales = {scale for _, scale in loras}
    if not loras:
        sheet.say("lora", "no --lora")
    elif len(scales) > 1:
        sheet.leave("lora", "--loramult is one strength for all adapters, and these have several.")
    else:
        sheet.option("lora", "--lora", [_path(path) for path, _ in loras])
        if scales != {1.0}:
            sheet.put("--loramult", scales.pop())


def _metadata(sheet: KoboldSheet) -> None:
    """It cuts at commas where each piece has one = and one :, and takes the whole as one else."""
    items = sheet.config.override_kv
    if not items:
        sheet.say("override_kv", "no --overridekv")
    elif len(items) > 1 and any("," in one or one.count(":") != one.count("=") for one in items):
        reason = "--overridekv cannot tell these apart: one holds a comma or a colon."
        sheet.leave("override_kv", reason)
    elif len(items) == 1 and _is_cut(items[0]):
        sheet.leave("override_kv", "--overridekv would cut this at its comma.")
    else:
        sheet.option("override_kv", "--overridekv", ",".join(items))


def _is_cut(item: str) -> bool:
    return "," in item and item.count("=") > 1 and item.count(":") == item.count("=")


def say_room(sheet: KoboldSheet) -> None:
    """Writes the context: it is that of one conversation, and there is one."""
    config = sheet.config
    wanted = conversation_tok(sheet.situation)
    said = min(max(wanted, _LEAST_CONTEXT_TOK), _MOST_CONTEXT_TOK)
    if said == wanted:
        sheet.option("ctx_per_slot_tok", "--contextsize", said)
    else:
        how = f"--contextsize takes {_LEAST_CONTEXT_TOK:,} to {_MOST_CONTEXT_TOK:,}: {said:,}."
        sheet.bridging_option("ctx_per_slot_tok", how, "--contextsize", said)
    sheet.notes.extend(capped_note(sheet.situation, "--contextsize"))
    if config.slots == 1:
        sheet.say("slots", "one conversation at a time, unless told")
    else:
        sheet.leave(
            "slots",
            f"{ENGINE} has one slot: {config.slots:,} conversations wait for each other. Its "
            "--parallelrequests computes several requests together; what context each has then is "
            "not known here, so the line does not say it.",
        )
    sheet.leave("kv_unified", f"{ENGINE} has one slot, which owns the whole cache.")
    sheet.leave("ctx_total_tok", f"With one slot the pool is its context: {said:,} tokens.")


def say_load(sheet: KoboldSheet) -> None:
    """Writes the cache's format, batches, threads and how the file is read."""
    _cache_type(sheet)
    _batches(sheet)
    decode, prefill = thread_counts(sheet.situation)
    for key, flag, count in (
        ("threads", "--threads", decode),
        ("threads_batch", "--blasthreads", prefill),
    ):
        if count is None:
            sheet.say(key, "its own choice, unless told")
        else:
            sheet.option(key, flag, count)
    mode = sheet.config.load_mode
    if mode == "auto":
        sheet.leave("load_mode", f"{ENGINE} copies the file unless told; --usemmap would map it.")
    else:
        for flag in _LOAD_FLAGS[mode]:
            sheet.put(flag)
        sheet.say("load_mode", " and ".join(_LOAD_FLAGS[mode]) or "a copy, unless told")
    _caches(sheet)


def _cache_type(sheet: KoboldSheet) -> None:
    """One type; without flash attention it is that of the keys alone."""
    config = sheet.config
    flag = "--quantkv"
    is_tiled = flash_attention(sheet.situation)
    if is_tiled is False:
        sheet.option("flash_attn", "--noflashattention")
    else:
        sheet.say("flash_attn", "on, unless told")
    has_keys_alone = is_tiled is False and config.cache_type_v == "f16"
    counting_v = config.cache_type_k if has_keys_alone else config.cache_type_v
    wish = kv_wish(config.cache_type_k, counting_v)
    sheet.leave(wish.outvoted, wish.why_outvoted)
    name = _nearest(wish.finer.name)
    if is_tiled is False and not has_keys_alone:
        sheet.put(flag, "f16")
        reason = f"{flag} f16: without flash attention values have no other format."
        sheet.leave(("cache_type_k", "cache_type_v"), reason)
    elif name == wish.finer.name:
        sheet.option(wish.keys, flag, name)
    else:
        how = (
            f"{flag} {name}: of {', '.join(_KV_TYPES)} the coarsest that is no coarser than "
            f"{wish.finer.name}."
        )
        sheet.bridging_option(wish.keys, how, flag, name)


def _nearest(name: str) -> str:
    """The coarsest type that it has and that is no coarser than ``name``, else its finest."""
    if name in _KV_TYPES:
        return name
    bits = CACHE_TYPES[name].bits_per_value
    fine = [one for one in _KV_TYPES if CACHE_TYPES[one].bits_per_value >= bits]
    return fine[-1] if fine else _KV_TYPES[0]


def _batches(sheet: KoboldSheet) -> None:
    for key, flag in (("batch_tok", "--batchsize"), ("ubatch_tok", "--ubatchsize")):
        wanted = getattr(sheet.config, key)
        said = max((size for size in _BATCHES if size <= wanted), default=_BATCHES[0])
        if said == wanted:
            sheet.option(key, flag, said)
        else:
            how = f"{flag} takes powers of two from 16 to 4,096: {said:,} in place of {wanted:,}."
            sheet.bridging_option(key, how, flag, said)


def _caches(sheet: KoboldSheet) -> None:
    config = sheet.config
    for key, flag, is_off in (
        ("cache_prompt", "--nofastforward", not config.cache_prompt),
        ("context_shift", "--noshift", not config.context_shift),
        ("swa_full", "--noswa", config.swa_full),
        ("kv_offload", "--lowvram", not config.kv_offload),
    ):
        if is_off:
            sheet.option(key, flag)
        else:
            sheet.say(key, f"no {flag}")
    if config.context_shift and not config.cache_prompt:
        sheet.leave("context_shift", "--nofastforward switches context shift off with it.")
    sheet.leave("keep_tok", f"{ENGINE} keeps what a client sends as memory and counts no tokens.")
    sheet.leave(
        "cache_ram_mib", "--smartcache keeps states in RAM by their number and not by their size."
    )


def say_drafts(sheet: KoboldSheet) -> None:
    """Writes the kind of draft that KoboldCpp has, where one of those is on."""
    config = sheet.config
    kind = next((one for one in config.spec_types if one in ("draft-simple", "draft-mtp")), "")
    leave_unused_drafts(sheet, ENGINE, kind)
    sheet.answers |= same_for(KINDS_OF_KEY, not_carried(f"{ENGINE} drafts by models alone."))
    if not config.spec_types:
        sheet.say("spec_types", "no drafts unless told")
        return
    if not kind or (kind == "draft-simple" and not config.draft_model_path):
        reason = "No draft model is chosen: --draftmodel would name it."
        if not kind:
            reason = f"{ENGINE} drafts by a plain model or by layers of the model's own."
        sheet.leave("spec_types", reason)
        return
    others = [one for one in config.spec_types if one != kind]
    left_out = f" {ENGINE} leaves out {', '.join(others)}." if others else ""
    if config.draft_model_path:
        sheet.option("draft_model_path", "--draftmodel", _path(config.draft_model_path))
        how = f"--draftmodel: {ENGINE} sees by the file how it drafts.{left_out}"
        sheet.bridge("spec_types", how)
        _draft_layers(sheet)
    elif others:
        how = f"--usemtp: {ENGINE} drafts in one way.{left_out}"
        sheet.bridging_option("spec_types", how, "--usemtp")
    else:
        sheet.option("spec_types", "--usemtp")
    sheet.option("draft_n_max", "--draftamount", config.draft_n_max)


def _draft_layers(sheet: KoboldSheet) -> None:
    layers = sheet.config.draft_n_gpu_layers
    said = layers if isinstance(layers, int) else ALL_LAYERS
    sheet.option("draft_n_gpu_layers", "--draftgpulayers", said)
