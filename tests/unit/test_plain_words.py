"""What a person reads names settings as the window does, and no room of this program's inside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.export.targets import TARGETS
from app.importing.other_names import other_label
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY

ROOT = Path(__file__).resolve().parents[2]
_KEYS = sorted((key for key in BY_KEY if "_" in key), key=len, reverse=True)
# Not within a flag or a path: those are the words of others.
KEY = re.compile(rf"(?<![\w/.-])({'|'.join(map(re.escape, _KEYS))})(?!\w)")
INSIDE = re.compile(r"\b(the desk|wanted in|as wanted)\b", re.IGNORECASE)
# Names that another engine has for its own things, and that are spelt like ours.
THEIRS = ("PARAMETER main_gpu",)
_MODEL = {"model_path": "/models/a.gguf"}
CONFIGS = [
    {},
    _MODEL,
    _MODEL | {"draft_n_max": 8, "temperature": 0.0, "slots": 1, "draft_p_min": 0.5},
    _MODEL | {"spec_types": ("ngram-simple",), "n_gpu_layers": 99, "ngram_size_n": 8},
    _MODEL | {"spec_types": ("draft-simple",), "draft_model_path": "/models/b.gguf"},
    _MODEL | {"cpu_moe": True, "flash_attn": "off", "prefill_chunk_tok": 128, "kv_unified": True},
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("values", CONFIGS)
def test_that_what_is_said_of_a_command_has_no_key_in_it(
    target: str, values: dict[str, object]
) -> None:
    config = EngineConfig().with_values(values)
    export = TARGETS[target](config, None, None, Shell.POSIX)
    for sentence in (*export.notes, *export.not_carried.values()):
        without = sentence
        for theirs in THEIRS:
            without = without.replace(theirs, "")
        assert not KEY.search(without), sentence


def test_that_problems_of_settings_name_them_as_the_window_does() -> None:
    files = [*ROOT.glob("engine_bridge/settings/*rules.py"), *ROOT.glob("app/*_words.py")]
    files += [ROOT / "app/experiments/workload_fit.py", ROOT / "app/experiments/users_plan.py"]
    assert len(files) > 10
    found = [text for path in files for text in sentences(path) if KEY.search(text)]
    assert found == []


def test_that_no_sentence_speaks_of_what_only_the_code_knows() -> None:
    paths = [path for room in ("app", "widgets", "engine_bridge") for path in _code(ROOT / room)]
    found = [text for path in paths for text in sentences(path) if INSIDE.search(text)]
    assert found == []


def _code(room: Path) -> Iterator[Path]:
    return room.rglob("*.py")


def sentences(path: Path) -> Iterator[str]:
    """Every text with a blank in it but those that document code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in documents and " " in node.value.strip():
            yield node.value


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gpu_mem_fraction", "share of GPU memory that it takes"),
        ("served_model_name", "served model name"),
        ("CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_that_what_is_no_setting_is_called_by_words(name: str, label: str) -> None:
    assert other_label(name) == label
