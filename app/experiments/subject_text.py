"""On what an experiment was done, with which settings and what work, as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from app.experiments.experiment import Cell, Experiment, Kind
from app.experiments.text_layout import wrapped
from app.experiments.workload import Material, Workload
from app.experiments.workload_words import limits_text
from app.experiments.workload_words import summary as workload_summary
from engine_bridge.settings.domain import Value


def subject_lines(experiment: Experiment) -> list[str]:
    """On what, with which settings and with what work it was done."""
    return [
        line
        for name, text in subject_told(experiment).items()
        for line in wrapped(text, mark=f"{name:<11}")
    ]


def subject_told(experiment: Experiment) -> dict[str, str]:
    """The same, each part by its name; those of which nothing is known are left out."""
    subject = experiment.subject
    model = subject.model
    if subject.model_sha256:
        model = f"{model}, sha256 {subject.model_sha256[:16]}…"
    told = {
        "workload": _workload_text(experiment),
        "model": model,
        "engine": subject.engine,
        "machine": subject.machine,
    }
    if experiment.kind is not Kind.PROBE:  # a server's are unknown
        cells = experiment.cells
        told["settings"] = settings_text(_common(cells)) or "defaults" * (len(cells) == 1)
        told["effective"] = settings_text(cells[0].effective) if len(cells) == 1 else ""
    return {name: text for name, text in told.items() if text}


def settings_text(values: Mapping[str, object]) -> str:
    """Settings as ``key=value``, the model's file left out: it is told as the model."""
    return ", ".join(
        f"{key}={_plain(value)}" for key, value in values.items() if key != "model_path"
    )


def kept_workload(experiment: Experiment) -> Workload | None:
    """The workload that was used; None where there was none, or it cannot be read."""
    try:
        return msgspec.json.decode(experiment.workload, type=Workload)
    except msgspec.DecodeError:
        return None


def limits_of(experiment: Experiment) -> str:
    """What a good request had to keep: ``TTFT ≤ 1 s and TPOT ≤ 100 ms``; empty without limits."""
    workload = kept_workload(experiment)
    return "" if workload is None else limits_text(workload)


# --- Inside -----------------------------------------------------------------------------


def _workload_text(experiment: Experiment) -> str:
    """A workload in words; empty where there was none, or its words are not kept."""
    workload = kept_workload(experiment)
    if workload is None or workload.material is Material.CONVERSATION:
        return ""
    return workload_summary(workload)


def _common(cells: Sequence[Cell]) -> dict[str, Value]:
    """What was set for all of them; what differs is in their names."""
    first = cells[0].config if cells else {}
    return {
        key: value
        for key, value in first.items()
        if all(cell.config.get(key) == value for cell in cells)
    }


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
