"""Drafts looked for on a small hub: which are offered, and what is said of the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils._http import close_session

from app.cli import main
from app.library import hub as hub_module
from app.library import hub_commands, hub_drafts
from app.library.hub import Hub
from app.library.hub_draft_shapes import DraftsLookedFor, HubDraft
from app.library.hub_draft_words import searched_words
from app.library.hub_drafts import DraftSearch
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault
from engine_bridge.gguf_window import GgufError
from tests.small_hub import COMMIT, Repository, SmallHub
from tests.unit.gguf_bytes import Gguf, llama_values

_WORDS = ["<unk>", "<s>", "</s>", *(f"▁{letter}" for letter in "abcdefgh")]
_OTHER = [*_WORDS[:-1], "▁other"]
# The model that is drafted for: 4,288 weights by its tensors, which a name would call 7B.
_BIG = 4_288


def content(name: str, words: list[str] = _WORDS, architecture: str = "llama", **own: object) -> (
    bytes
):  # fmt: skip
    """A model whose weights are as many bytes as its tensors say."""
    values = {
        key.replace("llama.", f"{architecture}."): value for key, value in llama_values().items()
    }
    values |= {
        "general.architecture": architecture, "general.name": name,
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": words,
    }  # fmt: skip
    values |= {key.replace("__", "."): value for key, value in own.items()}
    tensors = {"token_embd.weight": ((64, 1), 0, 256)}
    return Gguf(values=values, tensors=tensors).file()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    values = llama_values() | {
        "general.name": "Parrot 2 7B Instruct", "general.basename": "Parrot-2",
        "general.size_label": "7B", "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": _WORDS,
    }  # fmt: skip
    path = tmp_path / "parrot-2-7b-instruct-q4_k_m.gguf"
    path.write_bytes(Gguf(values=values).file() + b"\0" * 4096)
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with SmallHub() as server:
        fitting = content("Parrot 2 Tiny")
        server.repositories |= {
            "birds/Parrot-2-tiny-GGUF": Repository(
                {"t-Q8_0.gguf": fitting + b"\0" * 64, "t-Q4_K_M.gguf": fitting},
                parameters=400, architecture="llama", downloads=50,
            ),
            "birds/Parrot-2-other-GGUF": Repository(
                {"o-Q4_K_M.gguf": content("Parrot 2 Other", _OTHER)},
                parameters=900, architecture="llama", downloads=40,
            ),
        }  # fmt: skip
        yield server
    close_session()


@pytest.fixture
def hub(small: SmallHub) -> Hub:
    return Hub(small.url, token="other")


def searched(
    hub: Hub, target: Path, **more: int
) -> tuple[dict[str, HubDraft], DraftsLookedFor]:  # fmt: skip
    told: list[HubDraft] = []
    ended = DraftSearch(hub, str(target), **more).run(told.append)
    return {draft.repo.rpartition("/")[2]: draft for draft in told}, ended


def test_that_each_candidate_is_checked_by_its_header_before_any_download(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    small.repositories["birds/Parrot-2-tiny-GGUF"].files["t-Q4_K_M.gguf"] += bytes(3 << 10)
    drafts, ended = searched(hub, target)
    fits, other = drafts["Parrot-2-tiny-GGUF"], drafts["Parrot-2-other-GGUF"]
    assert (fits.can_draft, fits.kind, fits.model.name) == (True, "draft-simple", "Q4_K_M")
    assert (fits.commit, fits.downloads, fits.parameters) == (COMMIT, 50, 64)
    assert fits.share == pytest.approx(fits.model.size_bytes / target.stat().st_size)
    assert not other.can_draft
    assert "token 10 is “▁h” here and “▁other” in the draft" in other.why_not
    assert (ended.found, ended.looked, ended.problem) == (2, 2, "")
    assert ended.names[0] == "Parrot-2"
    assert ended.loaded_bytes == fits.loaded_bytes + other.loaded_bytes == small.sent_bytes


def test_that_a_head_for_the_model_is_found_and_one_for_another_is_refused(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    head = content("Head", architecture="eagle3", eagle3__target_layers=[0, 1, 1])
    wide = content(
        "Wide", architecture="eagle3", eagle3__target_layers=[0, 1, 1],
        eagle3__target_hidden_size=96,
    )  # fmt: skip
    for name, file in (("Parrot-2-7B", head), ("Parrot-2", wide), ("Parrot-2-70B", head)):
        small.repositories[f"birds/{name}-EAGLE3-GGUF"] = Repository(
            {f"{name}-eagle3-BF16.gguf": file}, parameters=300
        )
    drafts, _ = searched(hub, target)
    assert drafts["Parrot-2-7B-EAGLE3-GGUF"].kind == "draft-eagle3"
    assert drafts["Parrot-2-7B-EAGLE3-GGUF"].can_draft
    assert "reads states of 96 values" in drafts["Parrot-2-EAGLE3-GGUF"].why_not
    assert "Parrot-2-70B-EAGLE3-GGUF" not in drafts  # another size's: nobody needs to look


def test_that_the_model_s_own_repository_is_looked_into_for_what_lies_beside_it(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    head = content("Block", architecture="dflash", dflash__target_layers=[0, 1])
    small.repositories["birds/Parrot-2-7B-Instruct-GGUF"] = Repository(
        {"p-Q4_K_M.gguf": target.read_bytes(), "dflash-p-Q8_0.gguf": head}, parameters=_BIG
    )
    small.repositories["birds/Parrot-2-7B-Base-GGUF"] = Repository(
        {"p-Q4_K_M.gguf": target.read_bytes()}, parameters=_BIG, downloads=1
    )
    drafts, ended = searched(hub, target)
    found = drafts["Parrot-2-7B-Instruct-GGUF"]
    assert (found.kind, found.model.name) == ("draft-dflash", "dflash-p-Q8_0.gguf")
    assert found.can_draft
    assert ended.looked == 3  # of those as large as the model the most downloaded one


def test_that_what_is_as_large_as_the_model_is_not_offered(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    tiny = small.repositories["birds/Parrot-2-tiny-GGUF"]
    tiny.files = {"t-Q4_K_M.gguf": content("Parrot 2 Tiny") + bytes(target.stat().st_size)}
    drafts, ended = searched(hub, target)
    assert list(drafts) == ["Parrot-2-other-GGUF"]
    assert ended.looked == 2


def test_that_gated_and_missing_ones_are_rows_with_a_sentence(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    small.repositories["birds/Parrot-2-tiny-GGUF"].gated = True
    small.repositories["birds/Parrot-2-other-GGUF"].files = {"o-Q4_K_M.gguf": b"<html>" * 99}
    drafts, ended = searched(hub, target)
    gated, broken = drafts["Parrot-2-tiny-GGUF"], drafts["Parrot-2-other-GGUF"]
    assert "accept terms" in gated.problem
    assert "web page" in broken.problem
    assert not gated.can_draft
    assert (gated.why_not, broken.why_not, ended.problem) == ("", "", "")


def test_that_one_that_stalls_does_not_keep_the_others(
    small: SmallHub, hub: Hub, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "_TIMEOUT_S", 0.3)
    small.fault = stalls_at("tiny")
    drafts, ended = searched(hub, target)
    assert "does not answer" in drafts["Parrot-2-tiny-GGUF"].problem
    assert drafts["Parrot-2-other-GGUF"].why_not
    assert (ended.looked, ended.problem) == (2, "")


def test_that_a_hub_that_went_silent_is_not_asked_for_all_of_them(
    small: SmallHub, hub: Hub, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "_TIMEOUT_S", 0.3)
    small.repositories["birds/Parrot-2-third-GGUF"] = Repository(
        {"t-Q4_K_M.gguf": content("Third")}, parameters=2_000
    )
    small.fault = stalls_at("resolve")
    drafts, ended = searched(hub, target)
    assert len(drafts) == 2
    assert ended.problem == hub_drafts.SILENT


def stalls_at(word: str) -> Any:
    def fault(handler: Any) -> bool:
        if "/resolve/" in handler.path and word in handler.path:
            handler.hang()
            return True
        return False

    return fault


def test_that_a_hub_that_wants_a_pause_ends_the_search_with_what_was_found(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    def fault(handler: Any) -> bool:
        if "Parrot-2-other" in handler.path:
            handler.say(429, Retry_After="7")
            return True
        return False

    small.fault = fault
    drafts, ended = searched(hub, target)
    assert list(drafts) == ["Parrot-2-tiny-GGUF"]
    assert "Try again in 7 s" in ended.problem


def test_that_no_more_headers_are_loaded_than_the_search_may(
    small: SmallHub, hub: Hub, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = len(small.repositories["birds/Parrot-2-tiny-GGUF"].files["t-Q4_K_M.gguf"])
    monkeypatch.setattr(hub_drafts, "MOST_BYTES", header + 10)
    drafts, ended = searched(hub, target)
    assert list(drafts) == ["Parrot-2-tiny-GGUF"]
    assert "headers at most" in ended.problem
    assert ended.loaded_bytes <= header + 10


def test_that_as_many_repositories_are_looked_into_as_are_wanted(hub: Hub, target: Path) -> None:
    drafts, ended = searched(hub, target, most=1)
    assert list(drafts) == ["Parrot-2-tiny-GGUF"]
    assert (ended.found, ended.looked) == (2, 1)


def test_that_no_network_is_a_sentence(target: Path) -> None:
    with pytest.raises(HubError) as found:
        DraftSearch(Hub("http://127.0.0.1:1", token="other"), str(target)).run(lambda _: None)
    assert found.value.kind is HubFault.OFFLINE
    assert "does not answer" in str(found.value)


def test_that_a_model_of_no_family_and_a_file_that_is_none_are_said(
    hub: Hub, tmp_path: Path
) -> None:
    nameless = tmp_path / "7B.gguf"
    nameless.write_bytes(content("7B"))
    with pytest.raises(HubError, match="which family it is of"):
        DraftSearch(hub, str(nameless)).run(lambda _: None)
    with pytest.raises(GgufError):
        DraftSearch(hub, str(tmp_path / "absent.gguf"))


# --- On the command line ---------------------------------------------------------------------


@pytest.fixture
def ask(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    def run(*words: str, of: Hub = hub) -> tuple[int, str]:
        monkeypatch.setattr(hub_commands, "Hub", lambda: of)
        return main(["hub", "drafts", *words]), capsys.readouterr().out

    return run


def test_that_the_command_tells_each_candidate_and_how_to_get_it(
    small: SmallHub, ask: Callable[..., tuple[int, str]], target: Path
) -> None:
    head = content("Head", architecture="eagle3")
    small.repositories["birds/Parrot-2-7B-EAGLE3-GGUF"] = Repository(
        {"p-eagle3-BF16.gguf": head}, parameters=300
    )
    status, out = ask(str(target))
    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith("birds/Parrot-2-tiny-GGUF · Q4_K_M · draft-simple · 64 · ")
    assert lines[0].endswith("of the model · can draft")
    assert lines[2] == "    tunedeck hub download birds/Parrot-2-tiny-GGUF Q4_K_M"
    assert lines[3].endswith("· cannot draft")
    assert "    tunedeck hub download birds/Parrot-2-7B-EAGLE3-GGUF p-eagle3-BF16.gguf" in lines
    assert lines[-1].startswith("3 repositories were found, 3 were looked into, ")
    assert lines[-1].endswith("of headers read; 2 can draft.")


def test_that_the_command_has_it_as_json_and_faults_as_sentences(
    ask: Callable[..., tuple[int, str]], target: Path
) -> None:
    status, out = ask(str(target), "--most", "1", "--json")
    told = json.loads(out)
    (draft,) = told["drafts"]
    assert (status, draft["can_draft"], draft["kind"]) == (0, True, "draft-simple")
    assert draft["size_bytes"] == draft["model"]["files"][0]["size_bytes"]
    assert (told["search"]["found"], told["search"]["looked"]) == (2, 1)
    status, out = ask(str(target.parent / "absent.gguf"), "--json")
    assert status == 1
    assert "There is no file absent.gguf" in json.loads(out)["error"]
    status, out = ask(str(target), "--json", of=Hub("http://127.0.0.1:1", token="other"))
    assert (status, json.loads(out)["kind"]) == (1, "offline")


def test_that_a_head_is_downloaded_by_the_name_of_its_file(small: SmallHub, hub: Hub) -> None:
    small.repositories["birds/head"] = Repository({"p-eagle3-BF16.gguf": content("Head")})
    head = hub.repository("birds/head").quantisation("P-eagle3-bf16.gguf")
    assert head is not None
    assert [file.path for file in head.files] == ["p-eagle3-BF16.gguf"]


def test_that_a_search_that_found_nothing_says_what_it_looked_for(
    small: SmallHub, hub: Hub, target: Path
) -> None:
    small.repositories.clear()
    drafts, ended = searched(hub, target)
    assert not drafts
    assert "Parrot-2 or Parrot-2-7B in its name" in searched_words(ended, 0)
