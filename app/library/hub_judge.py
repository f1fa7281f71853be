"""What a model on a hub would take on this machine: a dry run of its header. Blocks."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from app.library.hub import Hub
from app.library.hub_shapes import HubRepository, Judged, Quantisation
from app.library.remote_model import fetch_headers
from app.planning import PlanningError, plan_in_throwaway_process
from app.ways_out import ways_out
from engine_bridge.gguf_window import GgufError
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.settings.config import EngineConfig

_MOST_WAYS = 4


def judge(
    hub: Hub,
    repository: HubRepository,
    model: Quantisation,
    config: EngineConfig,
    running: MemoryPlan | None = None,
) -> Judged:
    """What a model would take with the settings of ``config``, by its header alone.

    Args:
        hub: Where it is.
        repository: What it is in.
        model: Which one.
        config: The settings; its model counts for nothing.
        running: What an engine occupies now and would give back; None if none does.

    Raises:
        HubError: If the hub does not give it.
    """
    # The file there is as long as the model and holds next to nothing.
    with tempfile.TemporaryDirectory(prefix="tunedeck-hub-") as folder:
        try:
            path, loaded = fetch_headers(hub, repository, model, Path(folder))
            asked = config.with_values({"model_path": str(path)})
            answer = plan_in_throwaway_process(asked, running)
            ways = ways_out(asked, answer, partial(plan_in_throwaway_process, running=running))
        except (GgufError, PlanningError) as error:
            return Judged(model.name, model.size_bytes, problem=str(error))
    plan = answer.plan
    return Judged(
        model.name,
        model.size_bytes,
        loaded,
        plan.bytes.total,
        plan.fits,
        () if plan.fits else ways[:_MOST_WAYS],
        plan.problems[0].message if plan.effective is None and plan.problems else "",
    )
