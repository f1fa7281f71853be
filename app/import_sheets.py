"""What an importer found, as the sheet that the window shows, and the values that it would set.

Pure. Every word of the text is escaped and masked on its way into the sheet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from app.import_flags import (
    FLAGS,
    Flags,
    about_models,
    as_pasted,
    flags_of,
    is_unknown,
    lost_key_warning,
    row_key,
    says_model,
    setting_of,
)
from app.import_models import model_key, model_shown
from app.import_problems import problems_shown
from app.import_shown import masked, other_shown, sentence_shown, shown, words_shown
from app.importing.found import Found
from app.importing.found_settings import Usable
from app.importing.other_names import about_others, other_label
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import DomainError, Value
from engine_bridge.settings.row import Group, Setting
from engine_bridge.settings.table import BY_KEY, SETTINGS
from widgets.import_sheet import ImportAsk, ImportCommand, ImportProblem, ImportRow, ImportSheet
from widgets.value_text import value_with_unit

MOST_COMMANDS = 200
"""Commands of one text that are listed; a file with more is a log."""

MapSettings = Callable[[Found], Usable]

_MODEL, _DRAFT = "model_path", "draft_model_path"
_BY_DRAFT = "draft-simple"
# The engine opens these as soon as they are wanted, to say what they would cost.
_FILES = frozenset({_DRAFT, "lora", "lookup_cache_static_path", "lookup_cache_dynamic_path"})
_MACHINES = frozenset({"rpc_servers"})
_DEFAULT = "Not in the text: the default"
_FILE, _MACHINE = "Names a file", "Names other machines"
_WITH_DRAFT, _SECRET = "With the draft model", "Holds a key"
_ABOUT_TICKS = (
    "What names files or machines is opened once it is set, and what holds a key is kept with "
    "your settings: those are taken only if you tick them."
)
_ABOUT_FLAGS = (
    "A flag with a line of its own is taken only if you tick it; beside it stands the reason."
)
_MOST_LINES = 60
_ENGINES = {
    "llama-cpp": "llama.cpp",
    "ollama": "Ollama",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "koboldcpp": "KoboldCpp",
    "jan": "Jan",
    "trtllm": "TensorRT-LLM",
    "trtllm-serve": "TensorRT-LLM",
    "tensorrt-llm": "TensorRT-LLM",
    "lms": "LM Studio",
    "lmstudio": "LM Studio",
    "lm-studio": "LM Studio",
}


@dataclass(frozen=True)
class Surroundings:
    """What a text is held against, and what a person said besides it.

    Attributes:
        wanted: Settings of the desk at present.
        said: Values for what the text leaves open, by number of the command and key.
        paths: Files that a person chose or confirmed, by what the text names (``model_key``).
        running: Path of the model that is loaded; may be empty.
        fills_up: Whether settings that the text does not say go back to their defaults.
    """

    wanted: EngineConfig
    said: Mapping[tuple[int, str], str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    running: str = ""
    fills_up: bool = False


@dataclass(frozen=True)
class Understood:
    """A text, understood.

    Attributes:
        text: It.
        found: The commands of the text as they were read.
        values: For each that is listed the settings that it would set, by key.
        sheet: What is shown of it.
        flags: For each that is listed the flags that leave as they came.
    """

    text: str
    found: tuple[Found, ...]
    values: tuple[Mapping[str, Value], ...]
    sheet: ImportSheet
    flags: tuple[Flags, ...] = ()

    def taken(self, command: int, keys: frozenset[str], wanted: EngineConfig) -> dict[str, object]:
        """What is wanted once a person took rows of a command, by the keys of settings.

        Args:
            command: Number of it, from 0.
            keys: Keys of the rows that are ticked.
            wanted: Settings of the desk at present.
        """
        values = self.values[command]
        taken: dict[str, object] = {key: value for key, value in values.items() if key in keys}
        if any(setting_of(key) != key for key in keys):
            is_same = FLAGS in values and values[FLAGS] == wanted.extra_flags
            follows = FLAGS in taken or is_same
            taken[FLAGS] = self.flags[command].taken(keys, wanted.extra_flags, follows=follows)
        return taken


def understood(
    text: str, found: tuple[Found, ...], around: Surroundings, map_settings: MapSettings
) -> Understood:
    """What ``found`` says, held against ``around``.

    Args:
        text: Where it was found.
        found: What was found in it.
        around: What it is held against.
        map_settings: Makes valid values of the desk's settings.
    """
    taken = found[:MOST_COMMANDS]
    values: list[Mapping[str, Value]] = []
    all_flags: list[Flags] = []
    commands: list[ImportCommand] = []
    for number, each in enumerate(taken):
        filled, asks = _filled(each, number, around)
        usable = map_settings(filled)
        mine = _mine(usable, has_file=bool(around.paths.get(model_key(each), "")))
        flags = flags_of(mine.pop(FLAGS, None), filled, around.wanted, around.running)
        if flags.usual():
            mine[FLAGS] = flags.usual()
        fills = _fills(mine, around) if around.fills_up else {}
        all_flags.append(flags)
        values.append({**fills, **mine})
        part = _Part(each, number, mine, fills, usable.left_out, asks, flags)
        commands.append(_command(part, around))
    more = len(found) - len(taken)
    sentence = f"{more:,} more commands stand in this text and are not listed." if more else ""
    return Understood(
        text, found, tuple(values), ImportSheet(tuple(commands), sentence), tuple(all_flags)
    )


def engine_name(target: str) -> str:
    """The program as people call it."""
    return _ENGINES.get(target.lower(), target) or "a program that is not named"


def _rule_maker(target: str) -> str:
    """Whose rules a program has: all of llama.cpp's have the same."""
    return "llama.cpp" if target.startswith("llama-") else engine_name(target)


