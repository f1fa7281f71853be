"""From what stands in the form to a request: the rules of the command line, told beside fields.

Pure but for the user's own text, which is read: not for the GUI thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from app.experiment_estimate import Work, estimate_words
from app.experiment_fields import Fields, FormError, plain
from app.experiment_probe_form import read_probe
from app.experiment_reading import NO_MODEL, Checked, Reading, Situation
from app.experiment_request import (
    BenchRequest,
    CompareRequest,
    QualityRequest,
    Request,
    SweepRequest,
    UsersRequest,
)
from app.experiment_tune_form import read_tune
from app.experiments.bench import MOST_RUNS, USUAL_RUNS, refuse_impossible
from app.experiments.compare import LEAST_PAIRS, MOST_PAIRS, Comparison
from app.experiments.experiment import Kind
from app.experiments.grid import GridCell, axis_of, grid_of
from app.experiments.measures import BY_FIGURE
from app.experiments.quality import QualityAsked
from app.experiments.setting_words import changed_by
from app.experiments.sweep import MOST_ROUNDS, USUAL_ROUNDS, Sweep, usual_measure
from app.experiments.sweep_start import too_long_of
from app.experiments.texts import bundled, user_text
from app.experiments.users_plan import USUAL_MOST, USUAL_SHARE, UsersPlan
from app.experiments.workload import LIMIT_RATE_REQ_S, LIMIT_USERS, Workload
from app.result_names import said
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.home_path import home_path
from engine_bridge.settings.rules import errors_of
from engine_bridge.settings.table import BY_KEY
from engine_bridge.typed_text import whole_number
from widgets.experiments.form_fields import AXES, SOURCE
from widgets.experiments.form_values import FormValues

FIND, NUMBERS, RATES = "find", "numbers", "rates"
USUAL_TYPES = "q8_0, q4_0"
USUAL_PAIRS, USUAL_MINUTES = 12, 10.0
USUAL_NUMBERS = (1, 2, 4, 8)
USUAL_RATES = (0.25, 0.5, 1.0)
USUAL_CHUNKS, USUAL_CHUNK_TOK, USUAL_FACTS = 20, 512, 20
_MOST_CHUNKS, _MOST_CHUNK_TOK = 10_000, 131_072
_DAY_MIN = 1_440.0
_LIMIT_JUDGED = 10_000
_LIMIT_LONG_TOK = 1_000_000
_PROSE = "prose.txt"


def read_form(values: FormValues, situation: Situation) -> Checked:
    """What ``values`` ask for.

    Raises:
        FormError: With a sentence for each field that is wrong.
    """
    reading = Reading(Fields(values), situation)
    if situation.running is None and values.kind != Kind.PROBE:
        raise FormError({"": NO_MODEL})
    read = _READERS.get(values.kind)
    if read is None:
        raise FormError({"": f"There is no experiment {values.kind!r} to set up here."})
    request, work, notes = read(reading)
    return Checked(request, estimate_words(work, situation.engine), notes)


# --- Each kind --------------------------------------------------------------------------


_Read = tuple[Request, Work | None, Mapping[str, str]]


def _bench(reading: Reading) -> _Read:
    fields = reading.fields
    runs = fields.whole("runs", USUAL_RUNS, 1, MOST_RUNS)
    workload = reading.workload()
    config = reading.config()
    with fields.at(SOURCE):
        refuse_impossible(config, workload, runs)
    return BenchRequest(config, workload, runs), Work(((workload, runs + 1),)), {}


def _sweep(reading: Reading) -> _Read:
    fields = reading.fields
    rounds = fields.whole("rounds", USUAL_ROUNDS, 1, MOST_ROUNDS)
    words = _axes(reading)
    workload = reading.workload()
    config = reading.config()
    by = fields.text("by")
    measure = BY_FIGURE[by] if by else usual_measure(workload)
    with fields.at(AXES):
        grid = grid_of(config, words)
        reasons = _reasons(grid, workload, reading.situation.model)
        judged = tuple(
            _with_reason(cell, reason) for cell, reason in zip(grid, reasons, strict=True)
        )
        Sweep(judged, measure, rounds).check()
    left = sum(1 for reason in reasons if not reason)
    note = f"{len(grid):,} combinations" if len(grid) != 1 else "1 combination"
    if left < len(grid):
        why = next(reason for reason in reasons if reason)
        note += f"; {len(grid) - left:,} of them cannot run and are left out: {why}"
    if idle := _idle_slots(grid, workload):
        note += f"{'' if note.endswith('.') else '.'} {idle}"
    request = SweepRequest(config, words, workload, measure, rounds)
    return request, Work(((workload, rounds * left),)), {AXES: note}


def _compare(reading: Reading) -> _Read:
    fields = reading.fields
    pairs = fields.whole("pairs", USUAL_PAIRS, LEAST_PAIRS, MOST_PAIRS)
    seconds = 60 * fields.number("minutes", USUAL_MINUTES, 0.1, _DAY_MIN)
    workload = reading.workload()
    with fields.at("a"):
        first = reading.allowed(changed_by(reading.running, fields.text("a"), "A"), "a")
    with fields.at("b"):
        second = changed_by(reading.situation.wanted, fields.text("b"), "B")
        second = reading.allowed(second, "b")
    if first == second:
        raise FormError({
            "b": "A and B are the same settings, so there is nothing to compare. Change a setting "
            "in the Tune column, or write one here, such as slots=4."
        })  # fmt: skip
    asked = Comparison(first, second, BY_FIGURE[fields.text("by_ab") or "tpot_s"], pairs, seconds)
    with fields.at(SOURCE):
        asked.check()
        for config in (first, second):
            refuse_impossible(config, workload, 1)
    names = (_difference(first, second), _difference(second, first))
    request = CompareRequest(asked, names, workload)
    notes = {"a": f"A: {said(names[0])}", "b": f"B: {said(names[1])}"}
    return request, Work(((workload, 2 * pairs),), is_most=True), notes


def _users(reading: Reading) -> _Read:
    fields = reading.fields
    how = fields.text("how") or NUMBERS
    is_search = how == FIND
    numbers, rates = _numbers(fields), _rates(fields)
    share = fields.number("share", 100 * USUAL_SHARE, 50, 99) / 100
    most = fields.whole("most", USUAL_MOST, 1, LIMIT_USERS)
    judged = fields.whole("judged", 0, 1, _LIMIT_JUDGED)
    long_tok = fields.whole("long_prompt_tok", 0, 0, _LIMIT_LONG_TOK)
    minutes = fields.number("minutes_users", math.inf, 0.1, _DAY_MIN)
    workload = reading.workload()
    config = reading.config()
    plan = UsersPlan(
        workload,
        numbers=numbers if how == NUMBERS and workload.rate_req_s is None else (),
        rates=rates if how == RATES else (),
        is_search=is_search,
        share=share,
        most=most,
        requests=judged or None,
        seconds=minutes * 60,
        long_prompt_tok=long_tok,
    )
    if is_search and not workload.has_limits:
        raise FormError({"ttft_slo_s": "A search needs a limit: set the one of TTFT or of TPOT."})
    with fields.at(SOURCE):
        plan.refuse_impossible(config)
    remarks = " ".join(plan.remarks(config))
    runs = tuple((plan.workload_for(users), 1) for users in plan.loads)
    work = Work(runs, is_most=minutes < math.inf) if runs else None
    return UsersRequest(config, plan), work, {"how": remarks} if remarks else {}


def _quality(reading: Reading) -> _Read:
    fields = reading.fields
    chunks = fields.whole("chunks", USUAL_CHUNKS, 1, _MOST_CHUNKS)
    chunk_tok = fields.whole("chunk_tok", USUAL_CHUNK_TOK, 16, _MOST_CHUNK_TOK)
    fields.refuse()
    config = reading.config()
    path = fields.text("text")
    with fields.at("types"):
        candidates = _candidates(config, fields.text("types") or USUAL_TYPES)
    with fields.at("text"):
        text = user_text(home_path(path)) if path else bundled(_PROSE)
    asked = QualityAsked(
        config=config,
        candidates=candidates,
        text=text,
        text_name=Path(path).name if path else _PROSE,
        ctx_tok=chunk_tok,
        chunks=chunks,
        facts=USUAL_FACTS if fields.values.is_on("recall") else 0,
    )
    return QualityRequest(asked), None, {}


_READERS: Mapping[str, Callable[[Reading], _Read]] = {
    Kind.BENCH: _bench,
    Kind.SWEEP: _sweep,
    Kind.COMPARE: _compare,
    Kind.USERS: _users,
    Kind.QUALITY: _quality,
    Kind.TUNE: read_tune,
    Kind.PROBE: read_probe,
}


# --- Parts of them ----------------------------------------------------------------------


def _axes(reading: Reading) -> tuple[str, ...]:
    """What varies, as the command line has it."""
    fields, axes = reading.fields, reading.fields.values.axes
    if not axes:
        raise FormError({AXES: "Choose a setting to vary."})
    seen: set[str] = set()
    for place, axis in enumerate(axes):
        name = axis_name(place)
        if not axis.key:
            fields.problems[name] = "Choose a setting to vary."
            continue
        if not axis.values.strip():
            fields.problems[name] = "Write the values to try, separated by commas."
            continue
        keys = axis.key.split("+")
        if twice := [key for key in keys if key in seen]:
            fields.problems[name] = f"{BY_KEY[twice[0]].label} varies already; one row is enough."
        seen.update(keys)
        try:
            axis_of(f"{axis.key}={axis.values}")
        except ValueError as error:  # DomainError
            fields.problems[name] = plain(str(error))
    fields.refuse()
    return tuple(f"{axis.key}={axis.values}" for axis in axes)


def axis_name(place: int) -> str:
    """Under what name a problem of the setting in that row is told."""
    return f"{AXES}.{place}"


def _reasons(
    grid: tuple[GridCell, ...], workload: Workload, model: ModelFacts | None
) -> tuple[str, ...]:
    """Why each combination cannot run, as far as that is known without planning; else empty."""
    too_long = too_long_of(workload, 1)
    known: dict[int, str] = {}
    reasons = []
    for cell in grid:
        broken = errors_of(cell.config, model)
        slot_tok = cell.config.slot_cap_tok
        if not broken and slot_tok not in known:
            known[slot_tok] = too_long(slot_tok)
        reasons.append(broken[0].message if broken else known[slot_tok])
    return tuple(reasons)


def _idle_slots(grid: tuple[GridCell, ...], workload: Workload) -> str:
    """That slots are tried which nobody would use; empty where all have somebody."""
    most = max(cell.config.slots for cell in grid)
    has_choice = any(cell.config.slots != most for cell in grid)
    if not has_choice or workload.rate_req_s is not None or workload.users >= most:
        return ""
    users = "1 user" if workload.users == 1 else f"{workload.users:,} users"
    return (
        f"With {users} at a time the others of {most:,} slots stay idle: set “Users at a time” "
        f"to {most:,} to see what they bring."
    )


def _with_reason(cell: GridCell, reason: str) -> GridCell:
    """The cell with the reason that stands against it."""
    return GridCell(cell.name, cell.config, reason)


def _numbers(fields: Fields) -> tuple[int, ...]:
    text = fields.text("numbers")
    words = [word.strip() for word in text.split(",") if word.strip()]
    try:
        numbers = tuple(whole_number(word) for word in words)
    except ValueError:
        numbers = (0,)
    if all(1 <= number <= LIMIT_USERS for number in numbers):
        return numbers or USUAL_NUMBERS
    fields.wrong("numbers", f"takes whole numbers from 1 to {LIMIT_USERS:,}, such as 1,2,4,8.")
    return USUAL_NUMBERS


def _rates(fields: Fields) -> tuple[float, ...]:
    words = [word.strip() for word in fields.text("rates").split(",") if word.strip()]
    try:
        rates = tuple(float(word) for word in words)
    except ValueError:
        rates = (0.0,)
    if all(0 < rate <= LIMIT_RATE_REQ_S for rate in rates):
        return rates or USUAL_RATES
    limit = f"{LIMIT_RATE_REQ_S:,.0f}"
    fields.wrong("rates", f"takes numbers above 0 and at most {limit}, such as 0.5,1,2.")
    return USUAL_RATES


def _candidates(config: EngineConfig, text: str) -> tuple[Mapping[str, Value], ...]:
    """Cache types by pairs, each checked, each once.

    Raises:
        DomainError: If one is no type.
    """
    found: dict[tuple[Value, Value], Mapping[str, Value]] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        k, _, v = pair.partition("/")
        asked = {"cache_type_k": k.strip(), "cache_type_v": (v or k).strip()}
        made = config.with_values(dict(asked))
        both = (made.cache_type_k, made.cache_type_v)
        found[both] = {"cache_type_k": both[0], "cache_type_v": both[1]}
    return tuple(found.values())


def _difference(of: EngineConfig, other: EngineConfig) -> str:
    """Settings of one where they are not those of the other, as words."""
    words = [
        f"{key}={BY_KEY[key].domain.format(getattr(of, key))}" for key in of.changed_from(other)
    ]
    return ", ".join(words)
