"""Workloads to begin with, small enough for a laptop; `--set-workload` makes them larger."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from app.experiments.lengths import Fixed, LogNormal, Uniform
from app.experiments.workload import Material, Workload
from app.experiments.workload_error import WorkloadError
from engine_bridge.typed_text import quoted


@dataclass(frozen=True)
class Preset:
    """A workload with words for whoever chooses.

    Attributes:
        title: A few words.
        about: What it stands for, a sentence.
        workload: The workload.
    """

    title: str
    about: str
    workload: Workload


# Prompts of people are short with a few long ones; limits are those at which waiting is noticed:
# about 1 s to a first word, and a word as fast as it is read (0.1 s a token is 7 words a second).
PRESETS: Mapping[str, Preset] = {
    "chat": Preset(
        "Chat",
        "People talk with the model: short questions, answers of a paragraph, four turns.",
        Workload(
            name="chat",
            material=Material.PROSE,
            prompt_tok=LogNormal(60, 0.7, 16, 400),
            answer_tok=LogNormal(120, 0.5, 32, 400),
            turns=4,
            requests=8,
            prefix_share=0.5,
            think_s=1.0,
            ttft_slo_s=1.0,
            tpot_slo_s=0.1,
        ),
    ),
    "rag": Preset(
        "RAG",
        "A question with long retrieved documents before it, another set each time.",
        Workload(
            name="rag",
            material=Material.RETRIEVAL,
            prompt_tok=Uniform(1200, 2000),
            answer_tok=Fixed(96),
            requests=6,
            prefix_share=0.08,
            ttft_slo_s=4.0,
            tpot_slo_s=0.1,
        ),
    ),
    "coding-agent": Preset(
        "Coding agent",
        "An agent edits quoted code again and again; what it has to read grows turn by turn.",
        Workload(
            name="coding-agent",
            material=Material.CODE,
            prompt_tok=Uniform(500, 900),
            later_tok=Uniform(150, 400),
            answer_tok=Uniform(150, 300),
            turns=4,
            requests=8,
            prefix_share=0.3,
            ttft_slo_s=2.0,
            tpot_slo_s=0.05,
        ),
    ),
    "batch": Preset(
        "Batch enrichment",
        "Records are brought into a structure, four at a time, all under one system prompt.",
        Workload(
            name="batch",
            material=Material.RECORDS,
            prompt_tok=Uniform(120, 280),
            answer_tok=Fixed(80),
            requests=16,
            prefix_share=0.7,
            users=4,
        ),
    ),
}


def preset_workload(name: str) -> Workload:
    """The workload of a preset.

    Raises:
        WorkloadError: If there is no such preset.
    """
    preset = PRESETS.get(name)
    if preset is not None:
        return preset.workload
    near = difflib.get_close_matches(name, PRESETS, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise WorkloadError(
        f"There is no workload {quoted(name)}.{hint} The presets are {', '.join(PRESETS)}; a path "
        "that ends in .json is read as a file."
    )
