"""Does the tuner judge drafts rightly: a slower draft model dropped, a quicker lookup kept?

On two cores Qwen2.5-Coder 0.5B drafting for the 1.5B costs more than it saves, and code that is
written once more holds long runs of what was read. The tuner is told neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.experiments.experiment import Cell, Experiment
from app.experiments.lengths import Fixed
from app.experiments.measures import BY_FIGURE, Measure
from app.experiments.port import EnginePort
from app.experiments.ranking import median_of
from app.experiments.reporter import Reporter
from app.experiments.tune_goal import Purpose, TuneGoal
from app.experiments.tune_result import best_cell
from app.experiments.tune_steps import ORDER
from app.experiments.workload import Material, Workload
from engine_bridge.settings.config import EngineConfig, pad_context_tok
from engine_bridge.settings.spec_kinds import NGRAM_KINDS
from engine_bridge.settings.speculation_rows import SPECULATION
from engine_bridge.settings.table import BY_KEY
from tests.bench.tuner_live import tuned

# Six seconds a run on two cores, and a quarter of a minute to write code again.
CHAT = Workload(
    name="chat", material=Material.PROSE, prompt_tok=Fixed(48), answer_tok=Fixed(48), requests=1
)
REWRITING = Workload(
    name="rewriting", material=Material.CODE, prompt_tok=Fixed(220), answer_tok=Fixed(112),
    requests=1,
)  # fmt: skip
MEASUREMENTS = 30
_SPEED, _TTFT, _ACCEPTANCE = (BY_FIGURE[key] for key in ("user_tok_s", "ttft_s", "acceptance"))
_DRAFT = "draft-simple"
_DRAFTING = {row.key for row in SPECULATION}


def goal_of(workload: Workload, drafts: Sequence[Path], measurements: int) -> TuneGoal:
    """One person, and of all settings only what drafts."""
    others = tuple(key for keys in ORDER for key in keys if key not in _DRAFTING)
    return TuneGoal(
        Purpose.CHAT,
        workload,
        kv_floor="f16",
        kept=others,
        drafts=tuple(str(path) for path in drafts),
        measurements=measurements,
    )


def start_of(model_path: Path, workload: Workload) -> EngineConfig:
    """One slot and no drafts."""
    ctx_tok = pad_context_tok(workload.needed_ctx_tok())
    values = {"model_path": str(model_path), "slots": 1, "ctx_per_slot_tok": ctx_tok}
    return EngineConfig.from_values(values | {"temperature": 0.0})


def drafts(
    port: EnginePort,
    target: Path,
    draft: Path,
    reporter: Reporter,
    *,
    chat: Workload = CHAT,
    rewriting: Workload = REWRITING,
    measurements: int = MEASUREMENTS,
    said: Callable[[str], object] = print,
) -> dict[str, Any]:
    """Both tunings.

    Raises:
        PortError: If one did not come to its end.
    """
    found = {}
    for name, workload, files, judge in (
        ("draft_model", chat, (draft,), draft_dropped),
        ("prompt_lookup", rewriting, (), lookup_kept),
    ):
        said(f"{name}: {workload.name}")
        goal = goal_of(workload, files, measurements)
        experiment = tuned(port, start_of(target, workload), goal, reporter)
        found[name] = judge(experiment) | told(experiment)
    return found


# --- Judging --------------------------------------------------------------------------------


def draft_dropped(experiment: Experiment) -> dict[str, Any]:
    """Whether the draft model was measured, was slower, and is not in what was found."""
    cell, plain = best_cell(experiment), _plain(experiment)
    tried = [each for each in _measured(experiment) if _DRAFT in _types(each)]
    shares = [share for each in tried if (share := _share(each, plain, _SPEED)) is not None]
    is_out = cell is not None and _DRAFT not in _types(cell)
    return {
        "tried": len(tried),
        "best_speed_with_draft_share": max(shares, default=None),
        "is_met": bool(shares) and is_out and max(shares) < 1,
    }


def lookup_kept(experiment: Experiment) -> dict[str, Any]:
    """Whether what was found looks words up in the prompt, and is quicker than without."""
    cell, plain = best_cell(experiment), _plain(experiment)
    share = None if cell is None else _share(cell, plain, _SPEED)
    has_lookup = cell is not None and any(kind in NGRAM_KINDS for kind in _types(cell))
    return {
        "found_speed_share": share,
        "is_met": has_lookup and share is not None and share > 1,
    }


def told(experiment: Experiment) -> dict[str, Any]:
    """What was measured, and what the tuner said."""
    cell = best_cell(experiment)
    return {
        "found": None if cell is None else drafting_words(cell),
        "measurements": sum(len(each.runs) for each in experiment.cells),
        "cells": [
            {
                "name": drafting_words(each),
                "spec_types": list(_types(each)),
                "runs": len(each.runs),
                **{
                    measure.key: median_of(each, measure)
                    for measure in (_SPEED, _TTFT, _ACCEPTANCE)
                },
                "notes": list(each.notes),
                "skipped": each.skipped,
            }
            for each in experiment.cells
        ],
        "conclusion": list(experiment.conclusion),
    }


def drafting_words(cell: Cell) -> str:
    """Of a cell's settings those that draft, files by their names alone."""
    words = []
    for key in filter(_DRAFTING.__contains__, cell.config):
        value = cell.config[key]
        is_file = key.endswith("_path")
        text = Path(str(value)).name if is_file else BY_KEY[key].domain.format(value)
        words.append(f"{key}={text}")
    return ", ".join(words) or "no drafts"


def _measured(experiment: Experiment) -> list[Cell]:
    return [cell for cell in experiment.cells if cell.runs]


def _types(cell: Cell) -> tuple[str, ...]:
    kinds = cell.config.get("spec_types", ())
    return kinds if isinstance(kinds, tuple) else ()


def _plain(experiment: Experiment) -> Cell | None:
    """What is measured without drafts."""
    return next((cell for cell in _measured(experiment) if not _types(cell)), None)


def _share(cell: Cell, plain: Cell | None, measure: Measure) -> float | None:
    if plain is None:
        return None
    mine, theirs = median_of(cell, measure), median_of(plain, measure)
    return mine / theirs if mine and theirs else None


def lines(figures: Mapping[str, Any]) -> list[str]:
    """For people."""
    found = []
    for title, name, claim in (
        ("0.5B drafts for 1.5B, chat", "draft_model", "the draft model is measured and dropped"),
        ("1.5B writes code again", "prompt_lookup", "prompt lookup is kept and is quicker"),
    ):
        part = figures[name]
        found += [f"{title}: {part['measurements']} runs, found: {part['found']}"]
        for cell in part["cells"]:
            if cell["runs"]:
                found.append(f"  {_cell_words(cell)}")
        found += [f"  {sentence}" for sentence in part["conclusion"]]
        found.append(f"target: {claim}: {'met' if part['is_met'] else 'MISSED'}")
    return found


def _cell_words(cell: Mapping[str, Any]) -> str:
    speed, ttft_s, share = cell["user_tok_s"], cell["ttft_s"], cell["acceptance"]
    words = [f"{speed:6.2f} tok/s" if speed is not None else "  no speed  "]
    words += [f"TTFT {ttft_s:.2f} s"] if ttft_s is not None else []
    words += [f"{100 * share:.0f} % accepted"] if share is not None else []
    words += [f"{cell['runs']} runs", cell["name"]]
    return ", ".join(words)
