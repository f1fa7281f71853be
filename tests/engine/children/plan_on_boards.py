"""Plans and really loads a model on two remote devices; a process of its own, since devices stay.

``python -m tests.engine.children.plan_on_boards MODEL ENDPOINT…`` prints one JSON list: for each of
some placements the planned and the real ``MemoryPlan``.
"""

from __future__ import annotations

import sys

import msgspec

from engine_bridge.child.allocated import allocated
from engine_bridge.child.auto_placement import placed_in, told_of
from engine_bridge.child.llama import GGML, Context, Model
from engine_bridge.child.nextn import attach_mtp
from engine_bridge.child.planner import Planner
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.config import EngineConfig

PLACEMENTS: tuple[dict[str, object], ...] = (
    {},
    {"n_gpu_layers": 5},
    {"n_gpu_layers": 0},
    {"kv_offload": False},
    {"load_mode": "none"},
    # All of the draft lies on the boards: the model drafts for itself.
    {"spec_types": ("draft-simple",)},
    # Most of the draft lies on the boards.
    {"spec_types": ("draft-simple",), "draft_n_gpu_layers": 6},
)
# Of a model with a layer that guesses ahead, which counts whether it is loaded or not.
MTP_PLACEMENTS: tuple[dict[str, object], ...] = tuple(
    {"spec_types": kinds, "n_gpu_layers": layers, "ctx_per_slot_tok": 512}
    for kinds in ((), ("draft-mtp",))
    for layers in ("all", 3, 2, 0)
)


def really(config: EngineConfig) -> MemoryPlan:
    model = Model.load(config.model_path, config)
    context = Context.create(model, config)
    attach_mtp(context, config)
    draft = None
    if config.draft is not None:
        draft = Context.create(Model.load(config.draft.model_path, config.draft), config.draft)
    try:
        return allocated(context, config, 0.0, draft=draft)
    finally:
        if draft is not None:
            draft.close()
            draft.model.close()
        context.close()
        model.close()


def main(path: str, *endpoints: str) -> None:
    for endpoint in endpoints:
        GGML.add_rpc_server(endpoint)
    planner = Planner()
    pairs = []
    has_mtp = read_model_facts(path).nextn_layers > 0
    for placement in MTP_PLACEMENTS if has_mtp else PLACEMENTS:
        # A model with guessing layers of its own drafts by them, without a file beside it.
        draft = {} if has_mtp else {"draft_model_path": path}
        config = EngineConfig.from_values({"model_path": path} | draft | placement)
        planned = planner.plan(config)
        assert planned.effective is not None
        placed = placed_in(planned.effective)
        real = really(placed.applied_to(config))
        assert real.effective is not None
        effective = told_of(real.effective, placed)
        pairs.append((planned, msgspec.structs.replace(real, effective=effective)))
    planner.close()
    sys.stdout.buffer.write(msgspec.json.encode(pairs))


if __name__ == "__main__":
    main(*sys.argv[1:])
