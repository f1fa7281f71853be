"""Asks a hub for models, through its own client: searches, repositories, ranges of files.

Blocks; must not be called on the window's thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from huggingface_hub import HfApi, ModelInfo, constants, hf_hub_url
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import get_session, hf_raise_for_status
from huggingface_hub.utils._validators import validate_repo_id

from app.library.hub_faults import HubError, hub_faults
from app.library.hub_filters import HubFilters, HubFound
from app.library.hub_search import MOST_FOUND, HubSearch, Page, Query
from app.library.hub_shapes import HubFault, HubFile, HubModel, HubRepository, HubSort
from app.library.quantisations import quantisation_names, sorted_files

_TIMEOUT_S = 15.0
# A page of a search is about a megabyte; what is many times that is no hub's.
_MOST_BYTES = 32 * 1024**2
# All of an answer: one that comes a byte at a time never runs into a timeout of its reads.
_MOST_S = 60.0
_PARTIAL = 206
_DAY_CHARS = len("2026-11-30")


class _Gguf(msgspec.Struct):
    """What the hub read in the files of a repository."""

    architecture: str = ""
    total: int = 0
    context_length: int = 0


class _Sibling(msgspec.Struct):
    """A file; a search tells no more of it than its name."""

    rfilename: str = ""


class _Hit(msgspec.Struct):
    """A repository as a search tells of it."""

    id: str
    downloads: int = 0
    likes: int = 0
    lastModified: str = ""  # noqa: N815 - the hub's name
    gated: bool | str = False
    gguf: _Gguf | None = None
    siblings: list[_Sibling] | None = None


class Hub:
    """One hub and who asks it.

    Attributes:
        api: Its client.

    Args:
        endpoint: Its address; None takes ``HF_ENDPOINT``, or the usual hub.
        token: Who asks; None takes what ``hf auth login`` or ``HF_TOKEN`` says.
    """

    def __init__(self, endpoint: str | None = None, token: str | None = None) -> None:
        """Ask nothing yet."""
        # Whoever looks for a model is nobody's statistics; the client would also ask the hub for
        # a list of programs first, and fall over one that is none.
        constants.HF_HUB_DISABLE_TELEMETRY = True
        self.api = HfApi(endpoint=endpoint, token=token, library_name="tunedeck")

    def search(
        self, words: str, sort: HubSort = HubSort.DOWNLOADS, most: int = MOST_FOUND
    ) -> tuple[HubModel, ...]:
        """Repositories with GGUF files whose name has ``words`` in it.

        Args:
            words: May be empty: then all of them.
            sort: What stands first.
            most: How many are asked for, 1 to 1,000.

        Raises:
            HubError: In a sentence.
        """
        *_, found = self.look(words, sort, HubFilters(), most=most)
        return found.first(most).models

    def look(
        self,
        words: str,
        sort: HubSort,
        filters: HubFilters,
        most: int = MOST_FOUND,
        *,
        after: Query = (),
    ) -> Iterator[HubFound]:
        """Look for repositories as ``search`` does, of those that pass ``filters``.

        Args:
            words: May be empty.
            sort: What stands first.
            filters: What passes.
            most: As soon as so many passed no more pages are asked for, 1 to 1,000.
            after: Where an earlier search of the same ended (``HubFound.next``); empty for the
                beginning.

        Returns:
            What is known after each page of the hub's answer; of the last ``is_done`` is True.

        Raises:
            HubError: In a sentence, while it is walked.
        """
        return HubSearch(self._page, words, sort, filters, most=most, after=after).run()

    def _page(self, query: Query) -> Page:
        # Not the client's list_models: that waits for 23 s where there is no network, and as long
        # as a hub says that wants a pause.
        with hub_faults("the search"):
            content, link = self._asked("/api/models", query)
            found = _hits_in(content)
            # Of the next page's address its question alone: a mirror of a hub may name the hub
            # itself, which nobody asked, and which would be sent the token.
            return Page(tuple(map(_model_of, found)), parse_qsl(urlsplit(link).query))

    def repository(self, repo: str) -> HubRepository:
        """What ``owner/name`` holds now.

        Raises:
            HubError: In a sentence; also where it has no GGUF file.
        """
        with hub_faults(repo):
            validate_repo_id(repo)
            content, _ = self._asked(f"/api/models/{repo}", [("blobs", "true")])
            told: Any = ModelInfo  # whose maker has no types
            info = told(**msgspec.json.decode(content, type=dict[str, Any]))
            files = [_file_of(sibling) for sibling in info.siblings or ()]
            models, projectors, drafts = sorted_files(files)
            card: Any = info.card_data or {}
            licence = _words(card.get("license_name") or card.get("license"))
            base_model = _words(card.get("base_model"))
        if not models and not drafts:
            raise HubError(
                HubFault.MISSING,
                f"{repo} holds no GGUF model. Look for a repository of the same model whose name "
                "ends in GGUF.",
            )
        return HubRepository(
            repo,
            info.sha or "main",
            models,
            projectors,
            drafts,
            is_gated=bool(info.gated),
            licence=licence,
            base_model=base_model,
        )

    def _asked(self, path: str, query: Query) -> tuple[bytes, str]:
        """An answer of the hub, and the address of the page after it; bounded in size and time."""
        parts: list[bytes] = []
        size, end_s = 0, time.monotonic() + _MOST_S
        with get_session().stream(
            "GET",
            f"{self.api.endpoint}{path}",
            params=list(query),
            headers=build_hf_headers(token=self.api.token, library_name="tunedeck"),
            timeout=_TIMEOUT_S,
            follow_redirects=True,
        ) as answer:
            hf_raise_for_status(answer)
            for chunk in answer.iter_bytes():
                parts.append(chunk)
                size += len(chunk)
                if size > _MOST_BYTES:
                    raise ValueError(f"the answer is larger than {_MOST_BYTES:,} bytes")
                if time.monotonic() > end_s:
                    raise TimeoutError(f"the answer takes longer than {_MOST_S:.0f} s")
            return b"".join(parts), str(answer.links.get("next", {}).get("url", ""))

    def part(self, repo: str, commit: str, path: str, begin: int, end: int) -> bytes:
        """The bytes ``begin`` to ``end`` (exclusive) of a file.

        Raises:
            HubError: In a sentence; also where the hub does not give parts of files.
        """
        url = hf_hub_url(repo, path, revision=commit, endpoint=self.api.endpoint)
        headers = build_hf_headers(token=self.api.token, library_name="tunedeck")
        headers |= {"Range": f"bytes={begin}-{end - 1}", "Accept-Encoding": "identity"}
        parts, left = [], end - begin
        with (
            hub_faults(f"{repo}/{path}"),
            get_session().stream(
                "GET", url, headers=headers, timeout=_TIMEOUT_S, follow_redirects=True
            ) as answer,
        ):
            hf_raise_for_status(answer)
            if answer.status_code != _PARTIAL and begin:
                raise HubError(
                    HubFault.SERVER,
                    "The hub gives whole files only, so what a model takes cannot be said before "
                    "it is downloaded.",
                )
            # One that ignores the range sends all of the file: no more of it is taken than asked.
            for chunk in answer.iter_bytes():
                parts.append(chunk[:left])
                left -= len(parts[-1])
                if left <= 0:
                    break
        return b"".join(parts)


def _hits_in(content: bytes) -> list[_Hit]:
    """The repositories of an answer; one that cannot be read leaves the others there."""
    each = msgspec.json.decode(content, type=list[msgspec.Raw])
    hits = []
    for raw in each:
        try:
            hits.append(msgspec.json.decode(raw, type=_Hit))
        except msgspec.MsgspecError:
            continue
    if each and not hits:
        raise ValueError("no repository of the answer can be read")
    return hits


def _model_of(hit: _Hit) -> HubModel:
    gguf = hit.gguf or _Gguf()
    return HubModel(
        hit.id,
        downloads=hit.downloads,
        likes=hit.likes,
        updated=hit.lastModified[:_DAY_CHARS],
        is_gated=bool(hit.gated),
        architecture=gguf.architecture,
        parameters=max(0, gguf.total),
        ctx_train_tok=max(0, gguf.context_length),
        quantisations=quantisation_names(file.rfilename for file in hit.siblings or ()),
    )


def _file_of(sibling: Any) -> HubFile:  # noqa: ANN401 - RepoSibling, not exported
    sha256 = sibling.lfs.sha256 if sibling.lfs is not None else ""
    return HubFile(sibling.rfilename, max(0, sibling.size or 0), sha256)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_words(each) for each in value)
    return value if isinstance(value, str) else ""
