"""Experiments as the history gets them, with figures that look like real ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from app.experiments.experiment import Cell, Experiment, Figures, Kind, State, Subject
from engine_bridge.settings.domain import Value

SUBJECT = Subject(
    machine="AMD Ryzen 7 7840U, 8 cores, 32 GiB, Linux 6.8",
    engine="llama.cpp b7540 (3fd62e8), CPU",
    model="Gemma 3 270M IT Q4_K_M",
    model_path="/models/gemma-3-270m-it-Q4_K_M.gguf",
    model_sha256="d2d6b3f0a8f5c0c86b1f4a8dd77c0a4b" * 2,
    model_bytes=253_110_784,
)
WORKLOAD = '{"name":"chat","material":"prose","requests":8,"users":1,"seed":1}'


def figures(speed: float = 1.0, seed: int = 0, **changes: Any) -> Figures:
    """One run; ``speed`` makes all of it faster, ``seed`` tells the runs apart."""
    noise = random.Random(seed).uniform(0.99, 1.01)
    factor = speed * noise
    values: dict[str, Any] = {
        "ttft_s": 0.21 / factor,
        "ttft_p95_s": 0.26 / factor,
        "tpot_s": 0.0181 / factor,
        "itl_p50_s": 0.0179 / factor,
        "itl_p99_s": 0.0224 / factor,
        "prefill_tok_s": 1204.0 * factor,
        "user_tok_s": 55.2 * factor,
        "total_tok_s": 52.8 * factor,
        "decode_tok_s": 56.0 * factor,
        "mbu": min(1.0, 0.61 * factor),
        "owned_bytes": 412_000_000,
        "requests": 8,
        "new_tok": 1024,
        "duration_s": 19.4 / factor,
    }
    return Figures(**values | changes)


def cell(
    name: str = "",
    config: dict[str, Value] | None = None,
    *,
    speed: float = 1.0,
    runs: int = 5,
    **changes: Any,
) -> Cell:
    """A configuration with ``runs`` runs."""
    measured = tuple(figures(speed, seed) for seed in range(runs))
    values: dict[str, Any] = {
        "name": name,
        "config": config or {},
        "runs": measured,
        "disturbed": ("",) * runs,
    }
    return Cell(**values | changes)


def experiment(
    key: str = "20261130-110036-3f9a2c", cells: Sequence[Cell] | None = None, **changes: Any
) -> Experiment:
    """A bench of one configuration, unless told otherwise."""
    values: dict[str, Any] = {
        "key": key,
        "kind": Kind.BENCH,
        "begun_at": "2026-11-30T11:00:36+00:00",
        "state": State.DONE,
        "title": "Bench with the chat workload",
        "subject": SUBJECT,
        "workload": WORKLOAD,
        "cells": (cell("", {"slots": 1}),) if cells is None else tuple(cells),
        "conclusion": ("52.8 tok/s.",),
    }
    return Experiment(**values | changes)


def sweep(key: str = "20261130-120000-aa00aa", cells: int = 6) -> Experiment:
    """A sweep over slots; more of them are faster in total."""
    return experiment(
        key,
        [cell(f"slots={2**n}", {"slots": 2**n}, speed=1 + 0.3 * n) for n in range(cells)],
        kind=Kind.SWEEP,
        title="Slots from 1 up",
    )
