"""The fields of the form: what each is called, in which kinds of experiments it stands. Data alone.

Whoever feeds the form says what an empty field stands for (``FormOffers``); here are the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from widgets.experiments.form_values import CONVERSATION

SOURCE, AXES, DRAFTS = "source", "axes", "drafts"
"""Names of the parts that are more than a field, for sentences beside them."""


class Shape(StrEnum):
    """How a field is filled in."""

    TEXT = "text"
    CHOICE = "choice"
    SWITCH = "switch"
    PATH = "path"


class Part(StrEnum):
    """Headings that fields stand below."""

    WORK = "Work"
    SETTINGS = "Settings"
    MEASURING = "Measuring"


@dataclass(frozen=True)
class FieldSpec:
    """One field.

    Attributes:
        name: Of its text in ``FormValues``.
        label: What it is called.
        kinds: In which it stands.
        part: Below which heading.
        shape: How it is filled in.
        unit: Behind it.
        hint: What it means, a sentence.
        when: Name of another field and the text with which alone this one stands there.
        never_with: Work with which it does not stand there.
    """

    name: str
    label: str
    kinds: tuple[str, ...]
    part: Part = Part.MEASURING
    shape: Shape = Shape.TEXT
    unit: str = ""
    hint: str = ""
    when: tuple[str, str] | None = None
    never_with: str = ""

    def is_never_with(self, source: str) -> bool:
        """Whether it does not stand there with that work."""
        return bool(self.never_with) and self.never_with == source


@dataclass(frozen=True)
class Offer:
    """One of several.

    Attributes:
        key: What it is known by.
        word: What it is called.
        about: What it stands for, a sentence.
        why_not: Why it cannot be chosen now; empty if it can.
    """

    key: str
    word: str
    about: str = ""
    why_not: str = ""


@dataclass(frozen=True)
class FormOffers:
    """What the form offers now.

    Attributes:
        sources: What may be asked of the engine.
        usual: What an empty field stands for, by the field's name, for each source; the empty
            source's count for all.
        choices: Of each field that is a choice, the one taken by itself first.
        notes: Beside a field, what its value means now.
        drafts: Draft models on this machine, by their paths.
        why_no_start: Why nothing can be started now; empty if it can.
        free_kinds: Kinds that this does not hold for.
    """

    sources: tuple[Offer, ...] = ()
    usual: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    choices: Mapping[str, tuple[Offer, ...]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    drafts: tuple[Offer, ...] = ()
    why_no_start: str = ""
    free_kinds: tuple[str, ...] = ()


_PLAYS = ("bench", "sweep", "compare", "users", "tune", "probe")
_OF_SOME_USERS = ("bench", "sweep", "compare", "tune", "probe")
_ON_SETTINGS = ("bench", "sweep", "users", "quality", "tune")

FIELDS: tuple[FieldSpec, ...] = (
    FieldSpec(
        "users", "Users at a time", _OF_SOME_USERS, Part.WORK,
        hint="Each waits for an answer before asking again.",
    ),
    FieldSpec("requests", "Requests", _OF_SOME_USERS, Part.WORK,
              hint="Of a run in total."),
    FieldSpec("judged", "Requests", ("users",), Part.WORK,
              hint="By which each load is judged; a search takes as few as can tell."),
    FieldSpec("prompt_tok", "Prompt length", _PLAYS, Part.WORK, unit="tok",
              hint="Such as 200, or spread: uniform:100:400.", never_with=CONVERSATION),
    FieldSpec("answer_tok", "Answer length", _PLAYS, Part.WORK, unit="tok",
              hint="Written the same way.", never_with=CONVERSATION),
    FieldSpec("ttft_slo_s", "TTFT limit", _PLAYS, Part.WORK, unit="s",
              hint="To the first word; none for no limit."),
    FieldSpec("tpot_slo_ms", "TPOT limit", _PLAYS, Part.WORK, unit="ms",
              hint="Per token of an answer; none for no limit."),
    FieldSpec("text", "Text to read", ("quality",), Part.WORK, Shape.PATH,
              hint="Both caches read it side by side."),
    FieldSpec("settings", "Base settings", _ON_SETTINGS, Part.SETTINGS, Shape.CHOICE),
    FieldSpec("a", "A", ("compare",), Part.SETTINGS,
              hint="Settings as key=value, separated by commas; all else as it runs now."),
    FieldSpec("b", "B", ("compare",), Part.SETTINGS,
              hint="All else as set in the Tune column."),
    FieldSpec("types", "Cache types", ("quality",), Part.SETTINGS,
              hint="K/V pairs to compare with f16, such as q8_0/q4_0, or one for both."),
    FieldSpec("url", "Server", ("probe",), Part.SETTINGS,
              hint="Its address, such as http://localhost:8080."),
    FieldSpec("served", "Model", ("probe",), Part.SETTINGS,
              hint="What the server calls it; needed where it has several."),
    FieldSpec("key_env", "Key from", ("probe",), Part.SETTINGS,
              hint="Variable of the environment that holds the server's key."),
    FieldSpec("beside", "This engine beside it", ("probe",), Part.SETTINGS, Shape.SWITCH,
              hint="As it runs now, in turns on the same work."),
    FieldSpec("purpose", "Settings for", ("tune",), Part.SETTINGS, Shape.CHOICE),
    FieldSpec("ctx_needed_tok", "Context needed", ("tune",), Part.SETTINGS, unit="tok",
              hint="That each slot must have; by the work if left empty."),
    FieldSpec("margin_mib", "Memory margin", ("tune",), Part.SETTINGS, unit="MiB",
              hint="That stays free on every device."),
    FieldSpec("kv_floor", "Coarsest KV type", ("tune",), Part.SETTINGS, Shape.CHOICE),
    FieldSpec("runs", "Runs", ("bench", "probe"), hint="After a warm-up that is thrown away."),
    FieldSpec("by", "Best by", ("sweep",), shape=Shape.CHOICE),
    FieldSpec("rounds", "Rounds", ("sweep",),
              hint="How often each combination is measured; an interval needs 5."),
    FieldSpec("by_ab", "Decided by", ("compare",), shape=Shape.CHOICE),
    FieldSpec("pairs", "Most pairs", ("compare",),
              hint="A run of each; it ends once the difference is clear."),
    FieldSpec("how", "Users", ("users",), shape=Shape.CHOICE),
    FieldSpec("numbers", "Numbers of users", ("users",), hint="Such as 1,2,4,8.",
              when=("how", "numbers")),
    FieldSpec("rates", "Requests per second", ("users",), when=("how", "rates"),
              hint="Such as 0.5,1,2; they arrive whoever waits."),
    FieldSpec("most", "At most", ("users",), unit="users", hint="No larger number is tried.",
              when=("how", "find")),
    FieldSpec("share", "Within the limits", ("users",), unit="%", when=("how", "find"),
              hint="Share of requests that must keep them."),
    FieldSpec("long_prompt_tok", "Long prompt", ("users",), unit="tok",
              hint="Arrives among the chats at the end; 0 leaves it out."),
    FieldSpec("minutes", "Time limit", ("compare",), unit="min",
              hint="No pair begins after it."),
    FieldSpec("minutes_users", "Time limit", ("users",), unit="min",
              hint="No run begins after it."),
    FieldSpec("chunks", "Most chunks", ("quality",), hint="Of the text that are read."),
    FieldSpec("chunk_tok", "Tokens of a chunk", ("quality",), unit="tok",
              hint="The second half of each is scored."),
    FieldSpec("recall", "Recall test", ("quality",), shape=Shape.SWITCH,
              hint="Facts told in a long text are asked for; takes minutes more."),
    FieldSpec("measurements", "Most runs", ("tune",), hint="It ends earlier once it is done."),
    FieldSpec("minutes_tune", "Most minutes", ("tune",), unit="min",
              hint="No run begins after them; 0 for no limit."),
)  # fmt: skip
"""All fields, in the order in which they stand."""

BY_NAME: Mapping[str, FieldSpec] = {spec.name: spec for spec in FIELDS}
