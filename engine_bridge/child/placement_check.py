"""What of a placement this machine does not have: workers, devices, buffer types.

Asks workers and ggml before llama.cpp is asked, which answers some of it by aborting. Blocks for a
few seconds where a worker does not answer: never on the loop's thread.
"""

from __future__ import annotations

from engine_bridge.child.ggml import Ggml
from engine_bridge.child.placement import (
    PlacementError,
    buffers_of,
    devices_of,
    override_patterns,
)
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.placement_items import tensor_override
from engine_bridge.settings.problem import Problem, Severity
from engine_bridge.worker_probe import WorkerError

_NO_DEVICE = ("none",)


def placement_problem(config: EngineConfig, ggml: Ggml) -> Problem | None:
    """Make the workers of ``config`` devices, and say what else of its placement is not there.

    Args:
        config: What is to be planned or loaded, its rules checked.
        ggml: The devices of this process.
    """
    try:
        ggml.use_workers(config.rpc_servers)
        devices = devices_of(config, ggml)
        buffers_of(override_patterns(config), ggml)
    except WorkerError as error:
        others = tuple(one for one in config.rpc_servers if one != error.endpoint)
        return Problem(("rpc_servers",), str(error), {"rpc_servers": others})
    except PlacementError as error:
        return Problem(
            (error.key,), str(error), {error.key: _what_is_there(error.key, config, ggml)}
        )
    return _problem_of_split(config, devices, ggml)


def layers_left_out(config: EngineConfig, effective: EffectiveConfig) -> Problem | None:
    """That layers were asked onto a GPU and none is here; no error, for they run on the CPU.

    Args:
        config: What was asked for, with no word on which devices to leave alone.
        effective: What became of it.
    """
    asked = config.n_gpu_layers
    if asked in ("auto", 0) or effective.n_gpu_layers or config.devices == _NO_DEVICE:
        return None
    which = "all layers" if asked == "all" else f"the {asked} layers asked for"
    return Problem(
        ("n_gpu_layers",),
        f"There is no GPU here that this build of llama.cpp can use, so {which} stay on the CPU.",
        {"n_gpu_layers": "auto"},
        Severity.WARNING,
    )


def _what_is_there(key: str, config: EngineConfig, ggml: Ggml) -> Value:
    """The value of ``key`` without what is not there."""
    if key == "devices":
        names = {ggml.name_of(handle) for handle in ggml.handles()}
        return tuple(name for name in config.devices if name in names)
    buffers = ggml.buffer_types()
    overrides = config.override_tensor
    return tuple(text for text in overrides if tensor_override(text).buffer in buffers)


def _problem_of_split(config: EngineConfig, devices: tuple[int, ...], ggml: Ggml) -> Problem | None:
    if config.split_mode == "tensor" and not devices:
        return Problem(
            ("split_mode", "devices"),
            "Split mode tensor needs a GPU or a remote worker, and none is chosen or there. Split "
            "by layer.",
            {"split_mode": "layer"},
        )
    if config.split_mode == "none" and config.main_gpu >= len(devices) > 0:
        return Problem(
            ("main_gpu", "split_mode"),
            f"There is no GPU {config.main_gpu}: the {len(devices)} devices chosen count from 0.",
            {"main_gpu": 0},
        )
    whole = [ggml.name_of(device) for device in devices if not ggml.can_split_rows(device)]
    if config.split_mode == "row" and whole:
        return Problem(
            ("split_mode",),
            f"{', '.join(whole)} cannot hold tensors that are split by rows; llama.cpp refuses to "
            "load. Split by layer.",
            {"split_mode": "layer"},
        )
    return None
