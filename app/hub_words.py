"""What was found on a hub, in the view's words. Pure text."""

from __future__ import annotations

from collections.abc import Mapping

from app.figures import bytes_text, count_text
from app.fit_words import way_words
from app.library.hub_filters import HubFilters
from app.library.hub_questions import SearchHub
from app.library.hub_shapes import HubModel, HubRepository, HubSort, Judged, Quantisation
from app.library.quantisations import quantisation_name
from engine_bridge.settings.domain import Value
from widgets.hub_rows import HubHit, HubSheet, HubWish, QuantRow

_DASH = "–"
_USUAL = ("Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M", "Q8_0")
_MIB = 1 << 20
_SHOWN_NAMES = 12
_NO_FILTERS = HubFilters()
_UNASKED_DRAFT = (
    "Its name says that it drafts for another model: “Find drafts on the hub…” in the draft menu "
    "says whether for yours. Choose it to read its header, some MB."
)
_UNASKED = "Choose it to read its header, some MB, and see what it takes here."


def search_of(wish: HubWish) -> SearchHub:
    """What is asked for it."""
    bounds = wish.min_parameters, wish.max_parameters
    filters = HubFilters(wish.architecture, wish.quantisation, *bounds)
    return SearchHub(wish.words, HubSort(wish.sort), filters)


def hit_of(model: HubModel) -> HubHit:
    """One line of what was found."""
    parts = [model.architecture, count_text(model.parameters) if model.parameters else ""]
    parts.append("gated" if model.is_gated else "")
    tip = [model.repo, f"{model.likes:,} likes"]
    if model.updated:
        tip.append(f"changed {model.updated}")
    if model.ctx_train_tok:
        tip.append(f"trained for {model.ctx_train_tok:,} tokens")
    if model.is_gated:
        tip.append("its owner wants terms accepted on its page first")
    if model.quantisations:
        more = ", …" if len(model.quantisations) > _SHOWN_NAMES else ""
        tip.append(f"holds {', '.join(model.quantisations[:_SHOWN_NAMES])}{more}")
    return HubHit(
        model.repo,
        " · ".join(filter(None, parts)),
        f"{model.downloads:,}",
        " · ".join(tip),
    )


def sheet_of(
    repository: HubRepository,
    judged: Mapping[str, Judged],
    under_way: frozenset[str],
    filters: HubFilters = _NO_FILTERS,
) -> HubSheet:
    """A repository with what is known of its models.

    Args:
        repository: It.
        judged: What was found of each, by its name.
        under_way: Names of those whose headers are being read.
        filters: What was looked for: a quantisation that was stands chosen.
    """
    every = [model.name for model in repository.quantisations]
    # Several models of one quantisation are called by their files.
    asked_for = [name for name in every if filters.holds(quantisation_name(name) or name)]
    names = {name.upper(): name for name in asked_for or every}
    usual = next((names[name] for name in _USUAL if name in names), "")
    drafts = repository.draft_models
    first = next(iter(names.values()), drafts[0].name if drafts else "")
    rows = [
        _row(model, judged.get(model.name), is_asked=model.name in under_way)
        for model in repository.quantisations
    ]
    rows += [
        _draft_row(model, judged.get(model.name), is_asked=model.name in under_way)
        for model in drafts
    ]
    return HubSheet(repository.repo, _about(repository), tuple(rows), usual or first)


def _about(repository: HubRepository) -> str:
    licence = repository.licence
    parts = [f"Licence {licence}" if licence else "No licence told"]
    if repository.base_model:
        parts.append(f"made of {repository.base_model}")
    if repository.is_gated:
        parts.append("its owner wants terms accepted on its page first")
    for files, what in ((repository.projectors, "projector"), (repository.drafts, "draft")):
        if files:
            parts.append(f"{len(files)} {what} {'file' if len(files) == 1 else 'files'}")
    return " · ".join(parts)


def _row(model: Quantisation, judged: Judged | None, *, is_asked: bool) -> QuantRow:
    parts = f" in {len(model.files)} parts" if len(model.files) > 1 else ""
    size = f"{bytes_text(model.size_bytes)}{parts}"
    if model.missing_parts:
        sentence = f"{model.missing_parts} of its parts are not in the repository."
        return QuantRow(model.name, size, _DASH, "not whole", sentence, can_download=False)
    if judged is None:
        waiting = "reading its header …" if is_asked else ""
        return QuantRow(model.name, size, _DASH, waiting, "" if is_asked else _UNASKED)
    memory = bytes_text(judged.total_bytes) if judged.total_bytes else _DASH
    return QuantRow(model.name, size, memory, _verdict(judged), _sentence(judged))


def _draft_row(model: Quantisation, judged: Judged | None, *, is_asked: bool) -> QuantRow:
    """A file whose name says that it drafts; some are whole models all the same."""
    if judged is not None or is_asked:
        return _row(model, judged, is_asked=is_asked)
    size = bytes_text(model.size_bytes)
    return QuantRow(model.name, size, _DASH, "named as a draft", _UNASKED_DRAFT)


def _verdict(judged: Judged) -> str:
    if judged.problem:
        return "cannot be said"
    if judged.fits:
        return "fits"
    if judged.ways:
        return f"fits {_with(judged)}"
    return "does not fit"


def _sentence(judged: Judged) -> str:
    if judged.problem:
        return judged.problem
    read = f"{judged.loaded_bytes / _MIB:,.1f} of {judged.size_bytes / _MIB:,.0f} MiB were read"
    if judged.fits:
        return f"It fits with what is set now ({read} to say so)."
    if not judged.ways:
        return f"It does not fit, and no change was found with which it would ({read})."
    ways = "; or ".join(_changes(way) for way in judged.ways)
    return f"It does not fit with what is set now, but would with {ways} ({read})."


def _with(judged: Judged) -> str:
    return f"with {_changes(judged.ways[0])}"


def _changes(way: Mapping[str, Value]) -> str:
    return way_words(dict(way)).removeprefix("Load with ")
