"""A comparison of KV caches in sentences, and as a table for a terminal. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from app.experiments.experiment import Cell, Experiment
from app.experiments.quality_figures import excludes_one
from app.experiments.quality_verdict import loss_sentence
from app.experiments.scales import NO_VALUE
from app.experiments.subject_text import subject_lines
from app.experiments.tables import skipped_lines
from app.experiments.text_layout import text_table, wrapped
from app.figures import bytes_text

_DEPTH = re.compile(r"mean_kld_from_(\d+)_tok")
_TOLD_AT = re.compile(r"recall_share_from_(\d+)_percent")
_MEANING = (
    "KLD: Kullback-Leibler divergence of the candidate's next-token distribution from the base's, "
    "in nats; 0 where they are the same. Same top: share of tokens at which both find the same "
    "token most likely. Figures and ± (one standard error) as llama-perplexity --kl-divergence "
    "defines them: chunks of the text, of which the second half is scored."
)


def verdict_sentences(cell: Cell) -> tuple[str, ...]:
    """What the cache of ``cell`` costs, and what it buys; as much as was measured."""
    figures = cell.extra
    told = []
    if "mean_kld" in figures:
        told.append(_cost(cell.name, figures))
        told.append(loss_sentence(cell.name, figures))
    if "recall_lost" in figures:
        told.append(_recall(cell.name, figures))
    if gain := [text for text in (_memory(cell.name, figures), _speed(figures)) if text]:
        told.append(" ".join(gain))
    return tuple(filter(None, told))


def gqa_sentence(gqa_ratio: float) -> str:
    """How many query heads read each KV head; empty for a model without attention."""
    if not gqa_ratio:
        return ""
    if gqa_ratio == 1:
        return "GQA ratio 1: each query head has a KV head of its own."
    return f"GQA ratio {gqa_ratio:g}: each KV head serves {gqa_ratio:g} query heads."


def quality_lines(experiment: Experiment) -> list[str]:
    """All there is to say of a comparison: a column for each cache, the verdicts, the subject."""
    cells = [cell for cell in experiment.cells if cell.extra]
    lines = [experiment.title, ""]
    if cells:
        lines += [*quality_table(cells), ""]
    lines += [*skipped_lines(experiment.cells)]
    for sentence in experiment.conclusion:
        lines += [*wrapped(sentence), ""]
    if cells:
        lines += [*wrapped(_MEANING), ""]
    return lines + subject_lines(experiment)


def quality_rows(cells: Sequence[Cell]) -> list[tuple[str, list[str]]]:
    """Each figure that there is: what it is called, and a text for each cache."""
    rows = [(label, [text(cell.extra) for cell in cells]) for label, text in _rows(cells)]
    return [(label, texts) for label, texts in rows if any(text != NO_VALUE for text in texts)]


def quality_table(cells: Sequence[Cell]) -> list[str]:
    """A line for each figure, a column for each cache; the base is the first."""
    rows = [[label, *texts] for label, texts in quality_rows(cells)]
    return text_table(["", *(cell.name for cell in cells)], rows)


# --- Inside -----------------------------------------------------------------------------

_Figures = dict[str, float]
_Text = Callable[[_Figures], str]


def _cost(name: str, figures: _Figures) -> str:
    ratio, error = figures["ppl_ratio"], figures["ppl_ratio_error"]
    change = "" if excludes_one(ratio, error) else ", no clear difference"
    return (
        f"{name} costs a mean KLD of {_kld(figures['mean_kld'])} ± "
        f"{_kld(figures['mean_kld_error'])} over {figures['scored_tok']:,.0f} tokens. Both find "
        f"the same token most likely in {_hundredths(figures['same_top_share'])} ± "
        f"{_hundredths(figures['same_top_share_error'])} % of them, and perplexity goes from "
        f"{figures['ppl_base']:.4g} to {figures['ppl']:.4g} (× {ratio:.4f} ± {error:.4f}{change})."
    )


def _recall(name: str, figures: _Figures) -> str:
    facts, lost = round(figures["facts"]), round(figures["recall_lost"])
    base = round(figures["recall_share_base"] * facts)
    own = round(figures["recall_share"] * facts)
    among = f", {lost} of those that the base recalled are lost" if lost else ""
    return (
        f"Of {facts} facts told in {figures['recall_ctx_tok']:,.0f} tokens the base recalled "
        f"{base} and {name} {own}{among}."
    )


def _memory(name: str, figures: _Figures) -> str:
    before, after = figures.get("kv_base_bytes"), figures.get("kv_bytes")
    if not before or after is None:
        return ""
    saved = 1 - after / before
    change = f"{100 * abs(saved):.0f} % {'less' if saved >= 0 else 'more'}"
    tokens = f" at {figures['kv_ctx_tok']:,.0f} tokens" if "kv_ctx_tok" in figures else ""
    verb = "buys" if saved >= 0 else "costs"
    return (
        f"{name} {verb} memory: the KV cache takes {bytes_text(after)} in place of "
        f"{bytes_text(before)}{tokens} ({change})."
    )


def _speed(figures: _Figures) -> str:
    if "tpot_ratio" not in figures:
        return ""
    value, low, high = (figures[f"tpot_ratio{end}"] for end in ("", "_low", "_high"))
    where = f"Speed: TPOT behind {figures['tpot_depth_tok']:,.0f} tokens"
    interval = f"between {_longer(low)} and {_longer(high)}"
    if low <= 1 <= high:
        return f"{where} shows no difference ({interval})."
    return f"{where} is {_longer(value)} than the base's ({interval})."


def _longer(ratio: float) -> str:
    return f"{100 * abs(ratio - 1):.1f} % {'longer' if ratio >= 1 else 'shorter'}"


def _rows(cells: Sequence[Cell]) -> list[tuple[str, _Text]]:
    depths = _numbers(_DEPTH, cells)
    return [
        ("mean KLD", _pair("mean_kld", _kld)),
        *((f"  from {at:,} tok", _pair(f"mean_kld_from_{at}_tok", _kld)) for at in depths),
        ("median KLD", _single("median_kld", _kld)),
        ("KLD, 90 % below", _single("p90_kld", _kld)),
        ("KLD, 99 % below", _single("p99_kld", _kld)),
        ("largest KLD", _single("max_kld", _kld)),
        ("same top, %", _pair("same_top_share", _hundredths)),
        *(
            (f"  from {at:,} tok", _pair(f"same_top_share_from_{at}_tok", _hundredths))
            for at in depths
        ),
        ("perplexity", _pair("ppl", "{:.4f}".format)),
        ("  / the base's", _pair("ppl_ratio", "{:.4f}".format)),
        ("facts recalled", _facts),
        *(
            (f"  from {at} % of it", _single(f"recall_share_from_{at}_percent", "{:.0%}".format))
            for at in _numbers(_TOLD_AT, cells)
        ),
        ("KV cache", _single("kv_bytes", bytes_text)),
        ("TPOT / the base's", _tpot),
    ]


def _numbers(name: re.Pattern[str], cells: Sequence[Cell]) -> list[int]:
    """The numbers in names of figures that are one of ``name``, in order."""
    return sorted(
        {int(found[1]) for cell in cells for key in cell.extra if (found := name.fullmatch(key))}
    )


def _single(key: str, words: Callable[[float], str]) -> _Text:
    return lambda figures: words(figures[key]) if key in figures else NO_VALUE


def _pair(key: str, words: Callable[[float], str]) -> _Text:
    def text(figures: _Figures) -> str:
        if key not in figures:
            return NO_VALUE
        return f"{words(figures[key])} ± {words(figures[f'{key}_error'])}"

    return text


def _facts(figures: _Figures) -> str:
    if "facts" not in figures:
        return NO_VALUE
    facts = round(figures["facts"])
    return f"{round(figures['recall_share'] * facts)} of {facts}"


def _tpot(figures: _Figures) -> str:
    # Absolute times of candidates are from different minutes, and would be compared.
    if "tpot_ratio" not in figures:
        return NO_VALUE
    value, low, high = (figures[f"tpot_ratio{end}"] for end in ("", "_low", "_high"))
    return f"{value:.2f} ({low:.2f}–{high:.2f})"


def _kld(value: float) -> str:
    return f"{value:.6f}"


def _hundredths(share: float) -> str:
    return f"{100 * share:.2f}"
