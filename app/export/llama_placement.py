"""The flags of llama.cpp's server that say where things lie."""

from __future__ import annotations

from app.export.llama_flag import Flag, Situation, said_if_changed, switch


def asks_for_absent_gpu(s: Situation) -> bool:
    """Whether layers are wanted on a GPU, and there is none."""
    wanted = s.config.n_gpu_layers
    is_absent = s.effective is not None and s.effective.n_gpu_layers == 0
    return is_absent and isinstance(wanted, int) and wanted > 0


def _gpu_layers(s: Situation) -> tuple[str, ...]:
    wanted, made = s.config.n_gpu_layers, s.effective.n_gpu_layers if s.effective else None
    if made == 0:
        return ("-ngl", "0")
    if isinstance(wanted, int):
        return ("-ngl", str(wanted))
    # The output layer counts as one more.
    is_partly = made is not None and s.facts is not None and made < s.facts.layers + 1
    return ("-ngl", str(made) if is_partly else "all")


PLACEMENT: tuple[Flag, ...] = (
    Flag(("n_gpu_layers",), _gpu_layers),
    switch("-nkvo", "kv_offload", when=False),
    switch("--no-op-offload", "op_offload", when=False),
    said_if_changed("-lm", "load_mode"),
)
