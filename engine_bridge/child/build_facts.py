"""What this build of llama.cpp says of itself; part of the facade."""

from __future__ import annotations

from engine_bridge.child.llama import LIB


def system_info() -> str:
    """The processor features and backends this build uses, as llama.cpp words it."""
    return str(LIB.llama_print_system_info().decode(errors="replace")).strip()
