"""An export as the sheet of its view: everything that leaves, and what becomes of each setting."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from app.export.about import ABOUT, OTHERS, about
from app.export.carried import Carried, Manner
from app.export.dialect import Export, ExportedFile
from app.export.targets import TARGETS
from app.export_sheets import TRIED, export_sheet, export_targets, value_words
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY, SETTINGS

CONFIG = EngineConfig().with_values(
    {"model_path": "/models/my model.gguf", "slots": 3, "cache_ram_mib": 512}
)
LINE = "llama-server -m '/models/my model.gguf' -np 4 --cache-ram 512 --temp 0.8"
LINES = LINE.replace(" -", " \\\n  -")
FILE = ExportedFile("compose.yaml", "services: {}\n", "Compose reads it.")


def exported(**changes: object) -> Export:
    values: dict[str, object] = {
        "target": "llama-server", "text": LINE, "notes": ("A note.",),
        "not_carried": {"slots": "It has one."}, "lines": LINES,
        "files": (FILE,),
    }  # fmt: skip
    return Export(**(values | changes))  # type: ignore[arg-type]


def test_that_every_engine_is_described_for_people() -> None:
    for key in TARGETS:
        known = ABOUT[key]
        assert known.name
        for sentence in (known.told, known.needs):
            assert sentence.endswith(".")
            assert "!" not in sentence
    assert {target.key for target in export_targets()} == set(TARGETS)
    assert about("unheard of").group == OTHERS


def test_that_engines_of_one_group_stand_together() -> None:
    groups = [target.group for target in export_targets()]
    assert groups == sorted(groups, key=groups.index)
    assert {target.key for target in export_targets() if target.can_be_tried} == set(TRIED)


def test_that_the_command_comes_before_its_files_with_an_option_a_line() -> None:
    sheet = export_sheet(exported(), CONFIG, Shell.POSIX, ["Refused."], ["Before."])
    command, file = sheet.parts
    assert command.is_command
    assert command.text == LINES
    assert command.file_name == "llama-server.sh"
    assert (file.title, file.text, file.about) == (FILE.name, FILE.text, FILE.about)
    assert sheet.notes == ("Before.", "A note.")
    assert sheet.refusals == ("Refused.",)


def test_that_a_short_command_stays_on_its_line() -> None:
    export = TARGETS["docker-compose"](CONFIG, None, None)
    assert export_sheet(export, CONFIG, Shell.POSIX).parts[0].text == "docker compose up -d"


def test_that_a_file_with_a_long_name_has_its_ending_for_a_title() -> None:
    long = ExportedFile("a-model-with-a-long-name-q4_k_m.kcpps", "{}\n", "For the launcher.")
    sheet = export_sheet(exported(files=(FILE, long)), CONFIG, Shell.POSIX)
    assert [part.title for part in sheet.parts] == ["Command", "compose.yaml", ".kcpps"]
    assert sheet.parts[2].file_name == long.name
    other = ExportedFile("another-" + long.name, "{}\n", "For the launcher.")
    sheet = export_sheet(exported(files=(long, other)), CONFIG, Shell.POSIX)
    assert [part.title for part in sheet.parts] == ["Command", long.name, other.name]


@pytest.mark.parametrize(
    ("target", "front"),
    [
        ("docker-compose", "compose.yaml"), ("systemd", ".service"), ("ollama", "Modelfile"),
        ("llama-preset", ".ini"), ("llama-swap", "llama-swap.yaml"), ("llama-server", "Command"),
        ("docker-run", "Command"), ("koboldcpp", "Command"),
    ],
)  # fmt: skip
def test_that_an_engine_that_is_told_by_a_file_opens_with_it(target: str, front: str) -> None:
    sheet = export_sheet(TARGETS[target](CONFIG, None, None, Shell.POSIX), CONFIG, Shell.POSIX)
    part = sheet.parts[sheet.front]
    assert front in {part.title, part.file_name, PurePath(part.file_name).suffix}


@pytest.mark.parametrize(
    ("shell", "ending"), [(Shell.POWERSHELL, ".ps1"), (Shell.CMD, ".txt"), (Shell.POSIX, ".sh")]
)
def test_that_the_command_is_saved_under_a_name_of_its_shell(shell: Shell, ending: str) -> None:
    assert export_sheet(exported(), CONFIG, shell).parts[0].file_name.endswith(ending)


def test_that_every_setting_has_its_fate_with_the_users_value() -> None:
    carried = {setting.key: Carried(Manner.SAID, f"-{setting.key}") for setting in SETTINGS} | {
        "slots": Carried(Manner.NOT_CARRIED, "It has one."),
        "ctx_per_slot_tok": Carried(Manner.TRANSLATED, "-c is the pool."),
    }
    sheet = export_sheet(exported(carried=carried), CONFIG, Shell.POSIX)
    fates = {setting.key: setting for setting in sheet.settings}
    assert set(fates) == {setting.key for setting in SETTINGS}
    slots = fates["slots"]
    assert (slots.fate, slots.words, slots.value) == ("left out", "It has one.", "3")
    assert slots.is_changed
    assert fates["ctx_per_slot_tok"].fate == "translated"
    assert not fates["ctx_per_slot_tok"].is_changed
    assert (fates["top_k"].fate, fates["top_k"].words) == ("said", "-top_k")
    assert fates["cache_ram_mib"].value == "512 MiB"
    assert fates["model_path"].value == "my model.gguf"


def test_that_a_dialect_that_tells_reasons_only_is_shown_as_well() -> None:
    fates = {s.key: s for s in export_sheet(exported(), CONFIG, Shell.POSIX).settings}
    assert (fates["slots"].fate, fates["slots"].words) == ("left out", "It has one.")
    assert fates["top_k"].fate == "said"


def test_that_without_a_command_there_is_a_reason_and_no_file() -> None:
    sheet = export_sheet(exported(text="", files=()), CONFIG, Shell.CMD)
    assert not sheet.parts
    assert "the reason stands above" in sheet.nothing
    assert "Choose a model" in export_sheet(exported(text=""), EngineConfig(), Shell.CMD).nothing


def test_that_values_of_several_lines_are_shown_in_one() -> None:
    text = value_words(BY_KEY["grammar"], 'root ::= "a"\nb ::= "c"\n')
    assert text == 'root ::= "a" b ::= "c"'
    assert value_words(BY_KEY["grammar"], "") == "–"
    assert value_words(BY_KEY["ctx_per_slot_tok"], 16384) == "16,384 tok", "as everywhere else"
    assert value_words(BY_KEY["temperature"], 0.2) == "0.20"
    assert value_words(BY_KEY["kv_unified"], True) == "on"


@pytest.mark.parametrize("target", list(TARGETS))
@pytest.mark.parametrize("shell", list(Shell))
def test_that_every_engine_makes_a_sheet(target: str, shell: Shell) -> None:
    export = TARGETS[target](CONFIG, None, None, shell)
    sheet = export_sheet(export, CONFIG, shell)
    assert sheet.target == target
    assert len(sheet.settings) == len(SETTINGS)
    names = [part.file_name for part in sheet.parts]
    assert len(names) == len(set(names)), "one would be written over another"
    assert all(setting.words for setting in sheet.settings if setting.fate != "said")
