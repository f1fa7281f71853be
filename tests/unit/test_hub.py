"""The hub's own client against a small hub: what it finds, and what it says when it cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils._http import close_session

from app.library import cli_hub
from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault, HubSort, Quantisation
from app.library.remote_model import fetch_headers
from engine_bridge.gguf_header import read_header
from tests.small_hub import COMMIT, Repository, SmallHub
from tests.unit.gguf_bytes import Gguf

MODEL = Gguf().file()
REPO = "somebody/model-GGUF"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with SmallHub() as server:
        server.repositories[REPO] = Repository(
            {"m-Q4_K_M.gguf": MODEL, "m-Q8_0.gguf": MODEL + b"\0" * 64, "mmproj-F16.gguf": MODEL}
        )
        yield server
    close_session()


@pytest.fixture
def hub(small: SmallHub) -> Hub:
    return Hub(small.url, token="other")


def kind_of(ask: Callable[[], object]) -> tuple[HubFault, str]:
    with pytest.raises(HubError) as found:
        ask()
    return found.value.kind, str(found.value)


def test_that_a_search_finds_repositories_by_their_names(small: SmallHub, hub: Hub) -> None:
    small.repositories["another/one-GGUF"] = Repository({"a.gguf": MODEL}, gated=True, downloads=99)
    assert [model.repo for model in hub.search("")] == ["another/one-GGUF", REPO]
    (found,) = hub.search("another", HubSort.LIKES)
    assert (found.architecture, found.parameters, found.ctx_train_tok) == (
        "qwen2",
        494_000_000,
        32768,
    )
    assert (found.downloads, found.updated, found.is_gated) == (99, "2026-11-30", True)
    assert hub.search("nobody has this") == ()


def test_that_a_repository_is_its_quantisations(hub: Hub) -> None:
    found = hub.repository(REPO)
    assert [model.name for model in found.quantisations] == ["Q4_K_M", "Q8_0"]
    assert found.commit == COMMIT
    assert (found.licence, found.base_model) == ("apache-2.0", "somebody/base")
    assert len(found.projectors) == 1
    chosen = found.quantisation("q4_k_m")
    assert chosen is not None
    assert len(chosen.files[0].sha256) == 64


def test_that_the_sorts_of_the_command_line_are_those_there_are() -> None:
    assert list(cli_hub.SORTS) == [str(sort) for sort in HubSort]


# --- Headers before a download ---------------------------------------------------------------


def test_that_a_header_is_all_that_is_loaded(small: SmallHub, hub: Hub, tmp_path: Path) -> None:
    whole = MODEL + os.urandom(9 << 20)
    small.repositories[REPO].files["m-Q4_K_M.gguf"] = whole
    repository = hub.repository(REPO)
    model = repository.quantisation("Q4_K_M")
    assert model is not None
    path, loaded = fetch_headers(hub, repository, model, tmp_path)
    assert path.stat().st_size == len(whole)
    assert loaded < 3 << 20
    assert small.sent_bytes < 4 << 20
    assert read_header(path).values == read_header_of(MODEL, tmp_path).values


def read_header_of(content: bytes, folder: Path) -> Any:
    path = folder / "whole.gguf"
    path.write_bytes(content)
    return read_header(path)


def test_that_a_hub_that_sends_whole_files_only_is_no_reason_to_load_them(
    small: SmallHub, hub: Hub, tmp_path: Path
) -> None:
    small.repositories[REPO].files["m-Q4_K_M.gguf"] = MODEL + os.urandom(9 << 20)
    small.ignores_ranges = True
    repository = hub.repository(REPO)
    model = repository.quantisation("Q4_K_M")
    assert model is not None
    _, loaded = fetch_headers(hub, repository, model, tmp_path)
    assert loaded < 3 << 20


def test_that_a_file_shorter_than_the_hub_says_is_told(
    small: SmallHub, hub: Hub, tmp_path: Path
) -> None:
    small.repositories[REPO].claims["m-Q4_K_M.gguf"] = len(MODEL) + (5 << 20)
    repository = hub.repository(REPO)
    model = repository.quantisation("Q4_K_M")
    assert model is not None
    kind, sentence = kind_of(lambda: fetch_headers(hub, repository, model, tmp_path))
    assert kind is HubFault.CHANGED
    assert "not as long as the hub says" in sentence


def test_that_a_model_without_all_its_parts_is_not_judged(hub: Hub, tmp_path: Path) -> None:
    repository = hub.repository(REPO)
    torn = Quantisation("Q4_K_M", repository.quantisations[0].files, missing_parts=2)
    kind, sentence = kind_of(lambda: fetch_headers(hub, repository, torn, tmp_path))
    assert kind is HubFault.MISSING
    assert "2 of its parts" in sentence


# --- What goes wrong -------------------------------------------------------------------------


def test_that_a_private_repository_asks_for_the_hubs_own_login(small: SmallHub, hub: Hub) -> None:
    small.repositories[REPO].private = True
    kind, sentence = kind_of(lambda: hub.repository(REPO))
    assert kind is HubFault.LOGIN
    assert "hf auth login" in sentence
    assert Hub(small.url, token=small.token).repository(REPO).repo == REPO


def test_that_gated_files_say_whose_terms_are_to_be_accepted(
    small: SmallHub, hub: Hub, tmp_path: Path
) -> None:
    small.repositories[REPO].gated = True
    repository = hub.repository(REPO)
    assert repository.is_gated
    model = repository.quantisations[0]
    kind, sentence = kind_of(lambda: fetch_headers(hub, repository, model, tmp_path))
    assert kind is HubFault.GATED
    assert "accept" in sentence


def test_that_a_repository_that_is_none_is_said(small: SmallHub, hub: Hub) -> None:
    assert kind_of(lambda: hub.repository("nobody/none"))[0] is HubFault.MISSING
    assert "owner/name" in kind_of(lambda: hub.repository("no such name at all"))[1]
    small.repositories["a/safetensors"] = Repository({"model.safetensors": b"x"})
    assert "no GGUF model" in kind_of(lambda: hub.repository("a/safetensors"))[1]


def test_that_a_hub_that_wants_a_pause_says_how_long(small: SmallHub, hub: Hub) -> None:
    def busy(handler: Any) -> bool:
        handler.say(429, b"{}", Retry_After="7")
        return True

    small.fault = busy
    for ask in (lambda: hub.repository(REPO), lambda: hub.search("x")):
        with pytest.raises(HubError) as found:
            ask()
        assert (found.value.kind, found.value.wait_s) == (HubFault.BUSY, 7.0)
        assert "7 s" in str(found.value)


@pytest.mark.parametrize(
    ("status", "kind"), [(500, HubFault.SERVER), (503, HubFault.SERVER), (403, HubFault.LOGIN)]
)
def test_that_other_refusals_are_sentences(
    small: SmallHub, hub: Hub, status: int, kind: HubFault
) -> None:
    def refuse(handler: Any) -> bool:
        handler.say(status, b"{}")
        return True

    small.fault = refuse
    found, sentence = kind_of(lambda: hub.repository(REPO))
    assert found is kind
    assert sentence.endswith(".")


def test_that_no_network_leaves_the_rest_working() -> None:
    kind, sentence = kind_of(lambda: Hub("http://127.0.0.1:1", token="x").repository(REPO))
    assert kind is HubFault.OFFLINE
    assert "works without it" in sentence


@pytest.mark.parametrize("content", [b"<html>", b"[1, null]", b"[" * 100_000, b"{}", b'"x"', b""])
def test_that_nonsense_from_a_hub_is_a_sentence(small: SmallHub, hub: Hub, content: bytes) -> None:
    def nonsense(handler: Any) -> bool:
        handler.say(200, content, Content_Type="application/json")
        return True

    small.fault = nonsense
    assert kind_of(lambda: hub.repository(REPO))[0] is HubFault.SERVER
    assert kind_of(lambda: hub.search("x"))[0] is HubFault.SERVER
