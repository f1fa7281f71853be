"""Repositories of which a hub tells what cannot be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from app.library import hub as hub_module
from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault, HubFile
from app.library.quantisations import sorted_files
from tests.small_hub import SmallHub

_NESTED = "[" * 5_000 + '"mit"' + "]" * 5_000


@pytest.fixture
def hub() -> Iterator[SmallHub]:
    with SmallHub() as hub:
        yield hub


def _sending(hub: SmallHub, content: bytes) -> None:
    def answer(handler: Any) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        # Who asked may hang up in the middle.
        with contextlib.suppress(OSError):
            handler.wfile.write(content)
        return True

    hub.fault = answer


@pytest.mark.parametrize(
    ("size", "card"),
    [('"12"', "{}"), ("12", f'{{"license": {_NESTED}}}')],
    ids=["size", "licence"],
)
def test_that_a_repository_of_odd_values_is_a_fault_of_the_hub(
    hub: SmallHub, size: str, card: str
) -> None:
    file = f'{{"rfilename": "a-Q4_K_M.gguf", "size": {size}}}'
    told = f'{{"id": "owner/name", "siblings": [{file}], "cardData": {card}}}'
    _sending(hub, told.encode())
    with pytest.raises(HubError) as caught:
        Hub(hub.url).repository("owner/name")
    assert caught.value.kind is HubFault.SERVER


def test_that_one_repository_that_cannot_be_read_leaves_the_others_there(hub: SmallHub) -> None:
    _sending(hub, b'[{"id": null}, {"id": "owner/name"}, {"id": "a/b", "downloads": 1.5}, "x"]')
    assert [model.repo for model in Hub(hub.url).search("x")] == ["owner/name"]


@pytest.mark.parametrize("what", ["search", "repository"])
def test_that_an_answer_without_end_is_not_taken_whole(
    hub: SmallHub, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "_MOST_BYTES", 100_000)
    _sending(hub, b"[" + b" " * 4_000_000 + b"]")
    with pytest.raises(HubError, match="cannot be read"):
        Hub(hub.url).search("x") if what == "search" else Hub(hub.url).repository("a/b")


def test_that_an_answer_that_drips_ends(hub: SmallHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "_MOST_S", -1.0)
    _sending(hub, b"[]")
    with pytest.raises(HubError) as caught:
        Hub(hub.url).search("x")
    assert caught.value.kind is HubFault.OFFLINE


def test_that_models_of_one_quantisation_keep_their_own_names() -> None:
    models = sorted_files(HubFile(f"m{i}-Q4_K_M.gguf", 1) for i in range(20_000)).models
    assert len({model.name for model in models}) == 20_000