# --- Values ------------------------------------------------------------------------------------


def _filled(found: Found, number: int, around: Surroundings) -> tuple[Found, tuple[ImportAsk, ...]]:
    """``found`` with what a person said in place of what it leaves open, and what is asked."""
    settings = dict(found.settings)
    asks: list[ImportAsk] = []
    for key, value in found.settings.items():
        setting = BY_KEY.get(key)
        if value is not None or setting is None or key == _MODEL:
            continue
        said, fault = around.said.get((number, key), ""), ""
        if said.strip():
            try:
                settings[key] = setting.domain.parse(said)
            except DomainError as error:
                fault = str(error)
        asks.append(ImportAsk(key, setting.label, setting.domain.describe(), fault))
    return msgspec.structs.replace(found, settings=settings), tuple(asks)


def _mine(usable: Usable, *, has_file: bool) -> dict[str, Value]:
    """What is taken of it; a file that a person chose takes the place of flags that name one."""
    values = {key: value for key, value in usable.values.items() if key != _MODEL}
    flags = values.get(FLAGS)
    if has_file and isinstance(flags, tuple):
        kept = tuple(flag for flag in flags if not says_model(flag))
        values[FLAGS] = kept
        if not kept:
            del values[FLAGS]
    return values


def _fills(mine: Mapping[str, Value], around: Surroundings) -> dict[str, Value]:
    """Defaults of what is wanted otherwise and not said by the text."""
    return {
        setting.key: setting.default
        for setting in SETTINGS
        if setting.key not in mine
        and setting.group is not Group.MODEL
        and getattr(around.wanted, setting.key) != setting.default
    }


# --- What is shown -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """One command on its way into the sheet: what it sets, and what goes to its default."""

    found: Found
    number: int
    mine: Mapping[str, Value]
    fills: Mapping[str, Value]
    left_out: Mapping[str, str]
    asks: tuple[ImportAsk, ...]
    flags: Flags


def _command(part: _Part, around: Surroundings) -> ImportCommand:
    found, mine = part.found, part.mine
    rows = [_row(BY_KEY[key], mine, around.wanted, found) for key in mine]
    rows += [_row(BY_KEY[key], part.fills, around.wanted, None) for key in part.fills]
    rows += _flag_rows(part.flags, around.wanted)
    rows.sort(key=_place)
    told = " ".join(found.problems)
    open_keys = {key for key, value in found.settings.items() if value is None}
    reasons = [
        ImportProblem("warning", sentence_shown(f"{_label(key)} is not taken: {reason}"))
        for key, reason in part.left_out.items()
        if key != _MODEL and key not in open_keys and reason not in told
    ]
    engine = engine_name(found.target)
    stops = [item for item in part.flags.items if is_unknown(item)]
    reasons += [ImportProblem("warning", sentence_shown(each)) for each in about_models(part.flags)]
    problems = (*reasons, *problems_shown(found.problems, found.healed, stops))
    title = shown(found.title, 80).strip()
    return ImportCommand(
        title=f"{title} · {engine}" if title else f"Command {part.number + 1} · {engine}",
        engine=engine,
        summary=_summary(engine, rows),
        warning=sentence_shown(lost_key_warning(part.flags, found)),
        about_ticks=_about_ticks(rows),
        rows=tuple(rows),
        asks=part.asks,
        model=model_shown(found, around.paths.get(model_key(found), ""), around.running),
        problems=tuple(sorted(problems, key=lambda problem: problem.severity != "error")),
        healed=tuple((shown(each.was), shown(each.to)) for each in found.healed[:_MOST_LINES]),
        kept=words_shown(found.passthrough),
        leaves_again=bool(found.extra_flags),
        others=_others(found, mine, part.flags),
        notes=(*map(sentence_shown, found.notes[:_MOST_LINES]), *about_others(found.other)),
    )


