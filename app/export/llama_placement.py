"""The flags of llama.cpp's server that say where things lie."""

from __future__ import annotations

from app.export.carried import Carried, not_carried
from app.export.llama_flag import Flag, Situation, said_if_changed, switch


def asks_for_absent_gpu(s: Situation) -> bool:
    """Whether layers are wanted on a GPU, and there is none."""
    wanted = s.config.n_gpu_layers
    is_absent = s.effective is not None and s.effective.n_gpu_layers == 0
    return is_absent and isinstance(wanted, int) and wanted > 0


def layers_lost(s: Situation) -> dict[str, Carried]:
    """The answer for layers that were asked onto a GPU where 0 is written; else empty.

    For every engine that is told how many there are: its own word carries another number.
    """
    if not asks_for_absent_gpu(s):
        return {}
    asked = s.config.n_gpu_layers
    return {
        "n_gpu_layers": not_carried(
            f"No layer is on a GPU here, so 0 is written in place of the {asked} asked for."
        )
    }


def _gpu_layers(s: Situation) -> tuple[str, ...]:
    wanted, made = s.config.n_gpu_layers, s.effective.n_gpu_layers if s.effective else None
    if made == 0:
        return ("-ngl", "0")
    if isinstance(wanted, int):
        return ("-ngl", str(wanted))
    # The output layer counts as one more.
    is_partly = made is not None and s.facts is not None and made < s.facts.gpu_layers_max
    return ("-ngl", str(made) if is_partly else "all")


def _listed(flag: str, key: str) -> Flag:
    """``flag A,B`` where the list holds something; its items hold no comma."""

    def write(s: Situation) -> tuple[str, ...]:
        items: tuple[str, ...] = getattr(s.config, key)
        return (flag, ",".join(items)) if items else ()

    return Flag((key,), write)


PLACEMENT: tuple[Flag, ...] = (
    # Before the devices: a worker's device exists only once the worker is named.
    _listed("--rpc", "rpc_servers"),
    _listed("-dev", "devices"),
    Flag(("n_gpu_layers",), _gpu_layers),
    # Without effect beside -fit off, and said so that whoever takes the line back has it.
    said_if_changed("-fitt", "fit_margin_mib"),
    switch("-cmoe", "cpu_moe", when=True),
    said_if_changed("-ncmoe", "n_cpu_moe"),
    said_if_changed("-ncffn", "n_cpu_ffn"),
    _listed("-ot", "override_tensor"),
    said_if_changed("-sm", "split_mode"),
    _listed("-ts", "tensor_split"),
    said_if_changed("-mg", "main_gpu"),
    switch("-nkvo", "kv_offload", when=False),
    switch("--no-op-offload", "op_offload", when=False),
    said_if_changed("-lm", "load_mode"),
    said_if_changed("-lzm", "lazy_mode"),
    switch("--no-host", "no_host", when=True),
    switch("-nr", "repack", when=False),
)


def notes(s: Situation) -> tuple[str, ...]:
    """What the user should know of these flags before running the line."""
    if not s.config.rpc_servers:
        return ()
    workers = ", ".join(s.config.rpc_servers)
    return (
        f"{s.program} ends at once unless a llama.cpp RPC server listens at {workers}; start it "
        "there first. The protocol is open: trusted networks only.",
    )
