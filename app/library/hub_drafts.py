"""Looks on a hub for models that can draft for one on this machine, and checks them by headers.

Blocks. Of each model only the header is loaded, into a sparse file, about which the check of local
files says what it says of any (``draft_check``). How much is looked into is bounded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from app.library.draft_check import DraftTarget
from app.library.draft_family import Family, family_of
from app.library.draft_ranking import Target, in_order, ranked
from app.library.hub import Hub
from app.library.hub_draft_shapes import DraftsLookedFor, HubDraft
from app.library.hub_faults import HubError
from app.library.hub_filters import HubFilters
from app.library.hub_shapes import HubFault, HubModel, HubRepository, HubSort, Quantisation
from app.library.quantisations import quantisation_name
from app.library.remote_model import fetch_headers
from engine_bridge.gguf_file import read_model_facts
from engine_bridge.gguf_header import read_header
from engine_bridge.gguf_window import GgufError

MOST_REPOSITORIES = 8
MOST_BYTES = 96 << 20
# A page of what is found is about a megabyte for a hundred.
_MOST_RELATIVES, _MOST_OTHERS = 60, 20
# How those are called that were made to draft for a model.
_DRAFTER_WORDS = ("draft", "eagle3", "dflash", "mtp")
_USUAL = ("Q4_K_M", "Q8_0", "Q4_0", "Q5_K_M", "Q4_K_S", "F16", "BF16")
_MOST_HEADS = 2
# So many answers in a row that never came are the network, not a file.
_SILENT = 2
SILENT = "The search ended early: the hub does not answer any more. Try again later."

Tell = Callable[[HubDraft], None]


class DraftSearch:
    """One search.

    Args:
        hub: Where to look.
        path: Of the model that is to be drafted for.
        most: How many repositories are looked into, at least 1.

    Raises:
        GgufError: If ``path`` is no model that could be drafted for, in a sentence.
    """

    def __init__(self, hub: Hub, path: str, most: int = MOST_REPOSITORIES) -> None:
        """Read the model's header."""
        self._hub = _Metered(hub)
        self._target = DraftTarget(path)
        self._family = family_of(read_header(path), Path(path).name.removesuffix(".gguf"))
        self._most = max(1, most)
        self._names: list[str] = []
        self._found: dict[str, HubModel] = {}
        self._problem = ""
        self._silent = 0  # answers in a row that never came

    @property
    def family(self) -> Family:
        """What is looked for."""
        return self._family

    def run(self, tell: Tell) -> DraftsLookedFor:
        """Look, and tell of each candidate as soon as it is checked.

        Raises:
            HubError: If nothing can be found at all, in a sentence.
        """
        if not self._family.names:
            raise HubError(
                HubFault.MISSING,
                f"{self._target.facts.name} does not say which family it is of, so no relatives "
                "of it can be looked for. Search the hub by a name.",
            )
        facts = self._target.facts
        target = Target(facts.parameters, facts.architecture, self._family)
        self._search()
        hits = in_order(self._found, self._family.names)
        looked = 0
        for model in ranked(hits, target, self._most):
            looked += 1
            try:
                for draft in self._candidates(model):
                    tell(draft)
            except HubError as error:
                if error.kind is HubFault.BUSY:
                    self._problem = str(error)
                    break
                self._note(error)
                tell(self._unknown(model, str(error)))
            if self._silent >= _SILENT:
                self._problem = SILENT
                break
        return DraftsLookedFor(
            tuple(self._names), len(hits), looked, self._hub.loaded_bytes, self._problem
        )

    # --- What is found ------------------------------------------------------------------

    def _search(self) -> None:
        """Ask for relatives, for the model itself and for what was made to draft for it.

        Raises:
            HubError: If nothing was found before the hub failed.
        """
        try:
            smaller = HubFilters(max_parameters=self._target.facts.parameters)
            for name in self._family.names:
                page = next(self._hub.look(name, HubSort.DOWNLOADS, smaller, _MOST_RELATIVES))
                self._add(name, page.models)
            if self._family.own not in self._family.names:
                self._add(self._family.own, self._hub.search(self._family.own, most=_MOST_OTHERS))
            self._search_drafters()
        except HubError as error:
            if not self._found:
                raise
            self._problem = str(error)

    def _search_drafters(self) -> None:
        root = self._family.names[-1]
        before = len(self._found)
        for word in _DRAFTER_WORDS:
            asked = f"{root} {word}"
            self._add(asked, self._hub.search(asked, most=_MOST_OTHERS))
        if len(self._found) > before:
            return
        # A hub that takes several words for one finds nothing by them.
        for word in _DRAFTER_WORDS:
            found = self._hub.search(word)
            self._add(word, [model for model in found if root.casefold() in model.repo.casefold()])

    def _add(self, asked: str, models: Iterable[HubModel]) -> None:
        self._names.append(asked)
        for model in models:
            self._found.setdefault(model.repo, model)

    # --- What is looked into ------------------------------------------------------------

    def _candidates(self, model: HubModel) -> Iterator[HubDraft]:
        """The drafts of one repository, checked.

        Raises:
            HubError: If it cannot be opened, or one of its files not be had.
        """
        repository = self._hub.repository(model.repo)
        for candidate in _files_of(repository, self._target.facts.file_bytes):
            before = self._hub.loaded_bytes
            draft = HubDraft(
                model.repo, repository.commit, candidate, "", model.parameters, model.downloads,
                self._target.facts.file_bytes,
            )  # fmt: skip
            try:
                draft = self._checked(repository, draft)
            except GgufError as error:
                draft = msgspec.structs.replace(draft, problem=str(error))
            except HubError as error:
                if error.kind is HubFault.BUSY:
                    raise
                self._note(error)
                draft = msgspec.structs.replace(draft, problem=str(error))
            yield msgspec.structs.replace(draft, loaded_bytes=self._hub.loaded_bytes - before)

    def _checked(self, repository: HubRepository, draft: HubDraft) -> HubDraft:
        with tempfile.TemporaryDirectory(prefix="tunedeck-drafts-") as folder:
            path, _ = fetch_headers(self._hub, repository, draft.model, Path(folder))
            facts = read_model_facts(path)
            self._silent = 0
            why_not = self._target.why_not_of(facts)
            return msgspec.structs.replace(
                draft, kind=facts.draft_kind, parameters=facts.parameters, why_not=why_not
            )

    def _note(self, error: HubError) -> None:
        self._silent = self._silent + 1 if error.kind is HubFault.OFFLINE else 0

    def _unknown(self, model: HubModel, problem: str) -> HubDraft:
        return HubDraft(
            model.repo, "", Quantisation("", ()), "", model.parameters, model.downloads,
            self._target.facts.file_bytes, problem=problem,
        )  # fmt: skip


