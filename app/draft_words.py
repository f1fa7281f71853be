"""What drafts and what could, in the draft menu's words. Pure text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath

from app.figures import bytes_text, count_text
from app.library.model_entry import ModelEntry
from app.model_sheets import key_of
from engine_bridge.draft_kind import PLAIN, guessing_problem
from engine_bridge.header_facts import HeaderFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.spec_kinds import (
    EXPORT_ONLY_KINDS,
    NGRAM_KINDS,
    WHY_EXPORT_ONLY,
)
from widgets.draft_button import DraftChoice

OFF, NGRAM, MTP, FILE, HUB = "off", "ngram-simple", "draft-mtp", "file", "hub"
# Choices without a file.
WITHOUT_FILE = frozenset({OFF, MTP, *NGRAM_KINDS})
_SHOWN_REASON = 72
# So ``why_incompatible`` begins its reason.
_OTHER_VOCABULARY = "it has another vocabulary"
_SHOWN_NAME = 40
HUB_LINE = DraftChoice(
    HUB,
    "Find drafts on the hub…",
    "Smaller models of the same family and heads made for this one. Their vocabularies are "
    "compared by their headers alone, before anything is downloaded.",
    is_command=True,
)

WhyNot = Callable[[ModelEntry], str | None]


def values_of_choice(
    key: str, path: str, wanted: EngineConfig, kind: str = PLAIN
) -> dict[str, object]:
    """The settings that a choice stands for.

    Another draft model of the same kind leaves alone what drafts beside it.

    Args:
        key: The choice.
        path: The model's file; empty where it has none.
        wanted: The settings as they stand.
        kind: What that file drafts.
    """
    if key == OFF:
        return {"spec_types": ()}
    if key == MTP:  # with a file it would ask that file's layers
        return {"spec_types": (key,), "draft_model_path": ""}
    if key in WITHOUT_FILE:
        return {"spec_types": (key,)}
    types = wanted.spec_types if kind in wanted.spec_types else (kind,)
    return {"spec_types": types, "draft_model_path": path}


def draft_text(applied: EngineConfig | None, wanted: EngineConfig) -> str:
    """What drafts, and after an arrow what is wanted instead."""
    now = _words(applied) if applied is not None else _words(wanted)
    then = _words(wanted)
    return f"Drafts: {now}" if now == then else f"Drafts: {now} → {then}"


def choices_of(
    wanted: EngineConfig,
    target: ModelEntry | None,
    candidates: Iterable[ModelEntry],
    why_not: WhyNot,
    waiting: str,
) -> list[DraftChoice]:
    """The lines of the menu: off, copies, own layers, then models: smaller ones first.

    Behind them those that only a command line can use, and those that are unfit.

    Args:
        wanted: The settings as they stand.
        target: The model in use; None where it is not known.
        candidates: Models that might draft.
        why_not: Why one cannot; None while that is unknown.
        waiting: What is still being found out, for a line at the end; empty for nothing.
    """
    able: list[ModelEntry] = []
    exported: list[ModelEntry] = []
    unable: list[tuple[ModelEntry, str]] = []
    for entry in candidates:
        reason = why_not(entry)
        if reason:
            unable.append((entry, reason))
        elif reason is not None:
            (exported if _kind_of(entry) in EXPORT_ONLY_KINDS else able).append(entry)
    size_of = {id(entry): _parameters(entry) for entry in able}
    target_size = _parameters(target) if target is not None else 0
    unable.sort(key=lambda pair: pair[0].name.casefold())
    able.sort(key=lambda entry: (size_of[id(entry)] >= target_size, size_of[id(entry)]))
    lines = [DraftChoice(OFF, "Off", "One token a pass.", is_checked=not wanted.spec_types)]
    lines += [
        DraftChoice(kind, kind, sentence, is_checked=wanted.spec_types == (kind,))
        for kind, sentence in NGRAM_KINDS.items()
    ]
    if target is not None and target.facts is not None and target.facts.nextn_layers:
        lines.append(_own_layers_line(target.facts, wanted))
    lines += [_model_line(entry, wanted, target) for entry in able]
    lines += [_export_line(entry, wanted) for entry in exported]
    lines += [_unfit_line(entry, reason) for entry, reason in unable]
    if waiting:
        lines.append(DraftChoice("", waiting, is_enabled=False))
    tip = "A small model with the vocabulary of the one in use. It is checked before it is loaded."
    lines.append(DraftChoice(FILE, "Choose a file…", tip, is_command=True))
    return lines


def _words(config: EngineConfig) -> str:
    parts = []
    for kind in config.spec_types:
        if kind in EXPORT_ONLY_KINDS:
            parts.append(f"{kind} (command line only)")
        elif kind not in (PLAIN, MTP) or config.loads_mtp:
            parts.append(kind)
        elif config.draft_model_path:
            name = PurePath(config.draft_model_path).name.removesuffix(".gguf")
            parts.append(f"{name} · n ≤ {config.draft_n_max}")
        else:
            parts.append("no model chosen")
    return " + ".join(parts) or OFF


def _model_line(entry: ModelEntry, wanted: EngineConfig, target: ModelEntry | None) -> DraftChoice:
    if _kind_of(entry) == MTP:
        return _guessing_line(entry, wanted)
    text = f"{_short(entry.name)} · {PLAIN} · {count_text(_parameters(entry))} · "
    text += bytes_text(entry.size_bytes)
    share = _reading_share(entry, target)
    if share is not None:
        text += f" · a guess costs {share:.0%} of a token".replace("%", "\u202f%")
    return DraftChoice(
        key_of(entry.location),
        text,
        _cost_sentence(entry, wanted, share),
        is_checked=PLAIN in wanted.spec_types and wanted.draft_model_path == entry.path,
    )


def _guessing_line(entry: ModelEntry, wanted: EngineConfig) -> DraftChoice:
    return DraftChoice(
        key_of(entry.location),
        f"{_short(entry.name)} · {MTP} · {bytes_text(entry.size_bytes)}",
        f"{entry.name} holds layers trained to guess ahead for this model. They take about "
        f"{bytes_text(entry.size_bytes)} more, and a cache of {wanted.pool_tok:,} tokens.",
        is_checked=MTP in wanted.spec_types and wanted.draft_model_path == entry.path,
    )


def _own_layers_line(facts: HeaderFacts, wanted: EngineConfig) -> DraftChoice:
    why = guessing_problem(facts.architecture, facts.nextn_layers)
    if why:
        reason = f"{why[0].upper()}{why[1:]}."
        return DraftChoice(MTP, f"{MTP}: not for this model", reason, is_enabled=False)
    layers = "a layer" if facts.nextn_layers == 1 else f"{facts.nextn_layers} layers"
    return DraftChoice(
        MTP,
        f"{MTP} · the model's own",
        f"Asks {layers} of the model's own, trained to guess ahead. The model is loaded again.",
        is_checked=wanted.spec_types == (MTP,) and wanted.loads_mtp,
    )


def _export_line(entry: ModelEntry, wanted: EngineConfig) -> DraftChoice:
    kind = _kind_of(entry)
    return DraftChoice(
        key_of(entry.location),
        f"{_short(entry.name)} · {kind} · command line only",
        f"{entry.name} drafts as {kind}. That stands in the command line but does not run here: "
        f"{WHY_EXPORT_ONLY}.",
        is_checked=kind in wanted.spec_types and wanted.draft_model_path == entry.path,
    )


def _cost_sentence(entry: ModelEntry, wanted: EngineConfig, share: float | None) -> str:
    facts = entry.facts
    assert facts is not None
    k_bytes = facts.kv_bytes_per_token(wanted.draft_cache_type_k)
    cache = 0 if k_bytes is None else k_bytes.full * wanted.pool_tok
    sentence = f"{entry.name} takes about {bytes_text(entry.size_bytes + cache)} more: its weights "
    sentence += f"and a cache of {wanted.pool_tok:,} tokens."
    if share is not None and share >= 1:
        sentence += " It is no smaller than the model itself, so it can only slow it down."
    elif share is not None:
        sentence += (
            f" Every guess reads {share:.0%} of what a token of the model reads; it pays where "
            "more guesses are right than that costs."
        )
    return sentence


def _reading_share(entry: ModelEntry, target: ModelEntry | None) -> float | None:
    """Bytes a guess reads by those a token reads; None where experts hide it."""
    if target is None or target.facts is None or entry.facts is None:
        return None
    if target.facts.experts or entry.facts.experts:
        return None
    return _weights(entry.facts) / max(1, _weights(target.facts))


def _weights(facts: HeaderFacts) -> int:
    return sum(size for _, size in facts.mix)


def _unfit_line(entry: ModelEntry, reason: str) -> DraftChoice:
    # "A cannot draft for B: this. A draft model must …"
    middle = reason.partition(": ")[2].partition(". ")[0] or reason
    if middle.startswith(_OTHER_VOCABULARY):
        middle = "another vocabulary, cannot draft for this model"
    if len(middle) > _SHOWN_REASON:
        middle = middle[: _SHOWN_REASON - 1] + "…"
    return DraftChoice(
        key_of(entry.location), f"{_short(entry.name)}: {middle}", reason, is_enabled=False
    )


def _kind_of(entry: ModelEntry) -> str:
    return PLAIN if entry.facts is None else entry.facts.draft_kind


def _short(name: str) -> str:
    stem = name.removesuffix(".gguf")
    return stem if len(stem) <= _SHOWN_NAME else stem[: _SHOWN_NAME - 1] + "…"


def _parameters(entry: ModelEntry) -> int:
    return entry.facts.parameters if entry.facts is not None else 0
