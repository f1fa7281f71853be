"""Searches with filters against a small hub: what passes, how far they look, what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from huggingface_hub.utils._http import close_session

from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_filters import HubFilter, HubFilters, HubFound
from app.library.hub_found_words import found_words
from app.library.hub_search import MOST_LOOKED_THROUGH
from app.library.hub_shapes import HubModel, HubSort
from app.library.parameter_counts import parameters_text, parse_parameters
from app.library.quantisations import quantisation_names
from tests.small_hub import Repository, SmallHub

B = 10**9
NONE = HubFilters()
BY_ARCHITECTURE = HubFilters(architecture="gemma3")
BY_QUANTISATION = HubFilters(quantisation="Q4_K_M")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    with SmallHub() as server:
        yield server
    close_session()


@pytest.fixture
def hub(small: SmallHub) -> Hub:
    return Hub(small.url, token="other")


def put(small: SmallHub, name: str, *quantisations: str, **facts: Any) -> None:
    files = {f"m-{each}.gguf": b"GGUF" for each in quantisations or ("Q4_K_M",)}
    small.repositories[name] = Repository(files, **facts)


def many(small: SmallHub, count: int, **facts: Any) -> None:
    for number in range(count):
        put(small, f"many/{number:04}", downloads=100_000 - number, **facts)


def last(
    hub: Hub,
    filters: HubFilters,
    words: str = "",
    sort: HubSort = HubSort.DOWNLOADS,
    most: int = 100,
) -> HubFound:
    *_, found = hub.look(words, sort, filters, most=most)
    assert found.is_done
    return found


def said(hub: Hub, filters: HubFilters, words: str = "") -> str:
    return found_words(last(hub, filters, words), filters, HubSort.DOWNLOADS, words)


def repos(found: HubFound) -> list[str]:
    return [model.repo for model in found.models]


# --- What passes --------------------------------------------------------------------------


def test_that_each_sort_is_the_hubs_own(small: SmallHub, hub: Hub) -> None:
    put(small, "a/a", downloads=3, likes=1, trending=2, updated="2026-01-02T00:00:00.000Z")
    put(small, "b/b", downloads=2, likes=3, trending=1, updated="2026-01-01T00:00:00.000Z")
    put(small, "c/c", downloads=1, likes=2, trending=3, updated="2026-01-03T00:00:00.000Z")
    first = {sort: repos(last(hub, NONE, sort=sort))[0] for sort in list(HubSort)[:4]}
    assert first == {
        HubSort.DOWNLOADS: "a/a",
        HubSort.LIKES: "b/b",
        HubSort.UPDATED: "c/c",
        HubSort.TRENDING: "c/c",
    }


def test_that_sizes_are_put_in_order_here_and_the_untold_last(small: SmallHub, hub: Hub) -> None:
    put(small, "a/big", parameters=8 * B, downloads=1)
    put(small, "b/untold", parameters=0, downloads=3)
    put(small, "c/small", parameters=B, downloads=2)
    assert repos(last(hub, NONE, sort=HubSort.SMALLEST)) == ["c/small", "a/big", "b/untold"]
    assert repos(last(hub, NONE, sort=HubSort.LARGEST)) == ["a/big", "c/small", "b/untold"]


@pytest.mark.parametrize(
    ("bounds", "asked", "passing"),
    [
        ((2 * B, 5 * B), "min:2B,max:5B", ["b/3"]),
        ((0, 5 * B), "max:5B", ["b/3", "a/1"]),
        ((2 * B, 0), "min:2B", ["c/8", "b/3"]),
        # The hub takes whole billions: what is between them is filtered here.
        ((1_500_000_000, 3_100_000_000), "min:1B,max:4B", ["b/3"]),
        ((500_000_000, 0), "", ["c/8", "b/3", "a/1"]),
    ],
)
def test_that_sizes_are_the_hubs_to_filter_and_checked_here(
    small: SmallHub, hub: Hub, bounds: tuple[int, int], asked: str, passing: list[str]
) -> None:
    for number, (name, count) in enumerate([("a/1", B), ("b/3", 3 * B), ("c/8", 8 * B)]):
        put(small, name, parameters=count, downloads=number)
    put(small, "d/untold", parameters=0)
    found = last(hub, HubFilters("", "", *bounds))
    assert repos(found) == passing
    assert small.searches[0].get("num_parameters", [""]) == [asked]


def test_that_a_hub_that_ignores_a_size_is_not_believed(small: SmallHub, hub: Hub) -> None:
    put(small, "a/1", parameters=B)
    put(small, "b/8", parameters=8 * B)

    def ignore(handler: Any) -> bool:
        handler.path = handler.path.replace("num_parameters=max%3A2B&", "")
        assert "num_parameters" not in handler.path
        return False

    small.fault = ignore
    assert repos(last(hub, HubFilters(max_parameters=2 * B))) == ["a/1"]


@pytest.mark.parametrize(
    ("wanted", "passing"),
    [
        ("qwen3", ["b/b"]),
        ("QWEN3", ["b/b"]),
        ("qwen*", ["a/a", "b/b", "c/c"]),
        ("qwen", []),
        ("qwen?", []),
        ("[a-z]*", []),
    ],
)
def test_that_an_architecture_is_one_or_all_that_begin_so(
    small: SmallHub, hub: Hub, wanted: str, passing: list[str]
) -> None:
    kinds = [("a/a", "qwen2"), ("b/b", "qwen3"), ("c/c", "qwen3moe"), ("d/d", "llama")]
    for number, (name, kind) in enumerate(kinds):
        put(small, name, architecture=kind, downloads=10 - number)
    assert repos(last(hub, HubFilters(architecture=wanted))) == passing


@pytest.mark.parametrize(
    ("wanted", "passing"),
    [
        ("q4_k_m", ["a/a", "b/b"]),
        ("UD-Q4_K_M", ["b/b"]),
        ("Q4*", ["a/a", "b/b", "c/c"]),
        ("F16", []),
    ],
)
def test_that_a_quantisation_is_told_from_the_names_of_files(
    small: SmallHub, hub: Hub, wanted: str, passing: list[str]
) -> None:
    put(small, "a/a", "Q4_K_M", "Q8_0", downloads=5)
    put(small, "b/b", "UD-Q4_K_M", downloads=4)
    put(small, "c/c", "Q4_0", downloads=3)
    # A projector's type is not the model's.
    small.repositories["d/d"] = Repository({"m.gguf": b"", "mmproj-F16.gguf": b""}, downloads=2)
    found = last(hub, HubFilters(quantisation=wanted))
    assert repos(found) == passing
    assert found.quantisations[0] in {"Q4_K_M", "Q8_0", "UD-Q4_K_M", "Q4_0"}


def test_that_split_models_of_several_folders_are_named_once() -> None:
    names = quantisation_names(
        [
            "Q8_0/m-Q8_0-00001-of-00002.gguf", "Q8_0/m-Q8_0-00002-of-00002.gguf",
            "m-IQ3_XXS.gguf", "other-IQ3_XXS.gguf", "README.md", "mmproj-F16.gguf", "plain.gguf",
        ]
    )  # fmt: skip
    assert names == ("Q8_0", "IQ3_XXS")


# --- How far it looks ---------------------------------------------------------------------


def test_that_it_asks_on_until_enough_pass(small: SmallHub, hub: Hub) -> None:
    many(small, 250)
    for number in range(3):
        put(small, f"rare/{number}", architecture="gemma3", downloads=number)
    steps = list(hub.look("", HubSort.DOWNLOADS, BY_ARCHITECTURE))
    assert [step.looked_through for step in steps] == [100, 200, 253]
    assert [len(step.models) for step in steps] == [0, 0, 3]
    assert [(step.is_done, step.is_all) for step in steps] == [(False,) * 2] * 2 + [(True, True)]
    assert found_words(steps[0], BY_ARCHITECTURE, HubSort.DOWNLOADS, "") == (
        "0 of 100 repositories looked through …"
    )
    assert said(hub, BY_ARCHITECTURE) == "3 of 253 repositories looked through; these are all"


def test_that_it_does_not_look_for_ever(small: SmallHub, hub: Hub) -> None:
    many(small, MOST_LOOKED_THROUGH + 200)
    put(small, "rare/one", architecture="gemma3", downloads=1)
    found = last(hub, BY_ARCHITECTURE)
    assert (found.looked_through, found.is_all) == (MOST_LOOKED_THROUGH, False)
    assert "The hub has more" in said(hub, BY_ARCHITECTURE)


def test_that_it_stops_when_enough_was_found(small: SmallHub, hub: Hub) -> None:
    many(small, 300, architecture="gemma3")
    found = last(hub, BY_ARCHITECTURE, most=20)
    assert (len(found.models), found.looked_through) == (100, 100)
    assert len(found.first(20).models) == 20
    assert len(small.searches) == 1


def test_that_more_than_a_page_is_had_without_filters(small: SmallHub, hub: Hub) -> None:
    many(small, 250)
    assert len(hub.search("", most=230)) == 230
    found = last(hub, NONE, most=100)
    assert found_words(found, NONE, HubSort.DOWNLOADS, "") == "100 repositories; the hub has more"
    assert found_words(found, NONE, HubSort.SMALLEST, "") == (
        "The 100 most downloaded, by size; the hub has more"
    )
    wanted = HubFilters(architecture="qwen2")
    found = last(hub, wanted, most=100)
    assert found_words(found, wanted, HubSort.LARGEST, "") == (
        "100 of the 100 most downloaded looked through, by size; the hub has more"
    )


def test_that_those_beyond_the_first_are_told_as_more(small: SmallHub, hub: Hub) -> None:
    many(small, 50)
    found = last(hub, NONE)
    assert found.is_all
    assert found.first(50).is_all
    assert not found.first(49).is_all


def test_that_a_search_goes_on_where_one_ended(small: SmallHub, hub: Hub) -> None:
    many(small, MOST_LOOKED_THROUGH + 30, parameters=2 * B)
    put(small, "rare/one", architecture="gemma3", downloads=1, parameters=3 * B)
    put(small, "rare/two", architecture="gemma3", downloads=0, parameters=B)
    before = last(hub, BY_ARCHITECTURE)
    assert (before.models, before.emptied_by) == ((), (HubFilter.ARCHITECTURE,))
    *_, later = hub.look("", HubSort.SMALLEST, BY_ARCHITECTURE, after=before.next)
    both = before.followed_by(later, HubSort.SMALLEST)
    assert (both.looked_through, both.is_all, both.next) == (MOST_LOOKED_THROUGH + 32, True, ())
    assert both.emptied_by == ()
    assert repos(both) == ["rare/two", "rare/one"]
    assert both.architectures == ("qwen2", "gemma3")
    assert both.passing == {HubFilter.ARCHITECTURE: 2}
    again = both.followed_by(later, HubSort.LARGEST)
    assert repos(again) == ["rare/one", "rare/two"], "what is told twice is shown once"


def test_that_nothing_after_nothing_still_says_which_filter_left_nothing(
    small: SmallHub, hub: Hub
) -> None:
    many(small, MOST_LOOKED_THROUGH + 30)
    before = last(hub, BY_ARCHITECTURE)
    *_, later = hub.look("", HubSort.DOWNLOADS, BY_ARCHITECTURE, after=before.next)
    both = before.followed_by(later, HubSort.DOWNLOADS)
    assert found_words(both, BY_ARCHITECTURE, HubSort.DOWNLOADS, "") == (
        "Of 1,030 repositories looked through none is of the architecture gemma3. There are: qwen2."
    )


def test_that_the_next_page_is_asked_of_the_same_hub(small: SmallHub, hub: Hub) -> None:
    many(small, 150)
    small.link_host = "http://127.0.0.1:1"
    assert last(hub, BY_ARCHITECTURE).looked_through == 150


def test_that_a_hub_that_sends_one_page_for_ever_is_left(small: SmallHub, hub: Hub) -> None:
    many(small, 150)

    def again(handler: Any) -> bool:
        handler.path = handler.path.partition("&cursor=")[0]
        return False

    small.fault = again
    assert last(hub, BY_ARCHITECTURE).looked_through == 100
    assert len(small.searches) <= 20


def test_that_what_was_found_before_a_fault_was_told(small: SmallHub, hub: Hub) -> None:
    many(small, 150, architecture="gemma3")

    def busy_later(handler: Any) -> bool:
        if "cursor=" not in handler.path:
            return False
        handler.say(429, b"{}", Retry_After="7")
        return True

    small.fault = busy_later
    steps = hub.look("", HubSort.DOWNLOADS, BY_ARCHITECTURE, most=120)
    told = next(steps)
    assert (len(told.models), told.is_done) == (100, False)
    with pytest.raises(HubError, match="7 s"):
        next(steps)


# --- What it says -------------------------------------------------------------------------


def test_that_nothing_says_which_filter_left_nothing(small: SmallHub, hub: Hub) -> None:
    put(small, "a/one", "Q8_0", architecture="llama", parameters=8 * B)
    put(small, "b/two", "Q4_0", architecture="qwen3", parameters=B)
    assert said(hub, BY_ARCHITECTURE) == (
        "Of 2 repositories looked through none is of the architecture gemma3. "
        "There are: llama, qwen3."
    )
    assert said(hub, BY_QUANTISATION) == (
        "Of 2 repositories looked through none holds a quantisation Q4_K_M. There are: Q8_0, Q4_0."
    )
    assert said(hub, HubFilters(min_parameters=20 * B)) == (
        "Of what has GGUF files nothing has 20B parameters or more."
    )
    assert said(hub, HubFilters(min_parameters=20 * B), "one") == (
        "Of what has that in its name nothing has 20B parameters or more."
    )
    assert said(hub, BY_ARCHITECTURE, "zzz") == "Nothing with GGUF files has that in its name."
    assert said(hub, HubFilters(max_parameters=B), "zzz").startswith("Nothing with GGUF files")
    assert said(hub, HubFilters(architecture="llama", quantisation="Q4_0")) == (
        "Of 2 repositories looked through none passes all filters at once: "
        "1 of the architecture llama, 1 with a quantisation Q4_0."
    )
    both = HubFilters(architecture="phi3", quantisation="F32")
    assert "none is of the architecture phi3 and none holds a quantisation F32" in said(hub, both)
    assert last(hub, both).emptied_by == (HubFilter.ARCHITECTURE, HubFilter.QUANTISATION)


def test_that_an_empty_hub_is_said(hub: Hub) -> None:
    assert said(hub, NONE) == "The hub tells of nothing with GGUF files."


def test_that_names_found_are_offered_the_most_frequent_first(small: SmallHub, hub: Hub) -> None:
    for number, kind in enumerate(["llama", "qwen3", "qwen3"]):
        put(small, f"a/{number}", architecture=kind)
    put(small, "a/untold", parameters=0)
    found = last(hub, BY_ARCHITECTURE)
    assert found.architectures == ("qwen3", "llama")
    assert found.passing == {HubFilter.ARCHITECTURE: 0}


def test_that_what_is_not_told_passes_no_filter() -> None:
    model = HubModel("a/b")
    wanted = HubFilters("*", "*", min_parameters=1)
    assert not any(wanted.passes(name, model) for name in wanted.active)


@pytest.mark.parametrize(
    ("text", "count"),
    [("7B", 7 * B), ("1.5b", 1_500_000_000), ("500 M", 500_000_000), ("1T", 10**12), ("9K", 9_000)],
)
def test_that_a_number_of_parameters_is_read_as_people_write_it(text: str, count: int) -> None:
    assert parse_parameters(text) == count
    assert parse_parameters(parameters_text(count)) == count


@pytest.mark.parametrize("text", ["", "7", "B", "-7B", "0B", "7GB", "1e3B", "seven"])
def test_that_what_is_no_number_of_parameters_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of parameters"):
        parse_parameters(text)
