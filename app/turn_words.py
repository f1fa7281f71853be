"""What an answer was made of, in words, each figure with what it means. Pure text."""

from __future__ import annotations

from app.figures import seconds_text
from engine_bridge.metrics.definitions import acceptance
from engine_bridge.metrics.turn_details import TurnDetails
from widgets.message_record import Detail

# So many positions are said one by one to who does not see the bars.
_SAID_POSITIONS = 16
_TTFT_HINT = (
    "TTFT is queue and prefill: from the request's arrival at the engine to its first token. Queue "
    "is waiting for a slot, template and tokenising included; prefill is the reading of the "
    "prompt. What you waited for has two parts more: pipe, the ways of the request and of its "
    "first text between the two processes, and paint, from its arrival to the screen."
)
_NO_PIPE = " This answer brought no text, so there is no pipe and no paint."
_NO_PAINT = " The paint was not seen: the answer was over or out of sight before it."
_TPOT_HINT = (
    "TPOT: (time of the last token − time of the first) / (n − 1). ITL: the gap between two passes "
    "that brought tokens; p99: one gap in a hundred is longer. With drafts a pass can bring "
    "several tokens, so that ITL is longer than TPOT."
)
_PROMPT_HINT = (
    "Cached: their keys and values were there already. Computed: read in the prefill of this turn."
)
_DRAFTS_HINT = (
    "α: accepted tokens / drafted tokens. A bar for each position in the draft: how many were "
    "drafted there, filled as far as they were accepted. A pass brings what was accepted and one "
    "token of its own."
)


def details_of(details: TurnDetails) -> tuple[Detail, ...]:
    """What can be unfolded below an answer; what was not measured is left out."""
    found = (_ttft(details), _tpot(details), _prompt(details), _drafts(details))
    return tuple(detail for detail in found if detail is not None)


def _ttft(details: TurnDetails) -> Detail | None:
    if details.ttft_s is None:
        return None
    named = (
        ("queue", details.queue_s),
        ("prefill", details.prefill_s),
        ("pipe", details.pipe_s),
        ("paint", details.paint_s),
    )
    parts = tuple(
        (f"{name} {seconds_text(seconds)}", seconds)
        for name, seconds in named
        if seconds is not None
    )
    value = f"TTFT {seconds_text(details.ttft_s)}"
    hint = _TTFT_HINT
    if details.pipe_s is None:
        hint += _NO_PIPE
    elif details.paint_s is None:
        hint += _NO_PAINT
    else:
        seen_s = details.ttft_s + details.pipe_s + details.paint_s
        value += f" · on the screen after {seconds_text(seen_s)}"
    return Detail("Time to first token", value, hint, parts=parts)


def _tpot(details: TurnDetails) -> Detail | None:
    if details.tpot_s is None:
        return None
    value = f"TPOT {seconds_text(details.tpot_s)}"
    if details.itl_p50_s is not None and details.itl_p99_s is not None:
        value += f" · ITL p50 {seconds_text(details.itl_p50_s)}"
        value += f" · p99 {seconds_text(details.itl_p99_s)}"
    return Detail("Time per token", value, _TPOT_HINT)


def _prompt(details: TurnDetails) -> Detail:
    computed = max(0, details.prompt_tok - details.reused_tok)
    value = f"{details.prompt_tok:,} tokens: {details.reused_tok:,} cached, {computed:,} computed"
    parts: tuple[tuple[str, float], ...] = ()
    if details.reused_tok and computed:
        parts = (
            (f"cached {details.reused_tok:,}", float(details.reused_tok)),
            (f"computed {computed:,}", float(computed)),
        )
    hint = f"{details.why_recomputed} {_PROMPT_HINT}" if details.why_recomputed else _PROMPT_HINT
    return Detail("Prompt", value, hint, parts=parts)


def _drafts(details: TurnDetails) -> Detail | None:
    share = acceptance(details.drafted_tok, details.accepted_tok)
    if share is None:
        return None
    value = f"drafted {details.drafted_tok:,}, accepted {details.accepted_tok:,} · α {share:.0%}"
    if details.tokens_per_pass is not None:
        value += f" · {details.tokens_per_pass:.2f} tokens a pass"
    bars = tuple(zip(details.drafted_at, details.accepted_at, strict=False))
    said = [
        f"position {place}: {accepted:,} of {drafted:,}"
        for place, (drafted, accepted) in enumerate(bars[:_SAID_POSITIONS], 1)
    ]
    if len(bars) > _SAID_POSITIONS:
        rest = bars[_SAID_POSITIONS:]
        drafted, accepted = sum(d for d, _ in rest), sum(a for _, a in rest)
        said.append(f"all further ones: {accepted:,} of {drafted:,}")
    return Detail(
        "Drafts", value, _DRAFTS_HINT, bars=bars, bars_text=f"Accepted, {', '.join(said)}"
    )
