"""What every dialect answers with.

Must not know any engine's flags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from app.export.carried import Answers, Carried, reasons_in
from app.quoting import QuotingError, Shell, notes_on, quote, quote_lines
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig

SHORT_COMMAND = 60
"""Characters of a command that is read at a glance; longer ones have a line for each flag."""


class ExportedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that an engine is told by.

    Attributes:
        name: What to call it, without a folder.
        text: What it holds, with a newline at its end.
        about: What it is for and where it belongs, a sentence.
    """

    name: str
    text: str
    about: str


class Export(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration in the words of one engine.

    Attributes:
        target: Name of the dialect.
        text: The line for the shell asked for; empty where that shell cannot be given it.
        notes: What the user should know before running it.
        not_carried: Settings that the line cannot say, each with the reason.
        lines: The same command, with a line for each flag where it is long.
        files: What the command reads, where the engine is told by files.
        carried: What becomes of each setting, every key of the table with its answer.
    """

    target: str
    text: str
    notes: tuple[str, ...]
    not_carried: dict[str, str]
    lines: str = ""
    files: tuple[ExportedFile, ...] = ()
    carried: dict[str, Carried] = {}


class Dialect(Protocol):
    """Writes a configuration for one engine."""

    def __call__(
        self,
        config: EngineConfig,
        effective: EffectiveConfig | None,
        facts: ModelFacts | None,
        shell: Shell = Shell.POSIX,
    ) -> Export:
        """Write ``config``.

        Args:
            config: As wanted.
            effective: What the engine made of it, for everything left to ``auto``; None if it was
                not asked yet.
            facts: The model, None if it is not known.
            shell: Who will read the line.
        """
        ...


def exported(  # noqa: PLR0917, the parts of an export in their order
    target: str,
    words: Sequence[str],
    notes: tuple[str, ...],
    answers: Answers,
    shell: Shell,
    files: tuple[ExportedFile, ...] = (),
    begins_line: int = 0,
) -> Export:
    """``words`` for ``shell``; where it cannot be given one of them, no line but the reason.

    Args:
        target: Name of the dialect.
        words: The command, the program first.
        notes: What the user should know before running it.
        answers: One for each setting, as ``carried.answers_for_all`` makes them.
        shell: Who will read the line.
        files: What the command reads.
        begins_line: Place of a word that is no flag and has a line of its own; 0 for none.
    """
    try:
        text, lines = quote(words, shell), quote_lines(words, shell, begins_line)
    except QuotingError as error:
        return refused(target, str(error), answers)
    if len(text) <= SHORT_COMMAND:
        lines = text
    return Export(
        target, text, (*notes_on(words, shell), *notes), reasons_in(answers), lines, files,
        dict(answers),
    )  # fmt: skip


def refused(target: str, reason: str, answers: Answers) -> Export:
    """No command and no file, for ``reason``: a sentence with what to do."""
    return Export(target, "", (reason,), reasons_in(answers), carried=dict(answers))