def _row(
    setting: Setting, values: Mapping[str, Value], wanted: EngineConfig, found: Found | None
) -> ImportRow:
    """A row of the table; ``found`` is None where the text does not say it."""
    now, value = getattr(wanted, setting.key), values[setting.key]
    is_changed = now != value
    is_derived = found is not None and _is_derived(setting.key, found)
    mark, is_ticked = "", True
    if is_changed:
        mark = _reserve(setting.key, values, wanted)
        is_ticked = not mark
    if not mark and found is None:
        mark = _DEFAULT
    if not mark and is_derived and found is not None:
        mark = f"Follows from {_rule_maker(found.target)}'s rules"
    return ImportRow(
        setting.key,
        setting.label,
        _value_shown(setting, now),
        _value_shown(setting, value),
        is_changed=is_changed,
        is_derived=is_derived,
        is_ticked=is_ticked,
        mark=mark,
        help=setting.help,
    )


def _flag_rows(flags: Flags, wanted: EngineConfig) -> list[ImportRow]:
    """A row for each flag that waits for a tick of its own."""
    setting = BY_KEY[FLAGS]
    now = _value_shown(setting, wanted.extra_flags)
    return [
        ImportRow(
            row_key(place),
            setting.label,
            now,
            _value_shown(setting, (flags.items[place],)),
            is_ticked=False,
            mark=reason,
            help=setting.help,
        )
        for place, reason in flags.reasons.items()
    ]


def _about_ticks(rows: list[ImportRow]) -> str:
    """Why some are not ticked at first."""
    waiting = [row.key for row in rows if not row.is_ticked]
    others = [key for key in waiting if setting_of(key) == key]
    parts = (_ABOUT_TICKS if others else "", _ABOUT_FLAGS if len(others) < len(waiting) else "")
    return " ".join(filter(None, parts))


def _is_derived(key: str, found: Found) -> bool:
    """Whether the text does not say it and the engine's rules do."""
    return key in found.derived or (key not in found.settings and key != FLAGS)


def _reserve(key: str, values: Mapping[str, Value], wanted: EngineConfig) -> str:
    """Why a changed value is not taken unless a person ticks it; empty where it is."""
    value = values[key]
    if key == FLAGS and any(masked(word) != word for word in _words(value)):
        return _SECRET
    if value in ("", ()):
        return ""
    if key in _FILES:
        return _FILE
    if key in _MACHINES:
        return _MACHINE
    draft = values.get(_DRAFT, wanted.draft_model_path)
    is_with_draft = key == "spec_types" and _BY_DRAFT in _words(value)
    return _WITH_DRAFT if is_with_draft and draft not in ("", wanted.draft_model_path) else ""


def _value_shown(setting: Setting, value: Value) -> str:
    if setting.key == FLAGS and value:
        return shown("  ".join(_words(value)))
    return shown(value_with_unit(setting, value)) or "none"


def _words(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _place(row: ImportRow) -> tuple[bool, int]:
    """Changed ones first, then as the tune column has them."""
    return not row.is_changed, _PLACES[setting_of(row.key)]


_PLACES = {setting.key: place for place, setting in enumerate(SETTINGS)}


def _summary(engine: str, rows: list[ImportRow]) -> str:
    if not rows:
        return f"{engine}: the text says no setting that TuneDeck has."
    count = len({setting_of(row.key) for row in rows})
    noun = "setting" if count == 1 else "settings"
    changed = len({setting_of(row.key) for row in rows if row.is_changed})
    if not changed:
        return f"{engine}: {count:,} {noun}, all as set already."
    would = "differs" if changed == 1 else "differ"
    return f"{engine}: {count:,} {noun}, {changed:,} of which {would} from what is set now."


def _label(key: str) -> str:
    setting = BY_KEY.get(key)
    return setting.label if setting is not None else shown(key, 80)


def _others(found: Found, mine: Mapping[str, Value], flags: Flags) -> tuple[tuple[str, str], ...]:
    """Environment, and what was understood and is no setting of TuneDeck."""
    lines: list[tuple[str, object]] = [
        (key, value)
        for key, value in found.settings.items()
        if key not in BY_KEY and key not in mine and key not in ("hf_repo", "hf_file")
    ]
    lines += [(key, value) for key, value in found.other.items() if key != "source_model"]
    lines += list(found.env.items())
    written = as_pasted(flags)
    return tuple(
        # A switch says by itself whether it is on.
        (shown(written[name], 80), "")
        if name in written and isinstance(value, bool)
        else (shown(written.get(name, other_label(name)), 80), other_shown(name, value))
        for name, value in lines[:_MOST_LINES]
    )
