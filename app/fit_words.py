"""Whether a model fits, in the picker's words. Pure text."""

from __future__ import annotations

from app.figures import bytes_text
from app.fit_check import Fit
from app.hints import slot_arithmetic
from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY
from widgets.model_rows import FitView

_HOST = "CPU"


def fit_view(fit: Fit, waiting: EngineConfig | None = None) -> FitView:
    """What the picker shows of an answer.

    Args:
        fit: The answer.
        waiting: What is wanted and not applied, which a load leaves waiting; None for nothing.
    """
    plan = fit.plan
    if plan is None:
        return FitView(fit.problem, is_short=True)
    if plan.effective is None:
        broken = plan.problems[0].message if plan.problems else "The settings break a rule."
        return FitView(f"Not asked, because the present settings break a rule: {broken}", True)
    ways = tuple((str(number), way_words(way)) for number, way in enumerate(fit.ways))
    device = shortest_device(plan)
    is_known = device is not None and device.total > 0
    is_host_alone = device is None or (device.name == _HOST and len(plan.devices) == 1)
    return FitView(
        sentence=_sentence(fit.config, plan, device) + _waiting_words(fit, waiting),
        is_short=not plan.fits,
        plan=plan,
        others_bytes=max(0, device.total - device.free) if device and is_known else 0,
        capacity_bytes=device.total if device and is_known else 0,
        memory=_memory_name(device),
        device=None if is_host_alone or device is None else device.name,
        ways=ways,
    )


def shortest_device(plan: MemoryPlan) -> DeviceBytes | None:
    """The device that is left with the least room; None where none says what it has."""
    known = [device for device in plan.devices if device.total > 0 and device.free >= 0]
    used = [device for device in known if _taken(device)] or known
    return min(used, key=_left, default=None)


def way_words(way: dict[str, Value]) -> str:
    """A change as a button says it: ``Load with context 8,192``."""
    rest = dict(way)
    parts = []
    if rest.get("cache_type_k") == rest.get("cache_type_v") is not None:
        parts.append(f"a {rest.pop('cache_type_k')} cache")
        del rest["cache_type_v"]
        rest.pop("flash_attn", None)  # a quantised cache needs it
    parts += [_part_words(key, value) for key, value in rest.items()]
    *others, last = parts
    return f"Load with {' and '.join(filter(None, (', '.join(others), last)))}"


def _part_words(key: str, value: Value) -> str:
    if key == "spec_types":
        return "no draft model"
    words = f"{value:,}" if type(value) is int else BY_KEY[key].domain.format(value)
    return f"{BY_KEY[key].label.lower()} {words}"


def _sentence(config: EngineConfig, plan: MemoryPlan, device: DeviceBytes | None) -> str:
    if not plan.fits:
        found = [problem.message for problem in plan.problems]
        return found[0] if found else "It does not fit."
    settings = _settings_words(config)
    if device is None:
        return f"It takes {bytes_text(plan.bytes.total)} with {settings}."
    fits = f"Fits with {settings}: {bytes_text(_left(device))} left."
    placement = plan.effective.placement if plan.effective else ""
    return f"{fits} {placement}".rstrip()


def _waiting_words(fit: Fit, waiting: EngineConfig | None) -> str:
    """That this is not of the settings that the faders show, where the two differ."""
    if waiting is None:
        return ""
    own, other = _settings_words(fit.config), _settings_words(waiting)
    if own == other:
        return ""
    is_named = fit.plan is not None and fit.plan.fits  # by the sentence before
    which = "These settings run" if is_named else f"This is for {own}: the settings that run"
    return f" {which}, and a load keeps them; {other}, set since, wait for Apply."


def _settings_words(config: EngineConfig) -> str:
    return f"{slot_arithmetic(config)} tokens, {_cache_words(config)}"


def _cache_words(config: EngineConfig) -> str:
    if config.cache_type_k == config.cache_type_v:
        return f"{config.cache_type_k} cache"
    return f"{config.cache_type_k} keys and {config.cache_type_v} values"


def _memory_name(device: DeviceBytes | None) -> str:
    if device is None or device.name == _HOST:
        return "System memory"
    return f"{device.name} memory"


def _taken(device: DeviceBytes) -> int:
    return device.needed


def _left(device: DeviceBytes) -> int:
    return device.free - _taken(device)
