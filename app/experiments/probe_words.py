"""What is said beside the figures of a server: how they were counted, what is not seen. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from app.experiments.dialect import Dialect
from app.experiments.probe_greeting import Greeting
from app.experiments.server_answer import Answer, timing_of

CLOCK = (
    "Timed by the client's clock: TTFT from opening the connection, or sending on an open one, "
    "until the first token is here, network and queue included; ITL between chunks. Prefill speed, "
    "MBU and memory cannot be seen from a client."
)
CACHES = (
    "The prompts of each run begin with another word, so that no run profits from what the server "
    "kept of the one before."
)
UNWATCHED_HERE = (
    "Which process the server is could not be told, so what else this machine did was not watched."
)
UNWATCHED_THERE = "What else the server's machine did could not be watched from here."
SAME_MODEL = (
    "Both were asked the same in turns. Whether the server runs the same model file, context and "
    "sampling cannot be seen from here."
)


def counting_note(answers: Sequence[Answer]) -> str:
    """How the tokens of ``answers`` were counted."""
    chunks = sum(len(answer.step_ns) for answer in answers)
    counted = [a for a in answers if a.usage is not None and a.usage.new_tok]
    if not chunks:
        return ""
    if not counted:
        return (
            f"The server does not tell how many tokens it made: each of its {chunks:,} chunks "
            "counts as one. Where a chunk holds several, TPOT is too long and speed too low."
        )
    tokens = sum(answer.new_tok for answer in answers)
    note = f"Tokens are counted by the server (usage): {tokens:,} in {chunks:,} chunks."
    if tokens > chunks:
        note += " Some chunks hold several, so ITL is longer than TPOT."
    if len(counted) < len(answers):
        missing = len(answers) - len(counted)
        note += f" For {missing:,} of {len(answers):,} answers it told none; chunks count there."
    return note


def ending_notes(answers: Sequence[Answer], asked_tok: int) -> list[str]:
    """What was odd in how answers were made and ended.

    Args:
        answers: Whole or not.
        asked_tok: Tokens that all of them together were asked for.
    """
    notes = []
    thoughts = sum(answer.thought_chunks for answer in answers)
    chunks = sum(len(answer.step_ns) for answer in answers)
    if thoughts:
        notes.append(
            f"{thoughts:,} of {chunks:,} chunks were thoughts; they count as output, and TTFT ends "
            "with the first of any."
        )
    unmarked = sum(1 for a in answers if a.finish and not a.has_end_mark)
    if unmarked:
        notes.append(f"{unmarked:,} of {len(answers):,} answers ended without [DONE].")
    made_tok = sum(answer.new_tok for answer in answers)
    if made_tok < asked_tok:
        notes.append(
            f"The answers had {made_tok:,} of the {asked_tok:,} tokens that were asked for: some "
            "ended by themselves."
        )
    return notes


def dialect_note(dialect: Dialect) -> str:
    """What the server does not take; empty if it takes all."""
    parts = []
    if not dialect.ignores_end:
        parts.append("to go on past the end that the model chooses (ignore_eos)")
    if not dialect.has_usage:
        parts.append("to count (stream_options.include_usage)")
    return f"The server refuses to be asked {' and '.join(parts)}." if parts else ""


def greeting_note(greeting: Greeting) -> str:
    """What the lengths of prompts rest on, where the server did not count them."""
    if greeting.is_counted:
        return ""
    return (
        "The server does not count prompts, so their lengths are those of English: four characters "
        "a token."
    )


def own_words(answers: Sequence[Answer]) -> tuple[str, dict[str, float]]:
    """What the server's own clock says: a sentence and figures, or nothing.

    Args:
        answers: Of all runs.
    """
    prefills, tpots, ratios = [], [], []
    for answer in answers:
        own = answer.timings
        if own is None:
            continue
        if own.prefill_tok_s is not None:
            prefills.append(own.prefill_tok_s)
        mine_s = timing_of(answer, 0).tpot_s
        if own.tpot_s is not None and mine_s is not None:
            tpots.append(own.tpot_s)
            ratios.append(mine_s / own.tpot_s)
    if not tpots:
        return "", {}
    figures = {"server_tpot_s": median(tpots), "tpot_by_server_tpot": median(ratios)}
    note = f"The server's own clock says TPOT {median(tpots) * 1e3:,.2f} ms"
    if prefills:
        figures["server_prefill_tok_s"] = median(prefills)
        note += f" and prefill {median(prefills):,.0f} tok/s"
    return (
        f"{note}; the client's TPOT is {median(ratios):.3f} times that (medians over "
        f"{len(ratios):,} answers).",
        figures,
    )
