"""Which texts each material is made of, and how they are cut and asked about. Data alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.experiments.code_names import renamed
from app.experiments.passages import blocks, lines, sentences
from app.experiments.workload import Material


@dataclass(frozen=True)
class Style:
    """How prompts of one material are written; names are those of files in ``resources/texts``.

    Attributes:
        units: Takes the text apart into what is not cut without need.
        text: What passages are cut from; empty for the user's own text.
        system: Begins the common prefix; empty for nothing.
        asks: A line for each question or order; empty for none.
        ends_at_lines: A line is not cut without need.
        fence: What stands around a passage, as a format.
        reworded: Says a unit in other words once the text is used up; None where it cannot be done.
    """

    units: Callable[[str], tuple[str, ...]]
    text: str = ""
    system: str = ""
    asks: str = ""
    ends_at_lines: bool = False
    fence: str = "{}"
    reworded: Callable[[str, int], str] | None = None


STYLES: Mapping[Material, Style] = {
    Material.PROSE: Style(
        units=sentences, text="prose.txt", system="system_prose.txt", asks="asks_prose.txt"
    ),
    Material.CODE: Style(
        units=blocks,
        text="code.txt",
        system="system_code.txt",
        asks="asks_code.txt",
        ends_at_lines=True,
        fence="```python\n{}\n```",
        reworded=renamed,
    ),
    Material.RECORDS: Style(
        units=lines,
        text="records.jsonl",
        system="system_records.txt",
        asks="asks_records.txt",
        ends_at_lines=True,
    ),
    Material.RETRIEVAL: Style(
        units=sentences,
        text="documents.txt",
        system="system_retrieval.txt",
        asks="asks_retrieval.txt",
    ),
    Material.FILE: Style(units=sentences),
}
