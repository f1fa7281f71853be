"""The draft advisor's words: its advice with the reason, and each figure with what it means."""

from __future__ import annotations

from collections.abc import Callable

from app.figures import seconds_text
from engine_bridge.metrics.speculation import LEAST_PASSES, DraftFigures
from engine_bridge.metrics.speculation_advice import LEAST_GAIN, Advice, Verdict, advice_for
from widgets.message_record import Detail

NO_MODEL = "Advice on drafts appears here once a model is loaded."
_WAITING = (
    "The figures of this conversation appear here after its first answer with these settings of at "
    f"least {LEAST_PASSES} passes, with no other answer under way beside it."
)
_NO_BASELINE = "No turn without drafts was measured yet."
_FORMULA_HINT = (
    "Expected: (1 − α^(k+1)) / (1 − α) for a draft of k tokens, one for a pass without a draft. α "
    "is there the share of those guesses before which the whole draft held"
)


def off_words(baseline_turns: int) -> Detail:
    """What stands there while nothing drafts."""
    if not baseline_turns:
        words = (
            "The next answer will be what drafts are held against: measured without them, with "
            "this model and these settings."
        )
    else:
        words = (
            f"{_turns(baseline_turns)} without drafts measured with this model and these settings. "
            "Choose drafts above, and answers with them are held against that."
        )
    return Detail("Drafts are off", "", words)


def waiting_words() -> Detail:
    """What stands there while drafts have not done enough yet."""
    return Detail("Not measured yet", "", _WAITING)


def advice_details(figures: DraftFigures, spec_types: tuple[str, ...]) -> tuple[Detail, ...]:
    """The advice, and all that it rests on."""
    advice = advice_for(figures, spec_types)
    return (
        Detail(_TITLES[advice.verdict].format(advice.draft_tok), "", _reason(advice, figures)),
        *_acceptance(figures),
        _tokens(figures),
        _cost(figures),
        _gain(figures),
    )


_TITLES = {
    Verdict.KEEP: "Keep the drafts",
    Verdict.SHORTEN: "Shorten the drafts to {}",
    Verdict.SWITCH_OFF: "Switch the drafts off",
    Verdict.TRY_COPIES: "Try ngram-mod",
    Verdict.NOTHING_DRAFTED: "Keep or loosen",
    Verdict.NO_DIFFERENCE: "Keep measuring",
    Verdict.MEASURE_BASELINE: "Measure without drafts",
}


def _reason(advice: Advice, figures: DraftFigures) -> str:
    return _REASONS[advice.verdict](advice, figures)


def _why_off(_: Advice, figures: DraftFigures) -> str:
    if figures.accepted_tok == 0:
        return f"None of {figures.drafted_tok:,} drafted tokens was accepted."
    return (
        f"Answers here come {_share(figures.gain)} slower than without; "
        f"{_share(figures.alpha)} of the drafted tokens were accepted, which does not pay for them."
    )


def _why_shorter(advice: Advice, _: DraftFigures) -> str:
    return (
        f"Of the guesses behind position {advice.draft_tok}, {_share(advice.behind_share)} held. "
        "At the measured cost of a guess shorter drafts would be about "
        f"{_share(advice.estimated_gain)} faster than now: an estimate, to be measured."
    )


def _why_copies(_: Advice, figures: DraftFigures) -> str:
    return (
        f"Answers here come {_share(figures.gain)} slower than without, though "
        f"{_share(figures.reached_alpha)} of the guesses that were reached held: they are good "
        "but dear. ngram-mod copies and asks no model."
    )


def _why_nothing(_: Advice, figures: DraftFigures) -> str:
    return (
        f"Nothing was drafted in {figures.passes:,} passes, so drafts bring nothing here. A "
        "shorter match drafts more often; text that never repeats needs a draft model."
    )


_REASONS: dict[Verdict, Callable[[Advice, DraftFigures], str]] = {
    Verdict.KEEP: lambda _, f: f"Answers here come {_share(f.gain)} faster than without.",
    Verdict.SHORTEN: _why_shorter,
    Verdict.SWITCH_OFF: _why_off,
    Verdict.TRY_COPIES: _why_copies,
    Verdict.NOTHING_DRAFTED: _why_nothing,
    Verdict.NO_DIFFERENCE: lambda _, f: (
        f"The difference to turns without drafts is below {_share(LEAST_GAIN)} or within their "
        "spread, so it is none yet."
    ),
    Verdict.MEASURE_BASELINE: lambda _, f: (
        f"{_NO_BASELINE} Switch drafts off for one answer to learn what they gain."
    ),
}


def _share(value: float | None) -> str:
    """``31 %``, without its sign."""
    return f"{abs(value or 0.0):.0%}"


def _acceptance(figures: DraftFigures) -> tuple[Detail, ...]:
    if figures.alpha is None:
        return ()
    bars = tuple(zip(figures.drafted_at, figures.accepted_at, strict=False))
    text = f"{figures.accepted_tok:,} of {figures.drafted_tok:,} drafted tokens accepted"
    hint = f"Accepted / drafted tokens: {text}, in {_turns(figures.turns)} of this conversation."
    return (Detail("Acceptance α", f"{figures.alpha:.0%}", hint, bars=bars, bars_text=text),)


def _tokens(figures: DraftFigures) -> Detail:
    value = f"{figures.tokens_per_pass:.2f} measured"
    expected = figures.expected_per_pass
    if expected is None or figures.reached_alpha is None:
        hint = "Nothing was drafted, so there is nothing to expect."
        return Detail("Tokens a pass", value, hint)
    value += f", {expected:.2f} expected"
    return Detail("Tokens a pass", value, f"{_FORMULA_HINT}: {figures.reached_alpha:.0%}.")


def _cost(figures: DraftFigures) -> Detail:
    title = "Cost of drafting"
    share = figures.cost_share
    if share is None:
        return Detail(title, "not known yet", _NO_BASELINE)
    value = f"{share:.0%} of a pass" if share > 0 else "none that shows"
    base = seconds_text(figures.baseline_tpot_s or 0.0)
    return Detail(
        title,
        value,
        f"A pass takes {seconds_text(figures.pass_s)} with drafts and {base} without. What it "
        "takes more is the making of guesses and their check.",
    )


def _gain(figures: DraftFigures) -> Detail:
    title = "Net gain"
    gain = figures.gain
    if gain is None or figures.baseline_tpot_s is None:
        return Detail(title, "not known yet", _NO_BASELINE)
    return Detail(
        title,
        f"{gain:+.0%}".replace("-", "−"),
        f"Median TPOT {seconds_text(figures.tpot_s)} with drafts ({_turns(figures.turns)}), "
        f"{seconds_text(figures.baseline_tpot_s)} without ({_turns(figures.baseline_turns)} of "
        "this session, same model and other settings). Speed is 1 / TPOT.",
    )


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count:,} turns"
