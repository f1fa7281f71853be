"""Named configurations: what a profile is, what becomes of the settings with it, what that costs.

Pure; knows configurations and facts of models, no file and no window.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from app.model_bound import OF_ONE_MODEL
from engine_bridge.gguf_sampling import recommended
from engine_bridge.metrics.observations import model_key
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import cost_of_change, cost_of_key
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import BY_KEY

MOST_NAME_CHARACTERS = 80
DEFAULTS, MODELS_OWN, LAST = "Defaults", "The model's own", "Last used with this model"
BUILT_IN_NAMES = (DEFAULTS, MODELS_OWN, LAST)
# Ids of profiles that no person made.
DEFAULTS_ID, MODELS_OWN_ID, LAST_ID = "built-in.defaults", "built-in.model", "built-in.last"
# Which model is loaded is no matter of a profile: files move, and loading takes seconds.
_NO_PROFILE_S = ("model_path",)
# They join letters of some scripts, and pictures; what else cannot be seen is left out.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True)
class ModelScope:
    """The model that a profile is for, by what its header says: its file may move.

    Attributes:
        key: ``observations.model_key``.
        name: For people, e.g. ``Gemma 3 270m · Q4_K_M``.
    """

    key: str
    name: str

    @classmethod
    def of(cls, facts: ModelFacts) -> ModelScope:
        """The scope of a model that was read."""
        return cls(model_key(facts), f"{facts.name} · {facts.quantisation}")


@dataclass(frozen=True)
class Profile:
    """One named configuration.

    Attributes:
        name: As a person gave it, at most 80 characters.
        settings: Settings that differ from the defaults, by key, as JSON has them; some may be
            unknown to this version of the program, and stay.
        model: The model that it is for; None for all.
        saved_s: When it was saved, in seconds since 1970; 0 where nobody knows.
        id: Of its file; of those that are built in their own.
        about: Where it comes from, a sentence; empty for what a person made.
        rest: What else its file said, which stays.
    """

    name: str
    settings: Mapping[str, object]
    model: ModelScope | None = None
    saved_s: float = 0.0
    id: str = ""
    about: str = ""
    rest: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_built_in(self) -> bool:
        """Whether it comes from the program or the model, and no person can change it."""
        return self.id in (DEFAULTS_ID, MODELS_OWN_ID, LAST_ID)


@dataclass(frozen=True)
class Taken:
    """What this version of the program makes of a profile.

    Attributes:
        config: The settings, without a model; whatever the profile does not say is at its default.
        left_out: A sentence for each value that its setting does not take.
        unknown: Keys that this version has no setting for.
    """

    config: EngineConfig
    left_out: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def caution(self) -> str:
        """What of the profile has no effect here; empty where all has."""
        sentences = list(self.left_out)
        if self.unknown:
            sentences.append(
                f"Unknown to this version, kept and without effect: {', '.join(self.unknown)}."
            )
        return " ".join(sentences)


@dataclass(frozen=True)
class Difference:
    """One setting in which two configurations differ.

    Attributes:
        key: Of the setting.
        before: Its value in the first.
        after: Its value in the second.
        cost: What going from the first to the second costs for this setting.
    """

    key: str
    before: Value
    after: Value
    cost: Applies


# --- Making ----------------------------------------------------------------------------------


def checked_name(text: str) -> str:
    """A name as it is kept: in one line, without what cannot be seen.

    Raises:
        ValueError: If it is no name; the message says why, in a sentence.
    """
    seen = "".join(
        character
        for character in unicodedata.normalize("NFC", text)
        if character.isprintable() or character.isspace() or character in _JOINERS
    )
    name = " ".join(seen.split())
    if not name.strip(_JOINERS):
        raise ValueError("A profile needs a name.")
    if len(name) > MOST_NAME_CHARACTERS:
        raise ValueError(
            f"The name has {len(name):,} characters; {MOST_NAME_CHARACTERS} are the most."
        )
    return name


def folded(name: str) -> str:
    """``name`` as it is compared: two that differ in capitals alone would be taken for one."""
    return unicodedata.normalize("NFKC", name).casefold()


def free_name(name: str, taken: Iterable[str]) -> str:
    """``name``, with a number behind it where it is taken or built in."""
    there = {folded(each) for each in (*taken, *BUILT_IN_NAMES)}
    found, number = name, 2
    while folded(found) in there:
        behind = f" ({number})"
        found, number = name[: MOST_NAME_CHARACTERS - len(behind)] + behind, number + 1
    return found


def profile_of(
    config: EngineConfig, name: str, model: ModelScope | None, saved_s: float
) -> Profile:
    """``config`` as a profile, without what is no matter of one."""
    return Profile(name, settings_for(config, model), model, saved_s)


def changed_to(profile: Profile, config: EngineConfig, saved_s: float) -> Profile:
    """``profile`` with the settings of ``config``; those that are unknown here stay in it."""
    unknown = {key: value for key, value in profile.settings.items() if key not in BY_KEY}
    return replace(profile, settings=unknown | settings_for(config, profile.model), saved_s=saved_s)


def settings_for(config: EngineConfig, model: ModelScope | None) -> dict[str, object]:
    """What of ``config`` a profile keeps, as JSON has it.

    Args:
        config: The settings.
        model: Whose profile it is; one for all models keeps nothing that was made for one.
    """
    left_out = _not_of(model)
    return {
        key: list(value) if isinstance(value := getattr(config, key), tuple) else value
        for key in config.changed_from(EngineConfig())
        if key not in left_out
    }


def keys_left_out(config: EngineConfig, model: ModelScope | None) -> tuple[str, ...]:
    """Settings of ``config`` that a profile for ``model`` would not keep, the model itself apart.

    Args:
        config: The settings.
        model: None for a profile for all models.
    """
    changed = config.changed_from(EngineConfig())
    left_out = _not_of(model)
    return tuple(key for key in changed if key in left_out and key not in _NO_PROFILE_S)


def _not_of(model: ModelScope | None) -> Collection[str]:
    return _NO_PROFILE_S if model is not None else (*_NO_PROFILE_S, *OF_ONE_MODEL)


# --- Those that are built in -----------------------------------------------------------------


def built_in(facts: ModelFacts | None) -> tuple[Profile, ...]:
    """The profiles that nobody had to make.

    Args:
        facts: Of the loaded model; None without one.
    """
    defaults = Profile(
        DEFAULTS, {}, id=DEFAULTS_ID, about="What TuneDeck starts with, for every model."
    )
    if facts is None or not facts.sampling:
        return (defaults,)
    said = recommended(facts.sampling)
    usual = EngineConfig().values()
    settings = {key: value for key, value in said.values.items() if value != usual[key]}
    sentences = (
        f"Sampling as the file of {facts.name} recommends it (general.sampling in its header); "
        "everything else at its default.",
        *said.left_out,
    )
    return defaults, Profile(
        MODELS_OWN, settings, ModelScope.of(facts), id=MODELS_OWN_ID, about=" ".join(sentences)
    )


def last_used(profile: Profile) -> Profile:
    """What a file says that ran last with a model, as the profile that a person is offered."""
    when = ""
    if profile.saved_s > 0:
        when = time.strftime(" (%Y-%m-%d %H:%M)", time.localtime(profile.saved_s))
    of = f" with {profile.model.name}" if profile.model is not None else ""
    count = len(profile.settings)
    noun = "setting differs" if count == 1 else "settings differ"
    said = f"{count:,} {noun} from the defaults." if count else "All settings at their defaults."
    return replace(
        profile, name=LAST, id=LAST_ID,
        about=f"What ran last{of} before it was loaded this time{when}. {said}",
    )  # fmt: skip


# --- Switching -------------------------------------------------------------------------------


def taken(profile: Profile) -> Taken:
    """The settings of ``profile``, as far as this version of the program has and allows them.

    May take some milliseconds for a profile with a grammar.
    """
    config = EngineConfig()
    left_out: list[str] = []
    unknown: list[str] = []
    for key, value in profile.settings.items():
        if key not in BY_KEY:
            unknown.append(key)
        elif key not in _not_of(profile.model):
            try:
                config = config.with_values({key: value})
            except DomainError as error:
                default = BY_KEY[key].domain.format(BY_KEY[key].default)
                left_out.append(f"{error} It is left out, and {default} taken.")
        elif key not in _NO_PROFILE_S:
            left_out.append(f"{BY_KEY[key].label} ({key}) is of one model and is left out.")
    return Taken(config, tuple(left_out), tuple(unknown))


def switched(now: EngineConfig, profile: Taken) -> EngineConfig:
    """The settings once ``profile`` is chosen: only the model stays as it is in ``now``."""
    kept = {key: getattr(now, key) for key in _NO_PROFILE_S}
    return msgspec.structs.replace(profile.config, **kept)


def cost_of_switching(now: EngineConfig, profile: Taken) -> Applies | None:
    """What the engine has to do to go from ``now`` to ``profile``; None for nothing."""
    return cost_of_change(now, switched(now, profile))


def difference(first: EngineConfig, second: EngineConfig) -> tuple[Difference, ...]:
    """The settings in which two configurations differ, in the table's order; the model apart."""
    second = msgspec.structs.replace(second, model_path=first.model_path)
    return tuple(
        Difference(key, getattr(first, key), getattr(second, key), cost_of_key(key, first, second))
        for key in second.changed_from(first)
    )


def fits(profile: Profile, model: ModelScope | None) -> bool:
    """Whether ``profile`` can be switched to while ``model`` is loaded, None being no model."""
    return profile.model is None or (model is not None and profile.model.key == model.key)
