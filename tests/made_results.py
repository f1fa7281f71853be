"""Experiments of every kind with figures that look like real ones, for what shows results.

The speeds are those of a small model on two cores: more slots give more in total, up to a knee.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import msgspec

from app.experiments.experiment import Cell, Experiment, Figures, Kind, RunDetail, State, Subject
from app.experiments.measures import BY_FIGURE
from app.experiments.sweep_conclusion import concluded
from app.experiments.tune_result import KEPT
from app.experiments.users_cell import JUDGED, QUEUE, QUEUE_SHARE, USERS
from app.experiments.users_cell import KEPT as KEPT_REQUESTS
from engine_bridge.settings.domain import Value

SUBJECT = Subject(
    machine="Intel Xeon, 2 cores, 24 GiB, Linux 6.8",
    engine="llama.cpp b7540 (3fd62e8), CPU",
    model="Gemma 3 270M IT Q4_K_M",
    model_path="/models/gemma-3-270m-it-Q4_K_M.gguf",
    model_sha256="d2d6b3f0a8f5c0c86b1f4a8dd77c0a4b" * 2,
    model_bytes=253_110_784,
)
WORKLOAD = (
    '{"name":"chat","material":"prose","requests":8,"users":8,"seed":1,'
    '"ttft_slo_s":1.0,"tpot_slo_s":0.1}'
)
PEAK = "MBU is the share of a peak of 29.1 GB/s: main memory, read by 2 threads."
DISTURBED = "Other programs used 41 % of the processor."
# Aggregate tok/s by slots on that machine: beyond four hardly more.
TOTALS = {1: 52.0, 2: 88.0, 4: 131.0, 8: 139.0, 16: 141.0}
_MIB = 2**20


def run(
    total_tok_s: float,
    slots: int,
    seed: int,
    *,
    ttft_s: float = 0.2,
    memory_bytes: int = 400 * _MIB,
    detail: RunDetail | None = None,
    noise: float = 0.01,
) -> Figures:
    """One run with noise of its own."""
    factor = random.Random(seed).gauss(1.0, noise)
    total = total_tok_s * factor
    return Figures(
        ttft_s=ttft_s / factor,
        ttft_p95_s=1.3 * ttft_s / factor,
        tpot_s=slots / total,
        itl_p50_s=slots / total,
        itl_p99_s=1.4 * slots / total,
        prefill_tok_s=1204.0 * factor,
        user_tok_s=total / slots,
        total_tok_s=total,
        decode_tok_s=1.1 * total,
        mbu=min(0.9, 0.55 * factor),
        owned_bytes=round(memory_bytes * (1 + 0.001 * (factor - 1))),
        requests=8,
        new_tok=1024,
        duration_s=1024 / total,
        detail=detail,
    )


def cell(
    name: str,
    config: dict[str, Value],
    runs: Sequence[Figures],
    *,
    disturbed: dict[int, str] | None = None,
    **changes: object,
) -> Cell:
    """A configuration; ``disturbed`` by the number of the run, from 0."""
    told = disturbed or {}
    values: dict[str, object] = {
        "name": name,
        "config": config,
        "runs": tuple(runs),
        "disturbed": tuple(told.get(number, "") for number in range(len(runs))),
        "notes": (PEAK,),
    }
    return Cell(**values | changes)  # type: ignore[arg-type]


def experiment(kind: Kind, cells: Sequence[Cell], **changes: object) -> Experiment:
    """An experiment of that kind."""
    values: dict[str, object] = {
        "key": f"20261130-110036-{kind}",
        "kind": kind,
        "begun_at": "2026-11-30T11:00:36+00:00",
        "state": State.DONE,
        "title": f"Gemma 3 270M IT Q4_K_M, chat: {kind}",
        "subject": SUBJECT,
        "workload": WORKLOAD,
        "cells": tuple(cells),
    }
    return Experiment(**values | changes)  # type: ignore[arg-type]


def bench(runs: int = 5) -> Experiment:
    """One configuration with drafts, one of whose runs was disturbed."""
    measured = [run(52.0, 1, seed, detail=detail(seed)) for seed in range(runs)]
    one = cell(
        "draft_n_max=4, slots=1",
        {"slots": 1, "draft_n_max": 4, "spec_types": ("ngram-simple",)},
        [msgspec.structs.replace(each, acceptance=0.61) for each in measured],
        disturbed={2: DISTURBED} if runs > 2 else {},
        effective={"threads": 2, "flash_attn": "on"},
        extra={"allocated_memory_bytes": 391.0 * _MIB, "mapped_weights_bytes": 241.0 * _MIB},
    )
    return experiment(Kind.BENCH, [one], workload=WORKLOAD)


def detail(seed: int) -> RunDetail:
    """TTFT that grows with the prompt, acceptance that falls with the position."""
    factor = random.Random(seed).gauss(1.0, 0.02)
    return RunDetail(
        ttft_by_prompt=tuple(
            (float(tok), factor * (0.02 + tok / 1300), 4) for tok in (64, 128, 256, 512, 1024)
        ),
        drafted_at=(200, 180, 150, 120),
        accepted_at=(164, 121, 80, 48),
    )


def sweep(
    *,
    contexts: Sequence[int] = (2048, 8192),
    caches: Sequence[str] = ("f16", "q8_0"),
    slots: Sequence[int] = (1, 2, 4, 8, 16),
    runs: int = 5,
    state: State = State.DONE,
) -> Experiment:
    """Slots × context × KV caches; the largest does not fit."""
    cells = []
    for number, (count, ctx, cache) in enumerate(product(slots, contexts, caches)):
        config: dict[str, Value] = {
            "slots": count, "ctx_per_slot_tok": ctx, "cache_type_k": cache, "cache_type_v": cache,
        }  # fmt: skip
        name = f"slots={count}, ctx_per_slot_tok={ctx}, cache_type_k+cache_type_v={cache}"
        if count == slots[-1] and ctx == contexts[-1] and cache == "f16":
            reason = "CPU does not suffice: 25.1 GiB are needed, so 1.4 GiB are missing."
            cells.append(Cell(name, config, skipped=reason))
            continue
        kv_bytes = count * ctx * (9 if cache == "f16" else 5) * 1024
        speed = TOTALS.get(count, 141.0) * (0.93 if cache == "q8_0" else 1.0)
        measured = [
            run(speed, count, 100 * number + seed, memory_bytes=300 * _MIB + kv_bytes,
                detail=detail(100 * number + seed))
            for seed in range(runs)
        ]  # fmt: skip
        extra = {"allocated_memory_bytes": float(280 * _MIB + kv_bytes)}
        told = {1: DISTURBED} if number == 3 else {}
        cells.append(cell(name, config, measured, extra=extra, disturbed=told))
    made = experiment(Kind.SWEEP, cells, state=state)
    return made if state is State.RUNNING else concluded(made, BY_FIGURE["total_tok_s"])


def compare() -> Experiment:
    """Two configurations that took turns."""
    cells = [
        cell("A: threads=1", {"threads": 1}, [run(38.0, 1, seed) for seed in range(8)]),
        cell("B: threads=2", {"threads": 2}, [run(52.0, 1, 50 + seed) for seed in range(8)],
             disturbed={3: DISTURBED}),
    ]  # fmt: skip
    said = (
        "B is 37 % faster in total throughput, between 35 and 39 % (7 pairs).",
        "It was clear after 8 of at most 12 pairs.",
    )
    return experiment(Kind.COMPARE, cells, conclusion=said)


def users(*, counts: Sequence[int] = (1, 2, 4, 8, 12)) -> Experiment:
    """Simulated users within limits: beyond four they wait."""
    cells = []
    for count in counts:
        served = min(count, 4)
        ttft_s = 0.2 + max(0, count - 4) * 0.35
        measured = run(TOTALS[served], served, count, ttft_s=ttft_s)
        kept = 40 if count <= 4 else max(2, 40 - 9 * (count - 4))
        measured = msgspec.structs.replace(
            measured,
            kept_share=kept / 40,
            goodput_req_s=kept / 40 * measured.total_tok_s / 128 if measured.total_tok_s else None,
            requests=40,
        )
        extra = {
            USERS: float(count), KEPT_REQUESTS: float(kept), JUDGED: 40.0,
            QUEUE: max(0.0, ttft_s - 0.2), QUEUE_SHARE: max(0.0, 1 - 0.2 / ttft_s),
        }  # fmt: skip
        name = "1 user" if count == 1 else f"{count} users"
        cells.append(cell(name, {"slots": 4}, [measured], extra=extra))
    said = (
        "4 users keep TTFT ≤ 1 s and TPOT ≤ 100 ms in 95 % of requests (100 %, between 91 and "
        "100 %); 8 do not (10 %, between 3 and 24 %).",
    )
    return experiment(Kind.USERS, cells, conclusion=said)


def tune() -> Experiment:
    """A tuner's path: some steps kept, some dropped, one that cannot run."""
    steps: list[tuple[str, dict[str, Value], float, int, str]] = [
        ("defaults", {}, 88.0, 1, "Start: 88.0 tok/s in total."),
        ("slots=8", {"slots": 8}, 139.0, 2, "More slots: 139 tok/s against 88.0, kept."),
        ("slots=16", {"slots": 16}, 140.0, 0, "No more than the spread, dropped."),
        ("slots=8, threads=1", {"slots": 8, "threads": 1}, 92.0, 0, "34 % slower, dropped."),
        ("slots=8, ubatch_tok=1024", {"slots": 8, "ubatch_tok": 1024}, 149.0, 3,
         "7 % more, kept."),
        ("slots=8, ubatch_tok=2048", {"slots": 8, "ubatch_tok": 2048}, 148.0, 0,
         "No difference, dropped."),
    ]  # fmt: skip
    cells = []
    for number, (name, config, total, kept, note) in enumerate(steps):
        slots = int(str(config.get("slots", 4)))
        extra = {"allocated_memory_bytes": float((300 + 40 * slots) * _MIB)}
        cells.append(
            cell(
                name,
                config,
                [run(total, slots, 10 * number + seed) for seed in range(3)],
                extra=extra | ({KEPT: float(kept)} if kept else {}),
                notes=(note,),
            )
        )
    reason = "CPU does not suffice: 31.0 GiB are needed, so 7.3 GiB are missing."
    cells.append(Cell("slots=64", {"slots": 64}, skipped=reason))
    said = ("Best for most tokens an hour: slots=8, ubatch_tok=1024 (149 tok/s, 69 % more).",)
    return experiment(Kind.TUNE, cells, conclusion=said)


