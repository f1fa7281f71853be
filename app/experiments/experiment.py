"""A finished or stopped experiment as it is kept: what was asked, on what, and what came out.

One shape for every kind, so that the history, the tables, the charts and the exports need only one.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine_bridge.settings.domain import Value


class Kind(StrEnum):
    """What was done."""

    BENCH = "bench"
    SWEEP = "sweep"
    COMPARE = "compare"
    USERS = "users"
    TUNE = "tune"
    QUALITY = "quality"
    PROBE = "probe"


class State(StrEnum):
    """How far it came; ``cut`` is one whose program ended in the middle."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    CUT = "cut"


class RunDetail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a run no single figure shows; of the requests that ended as asked for.

    Attributes:
        ttft_by_prompt: For each length of prompts, shortest first: median of the tokens computed
            (not reused), median TTFT in seconds, and how many requests it is of. Lengths that
            differ by less than a factor of about 1.4 are one.
        drafted_at: Drafted tokens by position in the draft; empty without drafts.
        accepted_at: Of them accepted.
    """

    ttft_by_prompt: tuple[tuple[float, float, int], ...] = ()
    drafted_at: tuple[int, ...] = ()
    accepted_at: tuple[int, ...] = ()


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run in figures; None is what the run could not show.

    Attributes:
        ttft_s: Median TTFT over the requests.
        ttft_p95_s: 95th percentile of it.
        tpot_s: Median TPOT over the answers.
        itl_p50_s: Median of all gaps between steps of a stream.
        itl_p99_s: 99th percentile of them.
        prefill_tok_s: Prompt tokens computed / prefill time.
        user_tok_s: 1 / ``tpot_s``.
        total_tok_s: Output tokens of all streams / duration.
        decode_tok_s: Output tokens per second of the steps that only generated.
        goodput_req_s: Requests that kept both limits / duration; None without limits.
        kept_share: Share of requests that kept both limits.
        mbu: Achieved / peak bandwidth while decoding, 0 to 1.
        owned_bytes: Most private memory of the engine process.
        acceptance: Accepted / drafted tokens; None without drafts.
        reused_share: Prompt tokens not computed / prompt tokens.
        requests: Requests that ended as asked for.
        failed: Requests that did not.
        new_tok: Output tokens.
        duration_s: Length of the run.
        detail: What no single figure shows; None of runs that were kept before there was any.
    """

    ttft_s: float | None = None
    ttft_p95_s: float | None = None
    tpot_s: float | None = None
    itl_p50_s: float | None = None
    itl_p99_s: float | None = None
    prefill_tok_s: float | None = None
    user_tok_s: float | None = None
    total_tok_s: float | None = None
    decode_tok_s: float | None = None
    goodput_req_s: float | None = None
    kept_share: float | None = None
    mbu: float | None = None
    owned_bytes: int | None = None
    acceptance: float | None = None
    reused_share: float | None = None
    requests: int = 0
    failed: int = 0
    new_tok: int = 0
    duration_s: float = 0.0
    detail: RunDetail | None = None


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One configuration of an experiment and the runs on it.

    Attributes:
        name: What tells it from the others, such as ``slots=4, cache_type_k=q8_0``.
        config: Settings that differ from the defaults, by key.
        effective: What the engine made of them where it differs, by key.
        runs: In the order in which they were measured; warm-ups are not among them.
        disturbed: For each run a sentence of what disturbed it, empty for a quiet one.
        skipped: Why it was not measured, in a sentence; empty if it was.
        extra: Figures of one kind of experiment only, by name with unit (``mean_kld``).
        notes: Sentences that belong to it (a tuner's reason, a verdict).
    """

    name: str
    config: dict[str, Value] = {}
    effective: dict[str, Value] = {}
    runs: tuple[Figures, ...] = ()
    disturbed: tuple[str, ...] = ()
    skipped: str = ""
    extra: dict[str, float] = {}
    notes: tuple[str, ...] = ()


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured, and where.

    Attributes:
        machine: Processor, cores, memory, boards and system in one line.
        engine: The engine or server with its version and build.
        model: The model's shown name.
        model_path: Its file, or the address of a server.
        model_sha256: Hash of its file; empty if unknown.
        model_bytes: Size of its files; 0 if unknown.
    """

    machine: str = ""
    engine: str = ""
    model: str = ""
    model_path: str = ""
    model_sha256: str = ""
    model_bytes: int = 0


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One experiment.

    Attributes:
        key: Unique, made of the time and a random part; also its order.
        kind: What was done.
        begun_at: When, UTC, ISO 8601 with seconds.
        state: How far it came.
        title: One line for a list.
        subject: What it was done to.
        workload: The workload as JSON text; empty where none was used.
        cells: What came out, in the order in which it is shown.
        conclusion: Sentences at the end: the verdict, the advice.
        failure: Why it failed, in a sentence; empty if it did not.
        tags: The user's words for it.
        note: The user's note.
        asked: What was asked for beside all that, by name: of a sweep ``rounds`` and ``measure``
            (the key of a figure). Empty where nothing was, and of those kept before there was any.
    """

    key: str
    kind: Kind
    begun_at: str
    state: State
    title: str
    subject: Subject
    workload: str = ""
    cells: tuple[Cell, ...] = ()
    conclusion: tuple[str, ...] = ()
    failure: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    asked: dict[str, Value] = {}
