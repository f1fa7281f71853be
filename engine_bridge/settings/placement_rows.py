"""The rows of the settings table that say where things lie; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import ChoiceDomain, FlagDomain, IntDomain
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.placement_items import (
    checked_device,
    checked_endpoint,
    checked_override,
    checked_proportion,
)
from engine_bridge.settings.row import Applies, Group, Setting

MOST_LAYERS = 1024
# llama.cpp has room for this many devices (GGML_CUDA_MAX_DEVICES, llama_max_devices).
MOST_DEVICES = 16
_LAYER_STOPS = tuple(range(0, 129))

PLACEMENT: tuple[Setting, ...] = (
    Setting(
        "n_gpu_layers",
        "Layers on GPU",
        IntDomain(0, MOST_LAYERS, _LAYER_STOPS, ("auto", "all")),
        "auto",
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Layers in GPU memory, counted from the last. The output layer counts as one; auto takes "
        "as many as fit. One layer left on the CPU costs more than a smaller context.",
    ),
    Setting(
        "fit_margin_mib",
        "Margin of auto",
        IntDomain(0, 65_536, (0, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 8192)),
        1024,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Memory that auto leaves free on every GPU. Drivers, the screen and other programs take "
        "some of it; where nothing is left to auto it has no effect.",
        "MiB",
    ),
    Setting(
        "n_cpu_moe",
        "Expert layers on CPU",
        IntDomain(0, MOST_LAYERS, _LAYER_STOPS),
        0,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Expert weights of the first layers stay in RAM. A mixture of "
        "experts needs few of them for a token, so this frees much GPU memory at little cost.",
    ),
    Setting(
        "cpu_moe",
        "All experts on CPU",
        FlagDomain(),
        False,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "All expert weights stay in RAM. Attention and shared experts go to the GPU.",
    ),
    Setting(
        "n_cpu_ffn",
        "FFN layers on CPU",
        IntDomain(0, MOST_LAYERS, _LAYER_STOPS),
        0,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "FFN weights of the first layers stay in RAM. Their attention and "
        "KV cache go to the GPU. For experts there is a setting of its own.",
    ),
    Setting(
        "override_tensor",
        "Tensor overrides",
        ItemsDomain(
            "PATTERN=BUFFER, a regular expression for tensor names and a buffer such as CPU",
            checked_override,
            (r"\.ffn_(up|down)\.=CPU", r"blk\.[0-3]\.=CUDA0"),
        ),
        (),
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Tensors whose name a pattern finds go elsewhere. Written as in blk\\.1\\.ffn_=CPU; the "
        "first pattern that finds a name decides.",
    ),
    Setting(
        "split_mode",
        "Split mode",
        ChoiceDomain(("none", "layer", "row", "tensor")),
        "layer",
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "How several GPUs share a model. Layer gives each some layers, row "
        "cuts weights, none takes the main GPU alone; tensor computes on all at once and is "
        "experimental.",
    ),
    Setting(
        "tensor_split",
        "Tensor split",
        ItemsDomain(
            "a device's share, a number",
            checked_proportion,
            ("3", "1", "0.5", "0"),
            empty="auto",
            repeats=True,
        ),
        (),
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Shares of the devices, in their order. 3,1 puts three quarters on "
        "the first; auto goes by free memory.",
    ),
    Setting(
        "main_gpu",
        "Main GPU",
        IntDomain(0, MOST_DEVICES - 1, tuple(range(8))),
        0,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Which GPU counts where one is to be chosen. With split mode none it "
        "takes the whole model, with row the intermediate results. The first one is 0.",
    ),
    Setting(
        "devices",
        "Devices",
        ItemsDomain(
            "a device such as CUDA0; none alone is no device",
            checked_device,
            ("CUDA0", "RPC0"),
            empty="all",
        ),
        (),
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "The devices that take layers, in this order. All takes every GPU and "
        "worker there is; none keeps everything on the CPU.",
    ),
    Setting(
        "rpc_servers",
        "Remote workers",
        ItemsDomain(
            "the HOST:PORT of a llama.cpp RPC server",
            checked_endpoint,
            ("127.0.0.1:50052", "worker.local:50052"),
        ),
        (),
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Memory lent by llama.cpp's rpc-server elsewhere. Named as in "
        "192.168.0.7:50052. The protocol has no password: only in a network you trust.",
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
    Setting(
        "lazy_mode",
        "Lazy reading",
        ChoiceDomain(("auto", "on", "off")),
        "auto",
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Reads rows of huge lookup tables when they are needed. Auto does so "
        "for tables above 4 GiB, such as per-layer embeddings; it needs mmap.",
    ),
    Setting(
        "no_host",
        "Bypass host buffers",
        FlagDomain(),
        False,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Weights in RAM use no memory pinned for the GPU. They lie in the "
        "CPU's own buffers then, which lets them be repacked.",
    ),
    Setting(
        "repack",
        "Repack weights",
        FlagDomain(),
        True,
        Applies.RELOAD,
        True,
        Group.PLACEMENT,
        "Weights on the CPU are copied into a faster order. Off saves that "
        "copy's memory and computes slower.",
    ),
)
