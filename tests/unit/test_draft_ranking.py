"""Which repositories are worth a look for a draft, and in which order."""

from __future__ import annotations

from app.library.draft_family import Family
from app.library.draft_ranking import Target, in_order, ranked
from app.library.hub_shapes import HubModel

_BILLION = 10**9
_TARGET = Target(7_600_000_000, "qwen2", Family(("Qwen2.5-Coder", "Qwen2.5"), "Qwen2.5-Coder-7B"))


def model(
    repo: str, billions: float = 0.0, downloads: int = 10, architecture: str = ""
) -> HubModel:
    return HubModel(
        repo, downloads=downloads, parameters=round(billions * _BILLION), architecture=architecture
    )


def names(*found: HubModel, most: int = 8) -> list[str]:
    hits = in_order({each.repo: each for each in found}, _TARGET.family.names)
    return [each.repo for each in ranked(hits, _TARGET, most)]


def test_that_each_size_is_looked_into_before_a_second_one_of_any() -> None:
    assert names(
        model("a/Qwen2.5-Coder-0.5B-GGUF", 0.494, 90),
        model("b/Qwen2.5-Coder-0.5B-GGUF", 0.494, 80),
        model("a/Qwen2.5-Coder-1.5B-GGUF", 1.54, 70),
        model("a/Qwen2.5-Coder-3B-GGUF", 3.09, 99),
        most=4,
    ) == [
        "a/Qwen2.5-Coder-0.5B-GGUF", "a/Qwen2.5-Coder-1.5B-GGUF", "a/Qwen2.5-Coder-3B-GGUF",
        "b/Qwen2.5-Coder-0.5B-GGUF",
    ]  # fmt: skip


def test_that_the_nearest_relative_of_a_size_is_first_and_one_made_to_draft_before_it() -> None:
    plain = model("a/Qwen2.5-0.5B-GGUF", 0.494, 900)
    near = model("a/Qwen2.5-Coder-0.5B-GGUF", 0.494, 9)
    other = model("a/Qwen2.5-Coder-0.5B-omni", 0.494, 999, architecture="qwen2vl")
    made = model("a/Qwen2.5-DRAFT-0.5B-GGUF", 0.494, 1)
    assert names(plain, other, near, made) == [made.repo, near.repo, plain.repo, other.repo]


def test_that_what_rarely_pays_and_what_is_tiny_come_last() -> None:
    large = model("a/Qwen2.5-Coder-6B", 6.0)
    tiny = model("a/tiny-random-Qwen2.5", 0.003)
    silent = model("a/Qwen2.5-something")
    small = model("a/Qwen2.5-3B", 3.0)
    assert names(silent, tiny, large, small) == [small.repo, large.repo, tiny.repo, silent.repo]


def test_that_the_size_in_a_name_counts_where_the_hub_tells_none() -> None:
    assert names(model("a/Qwen2.5-14B-GGUF"), model("a/Qwen2.5-0.5B-GGUF")) == [
        "a/Qwen2.5-0.5B-GGUF"
    ]


def test_that_models_that_write_no_text_are_left_out() -> None:
    assert names(model("a/Qwen2.5-Embedding-0.6B", 0.6), model("a/Qwen2.5-Reranker", 0.6)) == []


def test_that_heads_and_the_model_itself_have_some_of_the_room() -> None:
    smaller = [model(f"a/Qwen2.5-{number}-GGUF", number / 10) for number in range(1, 20)]
    heads = [model(f"{owner}/Qwen2.5-Coder-7B-EAGLE3", 0.4, ord(owner)) for owner in "abcdef"]
    wrong = model("z/Qwen2.5-Coder-32B-eagle3-GGUF", 0.6, 9_999)
    own = [model(f"{owner}/Qwen2.5-Coder-7B-Instruct-GGUF", 7.6, ord(owner)) for owner in "ab"]
    found = names(*smaller, *heads, wrong, *own)
    assert len(found) == 8
    assert found[-4:] == [*(head.repo for head in reversed(heads[3:])), own[1].repo]
    assert wrong.repo not in found
