"""Under which names the relatives of a model are looked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from app.library.draft_family import Family, family_of, is_drafter, size_in


@dataclass
class Header:
    """Says what a test has it say."""

    values: dict[str, str] = field(default_factory=dict)

    def line(self, key: str) -> str:
        return self.values.get(f"{key.removeprefix('general.')}", "")


@pytest.mark.parametrize(
    ("values", "names", "own"),
    [
        (
            {
                "name": "Qwen2.5 Coder 1.5B Instruct GGUF", "basename": "Qwen2.5-Coder",
                "size_label": "1.5B",
            },
            ("Qwen2.5-Coder", "Qwen2.5"),
            "Qwen2.5-Coder-1.5B",
        ),
        (
            {"name": "Gemma 3 270m", "basename": "gemma-3", "size_label": "270M"},
            ("gemma-3",),
            "Gemma-3-270M",
        ),
        ({"name": "Qwen3 30B A3B Instruct 2507"}, ("Qwen3",), "Qwen3-30B"),
        ({"name": "gpt-oss-120b"}, ("gpt-oss",), "gpt-oss-120b"),
        (
            {
                "name": "Mighty Storyteller v2 8B", "size_label": "8B",
                "base_model.0.name": "Llama 3.1 8B Instruct",
            },
            ("Mighty-Storyteller-v2", "Llama-3.1"),
            "Mighty-Storyteller-v2-8B",
        ),
        (
            {"name": "R1 Distill", "base_model.0.repo_url": "https://hub.test/Qwen/Qwen2.5-7B"},
            ("R1-Distill", "R1", "Qwen2.5"),
            "R1-Distill",
        ),
        ({}, ("Phi-3.5-mini", "Phi-3.5"), "Phi-3.5-mini"),
    ],
)  # fmt: skip
def test_that_relatives_are_looked_for_by_the_family_and_by_its_root(
    values: dict[str, str], names: tuple[str, ...], own: str
) -> None:
    assert family_of(Header(values), "Phi-3.5-mini-instruct-Q4_K_M") == Family(names, own)


def test_that_a_name_of_nothing_but_a_size_finds_no_relatives() -> None:
    assert family_of(Header(), "7B-Q4_K_M") == Family((), "")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("Qwen/Qwen2.5-0.5B-Instruct-GGUF", 500_000_000),
        ("ggml-org/gemma-3-270m-it-GGUF", 270_000_000),
        ("somebody/Mixtral-8x7B", 56_000_000_000),
        ("somebody/gemma-3n-E2B-it", 0),
        ("somebody/model", 0),
    ],
)
def test_that_a_size_is_read_from_a_name(name: str, parameters: int) -> None:
    assert size_in(name) == parameters


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("jukofyork/DeepSeek-R1-DRAFT-0.5B-v1.0-GGUF", True),
        ("somebody/Qwen3-8B_eagle3", True),
        ("somebody/Qwen3-8B-EAGLE3-GGUF", True),
        ("somebody/Qwen3.6-27B-MTP-GGUF", True),
        ("somebody/dflash-Qwen3.6-27B", True),
        ("somebody/Draftsman-7B", False),
        ("eagle-labs/Qwen3-8B", False),
        ("Qwen/Qwen3-8B-GGUF", False),
    ],
)
def test_that_a_name_tells_a_drafter(name: str, is_one: bool) -> None:
    assert is_drafter(name) is is_one
