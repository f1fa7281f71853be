"""``tunedeck hub search`` against a small hub: filters, what it says, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub.utils._http import close_session

from app.cli import main
from tests.small_hub import Repository, SmallHub

Captured = pytest.CaptureFixture[str]
B = 10**9


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with SmallHub() as server:
        for number, (name, kind, count) in enumerate(
            [("a/one-GGUF", "qwen3", 8 * B), ("b/two-GGUF", "llama", B), ("c/x-GGUF", "qwen2", B)]
        ):
            files = {f"m-{quant}.gguf": b"GGUF" for quant in ("Q4_K_M", "Q8_0")[: number + 1]}
            server.repositories[name] = Repository(
                files, downloads=10 - number, architecture=kind, parameters=count
            )
        monkeypatch.setattr("app.library.hub.HfApi.__init__", _asks(server.url))
        yield server
    close_session()


def _asks(url: str) -> Any:
    """The client reads its environment at import, which is over."""
    from huggingface_hub import HfApi  # noqa: PLC0415

    made = HfApi.__init__

    def init(self: HfApi, **options: Any) -> None:
        made(self, **options | {"endpoint": url, "token": "other"})

    return init


def told(capsys: Captured, *words: str, status: int = 0) -> tuple[str, str]:
    assert main(["hub", "search", *words]) == status
    said = capsys.readouterr()
    return said.out, said.err


def test_that_filters_are_words_of_the_command(capsys: Captured) -> None:
    out, err = told(capsys, "--architecture", "qwen*", "--max-parameters", "2B")
    assert [line.split(" · ")[0] for line in out.splitlines()] == ["c/x-GGUF"]
    assert err == "1 of 2 repositories looked through; these are all\n"
    out, _ = told(capsys, "--quantisation", "q8_0", "--min-parameters", "500M")
    assert [line.split(" · ")[0] for line in out.splitlines()] == ["b/two-GGUF", "c/x-GGUF"]


def test_that_the_smallest_stand_first(capsys: Captured) -> None:
    out, _ = told(capsys, "--sort", "smallest")
    assert out.splitlines()[-1].startswith("a/one-GGUF")


def test_that_json_says_how_many_were_looked_through(capsys: Captured) -> None:
    out, err = told(capsys, "--architecture", "llama", "--json")
    answer = json.loads(out)
    assert [model["repo"] for model in answer["models"]] == ["b/two-GGUF"]
    assert answer["models"][0]["quantisations"] == ["Q4_K_M", "Q8_0"]
    assert (answer["looked_through"], answer["is_all"]) == (3, True)
    assert not err


def test_that_nothing_says_which_filter_left_nothing(capsys: Captured) -> None:
    out, _ = told(capsys, "--architecture", "gemma3")
    assert out.startswith("Of 3 repositories looked through none is of the architecture gemma3.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--min-parameters", "7GB"), "Write it as 7B, 1.5B or 500M"),
        (("--min-parameters", "8B", "--max-parameters", "2B"), "no number is from 8B to 2B"),
    ],
)
def test_that_a_size_that_is_none_is_refused_before_anything_is_asked(
    small: SmallHub, capsys: Captured, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hub", "search", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not small.searches


def test_that_what_was_found_before_a_fault_is_not_lost(small: SmallHub, capsys: Captured) -> None:
    for number in range(120):
        small.repositories[f"many/{number}"] = Repository({"m-Q4_K_M.gguf": b""}, downloads=1)

    def busy_later(handler: Any) -> bool:
        if "cursor=" not in handler.path:
            return False
        handler.say(429, b"{}", Retry_After="7")
        return True

    small.fault = busy_later
    out, err = told(capsys, "--architecture", "llama", status=1)
    assert "b/two-GGUF" in out
    assert "Try again in 7 s" in err


def test_that_a_download_says_that_nothing_arrives_and_goes_on(
    small: SmallHub, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small.repositories["a/big-GGUF"] = Repository({"m-Q4_0.gguf": b"G" * (1 << 20)})
    small.stall_after = 1 << 19
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("app.library.download._SILENCE_S", 0.2)
    monkeypatch.setattr("app.library.hub_commands._SILENT_S", 0.1)
    monkeypatch.setattr("app.library.hub_commands._TELL_EVERY_S", 0.0)
    assert main(["hub", "download", "a/big-GGUF", "Q4_0"]) == 0
    said = capsys.readouterr()
    assert "nothing has arrived for 0 s; still trying" in said.err
    assert Path(said.out.strip()).stat().st_size == 1 << 20
