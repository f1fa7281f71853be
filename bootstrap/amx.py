"""Leaves Intel's AMX out of the engine, whose code for it crashes as compilers commonly make it.

llama.cpp writes the tiles' shape into a structure on the stack and hands its address to
``_tile_loadconfig``. GCC 12 takes that to read a part of the 64 bytes and drops the other writes;
the processor refuses what it finds there: every model dies in its first step, in llama-server too
(llama.cpp issue 20824). The same matrices then go through AVX-512, as on other processors.
"""

from __future__ import annotations

from pathlib import Path

_FLAG = "amx_int8"
# The macro that switches that code on is the compiler's own; `-march=native` stays as it is.
_WITHOUT = "-U__AMX_INT8__"
OPTIONS = (f"-DCMAKE_C_FLAGS={_WITHOUT}", f"-DCMAKE_CXX_FLAGS={_WITHOUT}")
SENTENCE = (
    "Engine: this processor has AMX, which is left out: llama.cpp's code for it crashes as some "
    "compilers build it."
)


def has_amx(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor has AMX's integer tiles, as Linux tells it; False elsewhere."""
    if not cpuinfo.exists():
        return False
    lines = cpuinfo.read_text(errors="replace").splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return _FLAG in flags.split()


def options_here(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[str, ...]:
    """What a build on this machine needs beside the backends' options; empty without AMX."""
    return OPTIONS if has_amx(cpuinfo) else ()
