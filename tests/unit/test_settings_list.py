"""The list of settings in a terminal: in sections, each begun once."""

from __future__ import annotations

from app.settings_list import settings_lines, settings_values
from engine_bridge.settings.row import Group
from engine_bridge.settings.table import SETTINGS


def test_that_every_section_has_one_heading_and_every_setting_a_line() -> None:
    lines = settings_lines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert sorted(headings) == sorted(f"{group}:" for group in {s.group for s in SETTINGS})
    keys = [
        line.split(" = ")[0].strip() for line in lines if line.startswith("  ") and line[2:3] != " "
    ]
    assert sorted(keys) == sorted(setting.key for setting in SETTINGS)
    main = lines.index(f"{Group.MAIN}:")
    assert lines[main + 1].startswith("  ctx_per_slot_tok = 4096  (a whole number")


def test_that_programs_get_the_same() -> None:
    values = {one["key"]: one for one in settings_values()}
    assert values.keys() == {setting.key for setting in SETTINGS}
    assert values["cache_ram_mib"]["section"] == Group.CACHE
    assert values["spec_types"]["default"] == ()
