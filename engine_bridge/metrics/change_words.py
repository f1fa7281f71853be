"""What a change changed, in words: for the markers of charts and for the log. Pure."""

from __future__ import annotations

from engine_bridge.protocol import Applied, BandwidthMeasured
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY


def change_text(before: Applied | None, after: Applied) -> str:
    """What an ``Applied`` changed, a line each; empty where nothing did."""
    took = f"{after.cost}, {after.seconds:.2f} s"
    if before is None or after.config.model_path != before.config.model_path:
        name = after.model.name if after.model is not None else "the model"
        return f"Loaded {name} ({took})"
    lines = changed_lines(before.config, after.config)
    return "\n".join([*lines, took]) if lines else ""


def changed_lines(before: EngineConfig, after: EngineConfig) -> list[str]:
    """Every setting that differs, ``Parallel slots: 2 → 4``."""
    return [
        f"{BY_KEY[key].label}: {_worded(before, key)} → {_worded(after, key)}"
        for key in after.changed_from(before)
    ]


def peak_change_text(before: BandwidthMeasured | None, after: BandwidthMeasured) -> str:
    """What a measurement of the peak changed; empty for the first one and for other threads."""
    if before is None or before.threads != after.threads:
        return ""
    figures = [f"{event.peak_bytes_per_s / 1e9:.1f}" for event in (before, after)]
    if figures[0] == figures[1]:
        return ""
    return f"Peak measured again: {figures[0]} → {figures[1]} GB/s (best of {after.runs})"


def _worded(config: EngineConfig, key: str) -> str:
    value = getattr(config, key)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if key.endswith("_path"):
        # Charts are shown to others: of a file its name, not whose home it lies in.
        return str(value).replace("\\", "/").rpartition("/")[2] or "none"
    return str(value)
