"""What LM Studio's load configuration says of a configuration, and ``lms load`` with it.

Names that its documentation does not have are those of its SDK's types.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.export.carried import not_carried, same_for
from app.export.llama_flag import Situation
from app.export.resolved import flash_attention, gpu_layers, has_every_layer
from app.export.sheet import Sheet
from app.export.unused_drafts import leave_unused_drafts
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY

ENGINE = "LM Studio"
DRAFT_PLACE = "<DRAFT MODEL KEY: see lms ls>"
_NGRAMS = same_for(KINDS_OF_KEY, not_carried(f"{ENGINE} drafts by models alone."))
_CACHE_TYPES = ("f32", "f16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")
_RATIO_DIGITS = 4
_UNKNOWN_LAYERS = "how many the model has is not known"
_LOAD_MODES: dict[str, dict[str, bool]] = {
    "none": {"tryMmap": False, "keepModelInMemory": False},
    "mmap": {"tryMmap": True, "keepModelInMemory": False},
    "mlock": {"tryMmap": False, "keepModelInMemory": True},
    "mmap+mlock": {"tryMmap": True, "keepModelInMemory": True},
    "dio": {"tryDirectIO": True},
}


class LmStudioSheet(Sheet):
    """A sheet with the load configuration beside the command line.

    Attributes:
        load: The load configuration, as its JSON has it.
        gpu: What it says of boards.
    """

    def __init__(self, situation: Situation) -> None:
        """Start an empty sheet for ``situation``."""
        super().__init__(situation)
        self.gpu: dict[str, object] = {}
        self.load: dict[str, object] = {}

    def configure(self, keys: str | Iterable[str], name: str, value: object) -> None:
        """The key ``name`` of the load configuration says ``keys``."""
        self.load[name] = value
        self.say(keys, name)


def say_room(sheet: LmStudioSheet) -> None:
    """Writes context and slots: one pool, whose size is the context."""
    config = sheet.config
    pool = config.pool_tok
    how = (
        f"--context-length is the pool that all conversations share, {pool:,} tokens for "
        f"{config.slots:,} of them; a single one may take more than "
        f"{config.slot_cap_tok:,}."
    )
    keys = ("ctx_per_slot_tok", "ctx_total_tok")
    sheet.bridging_flag(keys, how, "--context-length", pool)
    sheet.flag("slots", "--parallel", config.slots)
    sheet.load |= {
        "contextLength": pool,
        "maxParallelPredictions": config.slots,
    }
    sheet.configure("kv_unified", "useUnifiedKvCache", config.kv_unified)
    if not config.kv_unified and config.slots > 1:
        sheet.notes.append(
            "lms load has no word for a context of each slot's own: there all share one pool, "
            "which holds as much. The file says it."
        )


def say_load(sheet: LmStudioSheet) -> None:
    """Writes layers, cache formats, batches and how the file is read."""
    _layers(sheet)
    _boards(sheet)
    _cache_types(sheet)
    config = sheet.config
    sheet.configure("batch_tok", "evalBatchSize", config.batch_tok)
    sheet.configure("ubatch_tok", "physicalBatchSize", config.ubatch_tok)
    sheet.configure("ctx_checkpoints", "contextCheckpoints", config.ctx_checkpoints)
    sheet.configure("kv_offload", "offloadKVCacheToGpu", config.kv_offload)
    if config.load_mode == "auto":
        sheet.say("load_mode", "its own choice, unless told")
    else:
        modes = _LOAD_MODES[config.load_mode]
        sheet.load |= modes
        sheet.say("load_mode", " and ".join(modes))
    if config.cache_prompt:
        sheet.say("cache_prompt", "what it always does")
    if config.seed >= 0:
        sheet.load["seed"] = config.seed
        sheet.bridge("seed", "seed: random numbers from the loading on, not anew for each answer.")
    else:
        sheet.say("seed", "a new one each time, unless told")


def say_drafts(sheet: LmStudioSheet) -> None:
    """Writes the kind of draft that LM Studio has, where one of those is on."""
    config = sheet.config
    kind = next((one for one in config.spec_types if one in ("draft-simple", "draft-mtp")), "")
    leave_unused_drafts(sheet, ENGINE, kind)
    sheet.answers |= _NGRAMS
    if not config.spec_types:
        sheet.say("spec_types", "no drafts unless told")
        return
    if not kind:
        sheet.leave(
            "spec_types", f"{ENGINE} drafts by a plain model or by layers of the model's own."
        )
        return
    others = [one for one in config.spec_types if one != kind]
    is_mtp = kind == "draft-mtp"
    flag = "--speculative-draft-mtp" if is_mtp else "--speculative-draft-simple"
    sheet.load["speculativeDraftMtp" if is_mtp else "speculativeDraftSimple"] = True
    if others:
        left_out = f"{ENGINE} drafts in one way and leaves out {', '.join(others)}."
        sheet.bridging_flag("spec_types", f"{flag}: {left_out}", flag)
    else:
        sheet.flag("spec_types", flag)
    _draft_model(sheet, is_mtp=is_mtp)
    _draft_lengths(sheet)


def _draft_model(sheet: LmStudioSheet, *, is_mtp: bool) -> None:
    if is_mtp:
        sheet.leave("draft_model_path", f"{ENGINE} finds such layers in the model's own file.")
        return
    sheet.words += ["--speculative-draft-model", DRAFT_PLACE]
    sheet.load["speculativeDraftModel"] = DRAFT_PLACE
    sheet.leave(
        "draft_model_path",
        f"{ENGINE} calls a model by a key of its own; {DRAFT_PLACE} is its place.",
    )
    sheet.notes.append(f"{DRAFT_PLACE} is the place of the draft model's key.")


def _draft_lengths(sheet: LmStudioSheet) -> None:
    config = sheet.config
    # It refuses a least length above the most.
    least = min(config.draft_n_min, config.draft_n_max)
    sheet.flag("draft_n_max", "--speculative-draft-max-tokens", config.draft_n_max)
    sheet.flag("draft_n_min", "--speculative-draft-min-tokens", least)
    flag = "--speculative-draft-min-continue-probability"
    sheet.flag("draft_p_min", flag, config.draft_p_min)
    sheet.load |= {
        "speculativeDraftMaxTokens": config.draft_n_max,
        "speculativeDraftMinTokens": least,
        "speculativeDraftMinContinueProbability": config.draft_p_min,
    }


# --- Where it lies ---------------------------------------------------------------------------


def _layers(sheet: LmStudioSheet) -> None:
    layers, facts = gpu_layers(sheet.situation), sheet.situation.facts
    if layers is None:
        sheet.say("n_gpu_layers", "as many as fit, unless told")
    elif layers == 0:
        sheet.flag("n_gpu_layers", "--gpu", "off")
        sheet.gpu["ratio"] = "off"
    elif has_every_layer(sheet.situation):
        sheet.flag("n_gpu_layers", "--gpu", "max")
        sheet.gpu["ratio"] = "max"
    elif facts is None:
        sheet.leave("n_gpu_layers", f"--gpu is a share of the layers, and {_UNKNOWN_LAYERS}.")
    else:
        ratio = round(layers / facts.gpu_layers_max, _RATIO_DIGITS)
        how = f"--gpu is a share of the layers: {layers} of {facts.gpu_layers_max}."
        sheet.bridging_flag("n_gpu_layers", how, "--gpu", ratio)
        sheet.gpu["ratio"] = ratio
    _experts(sheet)
    sheet.load["gpu"] = sheet.gpu


def _experts(sheet: LmStudioSheet) -> None:
    config, facts = sheet.config, sheet.situation.facts
    word = "gpu.numCpuExpertLayersRatio"
    if config.cpu_moe:
        sheet.gpu["numCpuExpertLayersRatio"] = "max"
        sheet.say(("cpu_moe", "n_cpu_moe"), word)
        return
    sheet.say("cpu_moe", word)
    if config.n_cpu_moe == 0:
        sheet.gpu["numCpuExpertLayersRatio"] = "off"
        sheet.say("n_cpu_moe", word)
    elif facts is None or facts.layers < 1:
        sheet.leave("n_cpu_moe", f"{word} is a share of the layers, and {_UNKNOWN_LAYERS}.")
    else:
        share = min(1.0, round(config.n_cpu_moe / facts.layers, _RATIO_DIGITS))
        sheet.gpu["numCpuExpertLayersRatio"] = share
        how = f"{word}: {config.n_cpu_moe} of {facts.layers} layers as a share."
        sheet.bridge("n_cpu_moe", how)


def _boards(sheet: LmStudioSheet) -> None:
    config = sheet.config
    sheet.gpu["mainGpu"] = config.main_gpu
    sheet.say("main_gpu", "gpu.mainGpu")
    strategy = "favorMainGpu" if config.split_mode == "none" else "evenly"
    sheet.gpu["splitStrategy"] = strategy
    sheet.leave("mmproj_path", f"{ENGINE} takes the projector that lies beside the model's file.")
    if config.split_mode in ("none", "layer"):
        sheet.bridge("split_mode", f"gpu.splitStrategy {strategy}: layers, not cuts of weights.")
    else:
        sheet.leave("split_mode", f"{ENGINE} splits a model by layers.")
    sheet.leave(
        "devices",
        "gpu.disabledGpus names the boards that are not to be used, and which there are beside "
        "these is not known here.",
    )
    if not config.devices:
        sheet.say("devices", "all of them, unless told")


def _cache_types(sheet: LmStudioSheet) -> None:
    config = sheet.config
    for key, name in (
        ("cache_type_k", "llamaKCacheQuantizationType"),
        ("cache_type_v", "llamaVCacheQuantizationType"),
    ):
        wanted = getattr(config, key)
        if wanted in _CACHE_TYPES:
            sheet.configure(key, name, wanted)
        else:
            sheet.load[name] = "f16"
            bits = CACHE_TYPES[wanted].bits_per_value
            sheet.bridge(key, f"{name} f16: it has no {wanted}, which takes {bits:g} bits as well.")
    is_tiled = flash_attention(sheet.situation)
    if is_tiled is None:
        sheet.say("flash_attn", "its own choice, unless told")
    else:
        sheet.configure("flash_attn", "flashAttention", is_tiled)
