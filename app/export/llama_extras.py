"""The flags of llama.cpp's server about files and metadata beside the model's own."""

from __future__ import annotations

import re

from app.export.engine_words import engine_words
from app.export.llama_flag import Flag, Situation
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.extra_flag import flag_words
from engine_bridge.settings.placement_items import LoraFile, lora_file

# A drive of Windows, from whose root the path goes on.
_DRIVE = re.compile(r"^[A-Za-z]:(?=[\\/])")


def unsayable_loras(s: Situation) -> tuple[str, ...]:
    """Adapters whose strength the program cannot read, since it cuts at every colon."""
    return tuple(path for path, scale in _loras(s) if scale != 1.0 and ":" in path)


def _loras(s: Situation) -> tuple[LoraFile, ...]:
    return tuple(lora_file(item) for item in s.config.lora)


def _adapters(s: Situation) -> tuple[str, ...]:
    whole = [path for path, scale in _loras(s) if scale == 1.0]
    scaled = [f"{path}:{scale:g}" for path, scale in _loras(s) if scale != 1.0]
    words: tuple[str, ...] = ("--lora", _row(whole)) if whole else ()
    return words + (("--lora-scaled", _row(scaled)) if scaled else ())


def _overrides(s: Situation) -> tuple[str, ...]:
    return ("--override-kv", _row(list(s.config.override_kv))) if s.config.override_kv else ()


def _projector(s: Situation) -> tuple[str, ...]:
    return ("-mm", s.config.mmproj_path) if s.config.mmproj_path else ()


def _row(items: list[str]) -> str:
    """Items as ``parse_csv_row`` of common/arg.cpp reads them."""
    return ",".join(_cell(item) for item in items)


def _cell(item: str) -> str:
    if "," not in item and not item.startswith('"'):
        return item  # a quote in the middle is taken as it stands
    return '"' + item.replace('"', '""') + '"'


EXTRAS: tuple[Flag, ...] = (
    Flag(("mmproj_path",), _projector),
    Flag(("lora",), _adapters),
    Flag(("override_kv",), _overrides),
)


def notes(s: Situation) -> tuple[str, ...]:
    """What the user should know of these flags before running the line."""
    said = [
        f"{s.program} cuts --lora-scaled at every colon and will not find {path}: "
        f"{_without_colon(path)}."
        for path in unsayable_loras(s)
    ]
    if s.config.mmproj_path:
        said.append(
            f"With -mm {s.program} also loads the projector, which takes memory that is not part "
            "of what is shown here; context shift and chunk reuse are off then."
        )
    return tuple(said)


def _without_colon(path: str) -> str:
    """How the adapter is found after all."""
    rest = _DRIVE.sub("", path)
    if rest == path or ":" in rest:
        return "move the file to where its path has none"
    return f"write {rest} and run the line on drive {path[:2]}"


# --- What the desk has no setting for ------------------------------------------------------------

# Each says which model is run, or from where models are chosen.
_MODEL_SOURCES = frozenset(
    {
        "--model", "--hf-repo", "--model-url", "--docker-repo", "--models-dir", "--models-preset",
        "--embd-gemma-default", "--fim-qwen-1.5b-default", "--fim-qwen-3b-default",
        "--fim-qwen-7b-default", "--fim-qwen-7b-spec", "--fim-qwen-14b-spec",
        "--fim-qwen-30b-default", "--gpt-oss-20b-default", "--gpt-oss-120b-default",
        "--vision-gemma-4b-default", "--vision-gemma-12b-default",
    }
)  # fmt: skip
_DRAFT_SOURCES = frozenset({"--model-draft", "--hf-repo-draft"})


def _others(s: Situation) -> tuple[str, ...]:
    return tuple(word for item in s.config.extra_flags for word in flag_words(item))


# Behind all others: of a flag that is said twice the program takes the last.
OTHERS = Flag(("extra_flags",), _others)


def names_model(config: EngineConfig) -> bool:
    """Whether a flag beside the desk's settings says which model is run."""
    return any(names & _MODEL_SOURCES for names in map(_names, config.extra_flags))


def names_draft(config: EngineConfig) -> bool:
    """Whether a draft model is chosen, by the desk or by a flag beside its settings."""
    if config.draft_model_path:
        return True
    return any(names & _DRAFT_SOURCES for names in map(_names, config.extra_flags))


def notes_on_others(s: Situation, desk_words: tuple[str, ...]) -> tuple[str, ...]:
    """What the user should know of them beside the words that the settings make."""
    said: set[str] = set()
    for word in desk_words:
        said |= _spellings(word)
    again = [flag_words(item)[0] for item in s.config.extra_flags if _names(item) & said]
    told = []
    if again:
        told.append(
            f"Other flags say {', '.join(dict.fromkeys(again))} again, and {s.program} takes what "
            "is said last: what is shown here is for the values of the settings."
        )
    return (*told, *_notes_on_unknown(s))


def _notes_on_unknown(s: Situation) -> tuple[str, ...]:
    """The program stops at a flag that it does not have: that is known before it is run."""
    words = engine_words("llama_cpp")
    flags = [flag_words(item)[0] for item in s.config.extra_flags]
    told = []
    for flag in dict.fromkeys(flags):
        known = words.flag(flag)
        if known is None:
            told.append(
                f"{s.program} {words.version} has no flag {flag} and would stop at it: leave it "
                "out unless your version has it."
            )
        elif known.removed:
            heirs = f": {' or '.join(known.heirs)} says it today" if known.heirs else ""
            told.append(f"{s.program} {words.version} has no {flag} any more{heirs}.")
    return tuple(told)


def _names(item: str) -> frozenset[str]:
    return _spellings(flag_words(item)[0])


def _spellings(word: str) -> frozenset[str]:
    """Every spelling of a flag; none of a word that is no flag of this version."""
    known = engine_words("llama_cpp").flag(word)
    return frozenset(known.names) if known is not None else frozenset()