class _Metered(Hub):
    """A hub of which no more is loaded than the search may."""

    def __init__(self, hub: Hub) -> None:
        """Ask ``hub``."""
        super().__init__(hub.api.endpoint)
        self.api = hub.api
        self.loaded_bytes = 0

    def part(self, repo: str, commit: str, path: str, begin: int, end: int) -> bytes:
        """Load a part, unless too much was loaded already."""
        if self.loaded_bytes + end - begin > MOST_BYTES:
            raise HubError(
                HubFault.BUSY,
                f"The search ended here: it loads {MOST_BYTES >> 20} MiB of headers at most. Look "
                "into a repository by yourself.",
            )
        content = super().part(repo, commit, path, begin, end)
        self.loaded_bytes += len(content)
        return content


def _files_of(repository: HubRepository, target_bytes: int) -> list[Quantisation]:
    """What is checked of a repository: its usual model, and files that are named as drafts.

    Whatever is as large as the model it would draft for is of no use.
    """
    whole = [
        model
        for model in repository.quantisations
        if not model.missing_parts and 0 < model.size_bytes < target_bytes
    ]
    heads = [head for head in repository.draft_models if 0 < head.size_bytes < target_bytes]
    chosen = _usual(whole)
    return [*([chosen] if chosen is not None else []), *_usual_heads(heads)]


def _usual_heads(heads: list[Quantisation]) -> list[Quantisation]:
    """One file of each draft that comes in several quantisations."""
    groups: dict[str, list[Quantisation]] = {}
    for head in heads:
        stem = head.name.removesuffix(".gguf")
        groups.setdefault(stem.removesuffix(quantisation_name(stem)), []).append(head)
    chosen = [_usual(group) for group in groups.values()]
    return [head for head in chosen if head is not None][:_MOST_HEADS]


def _usual(models: list[Quantisation]) -> Quantisation | None:
    by_name = {_quantisation(model).upper(): model for model in reversed(models)}
    usual = next((by_name[name] for name in _USUAL if name in by_name), None)
    return usual or min(models, key=lambda model: model.size_bytes, default=None)


def _quantisation(model: Quantisation) -> str:
    return quantisation_name(model.name.removesuffix(".gguf"))
