"""The flags of llama.cpp's server about files and metadata beside the model's own."""

from __future__ import annotations

from app.export.llama_flag import Flag, Situation
from engine_bridge.settings.placement_items import LoraFile, lora_file


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
        f"{s.program} cuts --lora-scaled at every colon and will not find {path}: move the file "
        "to where its path has none."
        for path in unsayable_loras(s)
    ]
    if s.config.mmproj_path:
        said.append(
            f"With -mm {s.program} also loads the projector, which takes memory that is not part "
            "of what is shown here; context shift and chunk reuse are off then."
        )
    return tuple(said)
