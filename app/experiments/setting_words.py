"""Settings in one line of words: ``slots=4,flash_attn=on``.

Only the standard library at import: command lines are read with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine_bridge.settings.config import EngineConfig


def changed_by(base: EngineConfig, text: str, whose: str) -> EngineConfig:
    """``base`` with the settings in ``text``.

    Args:
        base: Settings with their model.
        text: Such as ``slots=4,flash_attn=on``; empty changes nothing.
        whose: What the text belongs to, for the sentence: ``--a``.

    Raises:
        DomainError: In a sentence.
    """
    from engine_bridge.settings.assignments import parse_assignments  # noqa: PLC0415
    from engine_bridge.settings.domain import DomainError  # noqa: PLC0415

    values = parse_assignments(words_in(text))
    if "model_path" in values:
        raise DomainError(f"{whose} compares settings of one model: its file is none of them.")
    return base.with_values(values)


def words_in(text: str) -> list[str]:
    """``slots=4,spec_types=a,b`` is two words: a part without ``=`` belongs to the one before."""
    words: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if "=" in part or not words:
            words.append(part)
        else:
            words[-1] += f",{part}"
    return words
