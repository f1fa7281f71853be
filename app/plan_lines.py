"""A plan as lines for a terminal."""

from __future__ import annotations

from app.export import llama_flag, llama_more_sampling, llama_speculation
from app.export.llama_server import TARGET
from app.figures import bytes_text
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

_MIB = 1 << 20
_USES = ("weights", "weights_mapped", "kv", "recurrent", "compute", "output", "draft")


def plan_lines(
    config: EngineConfig, plan: MemoryPlan, model: ModelFacts | None = None
) -> list[str]:
    """All that is to be said of ``plan``, which is for ``config``; its ways out are tried ones."""
    said = [f"{problem.severity}: {problem.message}" for problem in plan.problems]
    said += [f"note: {key}: {why}" for key, why in without_effect(config, model).items()]
    said += [f"would do: {_assignments(way)}" for way in _offers(plan)]
    if plan.effective is None:
        return [*said, "cannot run"]
    return [*_size_lines(config, plan), *said, "fits" if plan.fits else "does not fit"]


def without_effect(config: EngineConfig, model: ModelFacts | None = None) -> dict[str, str]:
    """Settings that were changed and do nothing beside the others, each with the reason."""
    situation = llama_flag.situation_of(config, None, model, TARGET)
    return llama_speculation.without_effect(situation) | llama_more_sampling.without_effect(
        situation
    )


def caches_bytes(plan: MemoryPlan) -> int:
    """What prompt caches may take at most: not more than stays free beside all else."""
    room = [d.free - d.needed for d in plan.devices[-1:] if d.free >= 0]
    return max(0, min([plan.host_caches, *room]))


def _offers(plan: MemoryPlan) -> tuple[dict[str, Value], ...]:
    """What was tried; beside it the repairs of warnings, as far as they agree with each other."""
    if plan.ways or not plan.fits:
        return plan.ways
    offered: dict[str, Value] = {}
    offers = []
    for fix in (problem.fix for problem in plan.problems if problem.fix):
        if all(offered.get(key, value) == value for key, value in fix.items()):
            offered |= fix
            offers.append(fix)
    return tuple(offers)


def _size_lines(config: EngineConfig, plan: MemoryPlan) -> list[str]:
    rows = [(name, getattr(plan.bytes, name)) for name in _USES]
    lines = [f"{name.replace('_', ' '):<16}{bytes_text(size):>12}" for name, size in rows if size]
    lines.append(f"{'total':<16}{bytes_text(plan.bytes.total):>12}")
    lines += [_caches_line(config, plan)] if plan.host_caches else []
    for device in plan.devices:
        free = f", {bytes_text(device.free)} free" if device.free >= 0 else ""
        lines.append(f"{device.name}: {bytes_text(device.needed)} needed{free}")
    if plan.effective is not None:
        e = plan.effective
        lines.append(
            f"{e.slots} slots, {e.ctx_per_slot_tok:,} tokens each, pool {e.ctx_total_tok:,}, "
            f"flash attention {e.flash_attn}"
        )
        lines += [e.placement] if e.placement else []
    return lines


def _caches_line(config: EngineConfig, plan: MemoryPlan) -> str:
    most = caches_bytes(plan)
    if not most:
        return "prompt caches get nothing: no RAM stays free beside this"
    line = f"prompt caches may take up to {bytes_text(most)} of the RAM that stays free"
    prompts = config.cache_ram_mib * _MIB
    if config.cache_ram_mib < 0:
        return f"{line} (kept prompts have no limit of their own)"
    wanted = _parts(prompts, plan.host_caches - prompts)
    if most < plan.host_caches:
        return f"{line}; the settings allow {wanted or 'more'}"
    return f"{line} ({wanted})" if wanted else line


def _parts(prompts: int, checkpoints: int) -> str:
    """Both parts, where there are two."""
    if prompts <= 0 or checkpoints <= 0:
        return ""
    return f"kept prompts {bytes_text(prompts)} + checkpoints {bytes_text(checkpoints)}"


def _assignments(values: dict[str, Value]) -> str:
    """Values as ``--set`` takes them."""
    words = [f"{key}={BY_KEY[key].domain.format(value)}" for key, value in values.items()]
    return " ".join(f"--set {word}" for word in words)
