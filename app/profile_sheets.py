"""Profiles in the words and figures that the menu and the view of profiles show. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.cost_words import cost_words
from app.profile_keeper import Listed
from app.profiles import ModelScope, Profile, difference, fits, switched
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.cost import cost_of_change
from engine_bridge.settings.domain import PathDomain, Value
from engine_bridge.settings.row import Applies
from engine_bridge.settings.table import BY_KEY
from widgets.profile_rows import NOW, ComparedSetting, ProfileRow, ProfileSheet
from widgets.value_text import value_with_unit

BUILT_IN, FOR_ALL, FOR_OTHERS = "Built in", "For all models", "For other models"
_AS_NOW = "As set now"
_ALIKE = "Both are the same."
_IN_FORCE = "You have set all of it, and the engine runs it."
_SET = "You have set all of it; it runs with the next model that you load."
_NO_MODEL = "No model is loaded: switching changes what the next one is loaded with."
_DROPPED = (
    "The engine runs exactly this. What differs above is set and waits for Apply: switching drops "
    "it, and costs nothing."
)
# A list of items wraps no cell of a table.
_MOST_CHARACTERS = 60

Seconds = Callable[[Applies], float | None]
"""How long a change of that cost took the last time; None where it was not measured."""


def rows_of(
    profiles: Sequence[Listed],
    *,
    used_id: str,
    model: ModelScope | None,
    running: EngineConfig | None,
    why_not: Callable[[Listed], str],
    seconds: Seconds,
    has_others: bool,
) -> tuple[ProfileRow, ...]:
    """The rows of a list of profiles, under headings.

    Args:
        profiles: All of them.
        used_id: Id of the one in use; empty for none.
        model: The loaded model.
        running: What the engine runs; None without a model, when switching costs nothing.
        why_not: Says why one cannot be switched to now.
        seconds: What changes took.
        has_others: Whether those for other models are listed as well.
    """
    rows = []
    for listed in profiles:
        profile = listed.profile
        if not has_others and not fits(profile, model):
            continue
        cost = None
        if running is not None and not why_not(listed):
            cost = cost_of_change(running, switched(running, listed.taken))
        rows.append(
            ProfileRow(
                id=profile.id,
                name=profile.name,
                group=_group(profile, model),
                cost="" if cost is None else cost_words(cost, seconds(cost)),
                tip=about(listed),
                why_not=why_not(listed),
                is_chosen=profile.id == used_id,
                is_built_in=profile.is_built_in,
            )
        )
    return tuple(sorted(rows, key=lambda row: _order(row.group)))


def sheet_of(
    listed: Listed,
    other: Listed | None,
    now: EngineConfig,
    running: EngineConfig | None,
    seconds: Seconds,
) -> ProfileSheet:
    """A profile beside another.

    Args:
        listed: The profile.
        other: What it is compared with; None for the settings as they stand now.
        now: Those settings.
        running: What the engine runs; None without a model.
        seconds: What changes took.
    """
    before = now if other is None else switched(now, other.taken)
    after = switched(now, listed.taken)
    settings = tuple(
        ComparedSetting(
            each.key,
            BY_KEY[each.key].label,
            _value(each.key, each.before),
            _value(each.key, each.after),
            str(each.cost),
        )
        for each in difference(before, after)
    )
    return ProfileSheet(
        id=listed.profile.id,
        title=listed.profile.name,
        about=about(listed),
        caution=listed.taken.caution,
        other=NOW if other is None else other.profile.id,
        before=_AS_NOW if other is None else other.profile.name,
        settings=settings,
        total=_total(other, before, after, running, seconds),
    )


def about(listed: Listed) -> str:
    """Whom a profile is for, what it sets, when it was saved; sentences."""
    profile = listed.profile
    if profile.is_built_in:
        return profile.about
    count = len(profile.settings)
    noun = "setting differs" if count == 1 else "settings differ"
    said = [
        f"For {profile.model.name}." if profile.model is not None else "For all models.",
        f"{count:,} {noun} from the defaults." if count else "All settings at their defaults.",
    ]
    if profile.saved_s > 0:
        said.append(time.strftime("Saved %Y-%m-%d %H:%M.", time.localtime(profile.saved_s)))
    return " ".join(said)


def paths_in(profile: Profile) -> tuple[str, ...]:
    """Labels of the settings of a profile that name files of this machine."""
    return tuple(
        BY_KEY[key].label
        for key, value in profile.settings.items()
        if value and key in BY_KEY and (key == "lora" or isinstance(BY_KEY[key].domain, PathDomain))
    )


def words_of_switch(before: EngineConfig, after: EngineConfig) -> str:
    """How many settings a switch changed, and the first few; empty for none."""
    changed = difference(before, after)
    words = [
        f"{BY_KEY[each.key].label} {_value(each.key, each.before)} → {_value(each.key, each.after)}"
        for each in changed[:3]
    ]
    if len(changed) > len(words):
        words.append(f"{len(changed) - len(words):,} more")
    return ", ".join(words)


def file_name_of(profile: Profile) -> str:
    """What an exported profile is called, without what a file system refuses."""
    scope = f" {profile.model.name}" if profile.model is not None else ""
    return f"{profile.name}{scope}"


# --- Inside ----------------------------------------------------------------------------------


def _group(profile: Profile, model: ModelScope | None) -> str:
    if profile.is_built_in:
        return BUILT_IN
    if profile.model is None:
        return FOR_ALL
    if model is not None and fits(profile, model):
        return f"For {model.name}"
    return FOR_OTHERS


def _order(group: str) -> int:
    fixed = {BUILT_IN: 0, FOR_ALL: 2, FOR_OTHERS: 3}
    return fixed.get(group, 1)


def _value(key: str, value: Value) -> str:
    setting = BY_KEY[key]
    text = value_with_unit(setting, value)
    if isinstance(setting.domain, PathDomain):
        text = Path(text).name or "none"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _total(
    other: Listed | None,
    before: EngineConfig,
    after: EngineConfig,
    running: EngineConfig | None,
    seconds: Seconds,
) -> str:
    """What going there costs.

    Args:
        other: What the profile is compared with; None for the settings as they stand.
        before: The settings of that.
        after: Those of the profile.
        running: What the engine runs; None without a model.
        seconds: What changes took.
    """
    if other is None:
        return _total_from_now(before, after, running, seconds)
    cost = _cost(before, after)
    if cost is None:
        return _ALIKE
    return f"Going from “{other.profile.name}” to it costs: {cost_words(cost, seconds(cost))}."


def _total_from_now(
    now: EngineConfig, after: EngineConfig, running: EngineConfig | None, seconds: Seconds
) -> str:
    """What switching does, told of what is set and of what the engine runs, which may differ.

    Switching applies all, so it is what the engine runs that counts.
    """
    is_set = _cost(now, after) is None
    if running is None:
        return _SET if is_set else _NO_MODEL
    cost = _cost(running, after)
    if cost is None:
        return _IN_FORCE if is_set else _DROPPED
    words = cost_words(cost, seconds(cost))
    if is_set:
        return f"You have set all of it, but the engine does not run it yet: Apply costs {words}."
    if _cost(running, now) is None:
        return f"Switching to it costs: {words}."
    return f"Switching to it costs: {words}. It takes the place of what waits for Apply."


def _cost(before: EngineConfig, after: EngineConfig) -> Applies | None:
    return cost_of_change(before, msgspec.structs.replace(after, model_path=before.model_path))
