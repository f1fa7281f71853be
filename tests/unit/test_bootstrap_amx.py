"""On processors with AMX the engine is built without it."""

from __future__ import annotations

from pathlib import Path

from bootstrap import amx


def _cpuinfo(folder: Path, flags: str) -> Path:
    path = folder / "cpuinfo"
    path.write_text(f"processor\t: 0\nflags\t\t: {flags}\nbogomips\t: 5200.00\n")
    return path


def test_that_a_processor_with_amx_switches_it_off_in_both_languages(tmp_path: Path) -> None:
    options = amx.options_here(_cpuinfo(tmp_path, "fpu avx512_vnni amx_bf16 amx_tile amx_int8"))
    assert options == ("-DCMAKE_C_FLAGS=-U__AMX_INT8__", "-DCMAKE_CXX_FLAGS=-U__AMX_INT8__")


def test_that_other_processors_are_built_for_as_before(tmp_path: Path) -> None:
    assert amx.options_here(_cpuinfo(tmp_path, "fpu avx2 avx512_vnni amx_tile_of_tomorrow")) == ()


def test_that_a_system_without_cpuinfo_is_built_for_as_before(tmp_path: Path) -> None:
    assert amx.options_here(tmp_path / "none") == ()
