"""The rows of the settings table that say where things lie; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import ChoiceDomain, FlagDomain, IntDomain
from engine_bridge.settings.row import Applies, Group, Setting

PLACEMENT: tuple[Setting, ...] = (
    Setting(
        "n_gpu_layers",
        "Layers on GPU",
        IntDomain(0, 1024, tuple(range(0, 129)), ("auto", "all")),
        "auto",
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Layers in GPU memory, counted from the last. The output layer counts as one; auto is all "
        "of them. One layer left on the CPU costs more than a smaller context.",
    ),
    Setting(
        "kv_offload",
        "KV cache on GPU",
        FlagDomain(),
        True,
        Applies.CONTEXT,
        True,
        Group.PLACEMENT,
        "Off keeps the KV cache in host memory. That frees GPU memory and slows long contexts.",
    ),
    Setting(
        "op_offload",
        "Offload host operations",
        FlagDomain(),
        True,
        Applies.CONTEXT,
        True,
        Group.PLACEMENT,
        "The GPU computes large batches for layers on the CPU. Their weights stay in host memory "
        "and are copied for each batch.",
    ),
    Setting(
        "load_mode",
        "Load mode",
        ChoiceDomain(("auto", "none", "mmap", "mlock", "mmap+mlock", "dio")),
        "auto",
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "How the file is read. mmap maps it (the system may drop pages), mlock pins it in RAM, "
        "none copies it, dio reads past the page cache.",
    ),
)
