"""Writes what was measured: a JSON file for programs and a table for people."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench import stats
from tests.bench.cells import METRICS, CellFigures, CellResult
from tests.bench.machine import QUIET_SHARE

# What the engine is held to, in tokens per second in total against the peer's: the mean over all
# cells, the lower end of its interval, and the upper end in any cell.
TARGET_AGGREGATE, TARGET_LOW, TARGET_CELL_HIGH = 1.0, 0.98, 0.97


def geomeans(results: Sequence[CellResult]) -> dict[str, stats.Ratio]:
    """Geometric mean of the ratio over all cells, by metric."""
    return {
        metric.name: stats.geometric_mean(
            [f.gains for result in results for f in result.figures if f.metric is metric]
        )
        for metric in METRICS
    }


def as_json(results: Sequence[CellResult], machine: str, engine: str, peer: str) -> dict[str, Any]:
    """The content of ``engine.json``: DESIGN's fields, with intervals and circumstances added."""
    means = geomeans(results)
    return {
        "machine": machine,
        "engine": engine,
        "peer": peer,
        "cells": [_cell(figures) for result in results for figures in result.figures],
        "geomean": {name: ratio.value for name, ratio in means.items()},
        "geomean_interval": {name: [ratio.low, ratio.high] for name, ratio in means.items()},
        "circumstances": [
            {
                "model": result.plan.model,
                "streams": result.plan.streams,
                "prompt_tok": result.plan.prompt_tok,
                "new_tok": result.plan.new_tok,
                "temperature": result.plan.temperature,
                "threads": result.plan.layout.threads,
                "ctx_per_slot_tok": result.plan.layout.ctx_per_slot_tok,
                "used_by_others": result.bystanders,
                "idle_cores": result.idle_cores,
                "same_texts": result.same_texts,
            }
            for result in results
        ],
    }


def _cell(figures: CellFigures) -> dict[str, Any]:
    ratio = figures.ratio
    return {
        "model": figures.model,
        "streams": figures.streams,
        "metric": figures.metric.name,
        "unit": figures.metric.unit,
        "engine": figures.engine,
        "peer": figures.peer,
        "ratio": ratio.value,
        "interval": [ratio.low, ratio.high],
        "pairs": ratio.pairs,
        "engine_own_clock": _or_none(figures.engine_own),
        "peer_own_clock": _or_none(figures.peer_own),
    }


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def write(path: Path, content: dict[str, Any]) -> None:
    """Write JSON whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def table(results: Sequence[CellResult]) -> str:
    """The figures as text; a ratio above 1 is better for the engine."""
    head = f"{'model':<20} {'streams':>7}  {'metric':<16} {'engine':>10} {'peer':>10}  "
    lines = [head + "ratio  95 % interval"]
    for result in results:
        lines += [_line(figures) for figures in result.figures]
    lines.append("")
    for name, ratio in geomeans(results).items():
        lines.append(
            f"geometric mean of {name:<16} {ratio.value:5.3f}  [{ratio.low:.3f}, {ratio.high:.3f}]"
        )
    lines += _verdicts(results)
    lines += _remarks(results)
    return "\n".join(lines)


def _verdicts(results: Sequence[CellResult]) -> list[str]:
    aggregate = geomeans(results)["aggregate_tok_s"]
    is_met = aggregate.value >= TARGET_AGGREGATE and aggregate.low >= TARGET_LOW
    slow = [
        f"{figures.model} at {figures.streams}"
        for result in results
        for figures in result.figures
        if figures.metric.name == "aggregate_tok_s" and figures.ratio.high < TARGET_CELL_HIGH
    ]
    return [
        f"target: aggregate_tok_s at least {TARGET_AGGREGATE:.2f}, its lower limit at least "
        f"{TARGET_LOW}: {'met' if is_met else 'MISSED'}",
        f"target: no cell's upper limit below {TARGET_CELL_HIGH}: "
        + ("met" if not slow else f"MISSED by {', '.join(slow)}"),
    ]


def _line(figures: CellFigures) -> str:
    ratio, metric = figures.ratio, figures.metric
    scale, unit = (1.0, metric.unit) if metric.is_more_better else (1e3, "ms")
    return (
        f"{figures.model:<20} {figures.streams:>7}  {metric.name + ' ' + '':<1}".ljust(47)
        + f"{figures.engine * scale:>8.2f} {figures.peer * scale:>10.2f} {unit:<5} "
        + f"{ratio.value:5.3f}  [{ratio.low:.3f}, {ratio.high:.3f}]"
    )


def _remarks(results: Sequence[CellResult]) -> list[str]:
    remarks = []
    worst = max(result.bystanders for result in results)
    if worst > QUIET_SHARE:
        remarks.append(
            f"Other programs used up to {worst:.0%} of this machine meanwhile: "
            "take these figures as an indication only."
        )
    spinning = max(result.idle_cores for result in results)
    if spinning > QUIET_SHARE:
        remarks.append(f"An idle program burned {spinning:.2f} cores beside the working one.")
    return remarks
