"""What the model picker shows, as plain values. Pure: no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from engine_bridge.memory_plan import MemoryPlan


@dataclass(frozen=True)
class ModelGroup:
    """A heading of the list.

    Attributes:
        key: Its identity; groups stand in the order they were set.
        title: E.g. ``Recent`` or a folder's name.
        detail: Its path, for the tooltip; empty for none.
        is_removable: Whether the user added the folder.
    """

    key: str
    title: str
    detail: str = ""
    is_removable: bool = False


@dataclass(frozen=True)
class LookedPlace:
    """A folder that was looked into.

    Attributes:
        title: What people call it.
        path: Where it is, or would be.
        words: What was found, e.g. ``3 models``.
        is_there: Whether there is such a folder.
    """

    title: str
    path: str
    words: str = ""
    is_there: bool = True


@dataclass(frozen=True)
class ModelRow:
    """One model of the list.

    Attributes:
        key: Its identity.
        group: Key of its group.
        name: The file's name.
        about: Size and quantisation in a few words, or why it is greyed.
        size_bytes: Size of all its parts.
        size_text: The same in words.
        modified_s: Seconds since 1970.
        is_greyed: Whether it cannot be loaded.
        sentence: Why not; empty where it can.
        is_loaded: Whether it is the model in use.
    """

    key: str
    group: str
    name: str
    about: str
    size_bytes: int
    size_text: str
    modified_s: float
    is_greyed: bool = False
    sentence: str = ""
    is_loaded: bool = False


@dataclass(frozen=True)
class KvRow:
    """One line of the table of cache types.

    Attributes:
        cache_type: E.g. ``q8_0``.
        per_token: What a token takes in the layers that keep every token, or a dash.
        windowed: The same of the windowed layers; empty where there are none.
        share: How much of f16 that is.
    """

    cache_type: str
    per_token: str
    windowed: str
    share: str


@dataclass(frozen=True)
class ModelSheet:
    """Everything that is known of one model.

    Attributes:
        title: Its name.
        path: Its file.
        sentence: Why it cannot be loaded; empty where it can.
        facts: Labels with their values.
        kv_rows: A line for each cache type; empty where the header does not tell.
        kv_notes: What the table does not say, in sentences.
    """

    title: str
    path: str
    sentence: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    kv_rows: tuple[KvRow, ...] = ()
    kv_notes: str = ""


@dataclass(frozen=True)
class FitView:
    """The engine's own answer to whether a model fits, in words and as a bar.

    Attributes:
        sentence: In words.
        is_short: Whether memory does not suffice.
        plan: What it would take; None without an answer.
        others_bytes: What other programs hold of the memory shown.
        capacity_bytes: Size of that memory, 0 if unknown.
        memory: Which memory it is.
        device: Its name in the plan; None where the plan lies in it whole.
        ways: Changes with which it would fit, tried out: id and text of each.
    """

    sentence: str
    is_short: bool = False
    plan: MemoryPlan | None = None
    others_bytes: int = 0
    capacity_bytes: int = 0
    memory: str = "System memory"
    device: str | None = None
    ways: tuple[tuple[str, str], ...] = ()