def quality() -> Experiment:
    """f16 against two candidates, and one that is refused."""
    base = {"kv_bytes": 144.0 * _MIB, "ppl": 12.31, "ppl_error": 0.31, "facts": 20.0,
            "recall_share": 0.95, "recall_share_from_0_percent": 1.0,
            "recall_share_from_50_percent": 0.9}  # fmt: skip
    cells = [Cell("f16/f16", {}, extra=base)]
    for name, kld, size, ratio in (
        ("q8_0/q8_0", 0.0011, 76.5, 1.04),
        ("q4_0/q4_0", 0.061, 40.5, 1.12),
    ):
        extra = {
            "mean_kld": kld, "mean_kld_error": kld / 12, "p99_kld": 9 * kld,
            "same_top_share": 1 - 2 * kld, "same_top_share_error": 0.002,
            "ppl_ratio": 1 + kld, "ppl_ratio_error": 0.001, "ppl_base": 12.31, "ppl": 12.31 + kld,
            "ppl_error": 0.31, "scored_tok": 5120.0, "facts": 20.0, "recall_share": 0.9,
            "kv_bytes": size * _MIB, "kv_base_bytes": 144.0 * _MIB,
            "tpot_ratio": ratio, "tpot_ratio_low": ratio - 0.02, "tpot_ratio_high": ratio + 0.02,
            "mean_kld_from_256_tok": 0.8 * kld, "mean_kld_from_256_tok_error": kld / 10,
            "mean_kld_from_384_tok": 1.2 * kld, "mean_kld_from_384_tok_error": kld / 10,
            "recall_share_from_0_percent": 0.95, "recall_share_from_50_percent": 0.85,
        }  # fmt: skip
        types = name.split("/")
        config: dict[str, Value] = {"cache_type_k": types[0], "cache_type_v": types[1]}
        cells.append(Cell(name, config, extra=extra))
    reason = "A quantised V cache needs flash attention."
    cells.append(Cell("f16/q8_0, flash_attn=off", {"flash_attn": "off"}, skipped=reason))
    said = (
        "q8_0/q8_0 costs a mean KLD of 0.001100 ± 0.000092 over 5,120 tokens.",
        "q8_0/q8_0 buys memory: the KV cache takes 76.5 MiB in place of 144 MiB (47 % less).",
    )
    return experiment(Kind.QUALITY, cells, conclusion=said, workload="")


def probe() -> Experiment:
    """A server, and the embedded engine beside it."""
    cells = [
        cell("127.0.0.1:8080", {}, [run(49.0, 1, seed) for seed in range(5)],
             notes=("Timed by the client's clock.",)),
        cell("embedded engine, slots=1", {"slots": 1}, [run(52.0, 1, 30 + s) for s in range(5)]),
    ]  # fmt: skip
    said = ("The embedded engine is 6 % faster in TPOT, between 4 and 8 % (5 pairs).",)
    return experiment(Kind.PROBE, cells, conclusion=said)


def large() -> Experiment:
    """200 configurations with ten runs each."""
    return sweep(
        contexts=(1024, 2048, 4096, 8192),
        caches=("f16", "q8_0", "q5_1", "q5_0", "q4_0"),
        slots=(1, 2, 3, 4, 6, 8, 10, 12, 14, 16),
        runs=10,
    )


def every_kind() -> list[Experiment]:
    """One experiment of each kind."""
    return [bench(), sweep(), compare(), users(), tune(), quality(), probe()]
