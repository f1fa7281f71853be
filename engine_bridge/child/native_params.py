"""Every field of llama.cpp's parameter structs, as llama-server would set it.

Knows the fields and their source in common/common.h and common/arg.cpp; the structs themselves are
handed in, so that the library is not imported here.
"""

from __future__ import annotations

import re
from typing import Any

from engine_bridge.child.threads import threads_of
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

_FLASH_SAID = re.compile(r"Flash Attention (enabled|not supported)")
_LOAD_MODES = {"auto": -1, "none": 0, "mmap": 1, "mlock": 2, "mmap+mlock": 3, "dio": 4}
_FLASH = {"auto": -1, "off": 0, "on": 1}
_SPLIT_MODES = {"none": 0, "layer": 1, "row": 2, "tensor": 3}
_LAZY_MODES = {"off": 0, "auto": 1, "on": 2}


def fill_model_params(params: Any, config: EngineConfig, *, no_alloc: bool) -> None:  # noqa: ANN401
    """Fill a ``llama_model_params``, all but its callback and what ``placement`` points to."""
    params.devices = None  # all of them
    params.tensor_buft_overrides = None
    layers = config.n_gpu_layers
    params.n_gpu_layers = -1 if isinstance(layers, str) else layers
    params.split_mode = _SPLIT_MODES[config.split_mode]
    params.load_mode = _LOAD_MODES["none" if no_alloc else config.load_mode]
    params.lazy_mode = _LAZY_MODES[config.lazy_mode]
    params.main_gpu = config.main_gpu
    params.tensor_split = None
    params.kv_overrides = None
    params.vocab_only = False
    params.check_tensors = False
    params.use_extra_bufts = config.repack
    params.no_host = config.no_host
    params.no_alloc = no_alloc
    params.load_mtp = config.loads_mtp


def fill_context_params(params: Any, config: EngineConfig) -> None:  # noqa: ANN401
    """Fill a ``llama_context_params``."""
    params.n_ctx = config.pool_tok
    params.n_batch, params.n_ubatch = config.batch_tok, config.ubatch_tok
    params.n_seq_max = config.slots
    params.n_rs_seq = config.rollback_tok
    params.n_outputs_max = config.outputs_max
    params.n_outputs_max_per_seq = config.outputs_per_slot
    params.n_threads, params.n_threads_batch = threads_of(config)
    params.ctx_type = 0
    params.rope_scaling_type = -1  # from the model, as every value below until yarn_orig_ctx
    params.pooling_type = params.attention_type = -1
    params.flash_attn_type = _FLASH[config.flash_attn]
    params.rope_freq_base = params.rope_freq_scale = 0.0
    params.yarn_ext_factor = params.yarn_attn_factor = -1.0
    params.yarn_beta_fast = params.yarn_beta_slow = -1.0
    params.yarn_orig_ctx = 0
    params.defrag_thold = -1.0
    params.cb_eval_user_data = None
    params.type_k = CACHE_TYPES[config.cache_type_k].ggml_type
    params.type_v = CACHE_TYPES[config.cache_type_v].ggml_type
    params.embeddings = False
    params.offload_kqv = config.kv_offload
    params.no_perf = False
    params.op_offload = config.op_offload
    params.swa_full = config.swa_full
    params.kv_unified = config.kv_unified
    params.samplers, params.n_samplers = None, 0
    params.ctx_other = None


def flash_made(config: EngineConfig, lines: list[str]) -> str:
    """What became of flash attention, by the log of the context's creation; ``auto`` if unknown."""
    if config.flash_attn != "auto":
        return config.flash_attn
    if config.split_mode == "tensor" or CACHE_TYPES[config.cache_type_v].is_quantised:
        return "on"  # llama_init_from_model turns it on for either
    said = [match.group(1) for line in lines if (match := _FLASH_SAID.search(line))]
    return ("on" if said[-1] == "enabled" else "off") if said else "auto"
