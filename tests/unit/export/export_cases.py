"""Configurations for programs that cost a start each: every setting once, and paths that try them.

A property test draws thousands; what starts a program for each case takes these.
"""

from __future__ import annotations

from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import SETTINGS
from tests.unit.test_export import COMPANY, OTHER_VALUE

AWKWARD_PATHS = (
    "/a b/m.gguf", "/it's/m.gguf", '/q "q"/m.gguf', "/100% %h/m.gguf", "/$HOME/${x}/$$.gguf",
    "/ünï 模型/\U0001f600.gguf", "/back\\slash/m.gguf", "/a;b#c&d|e<f>g/m.gguf", "/`id`/$(x).gguf",
    "/!x!/^y^.gguf", "/{a,b}/[c]*?.gguf", "/a: b/- c.gguf", "/m,n=o/m.gguf", "/m.gguf",
)  # fmt: skip
_BASE = EngineConfig(model_path="/models/m.gguf")
# Lines are the enemy of every format.
_GRAMMAR = 'root ::= "it\'s" [a-z \\"$%`!^&|<>{}]+ "\\n" # $x %h ${y}\n# end\n'


def few_cases() -> list[EngineConfig]:
    """The cases for a program that is started for each."""
    values: dict[str, object] = {**OTHER_VALUE, "json_schema": "", "rpc_servers": ()}
    every = EngineConfig().with_values(values)
    texts = _BASE.with_values({"grammar": _GRAMMAR, "load_mode": "mmap+mlock"})
    boards = [_BASE.with_values({"devices": (name,)}) for name in ("CUDA1", "ROCm0", "Vulkan0")]
    paths = [EngineConfig(model_path=path, mmproj_path=f"{path}x") for path in AWKWARD_PATHS]
    return [_BASE, every, texts, *boards, *paths]


def export_cases() -> list[EngineConfig]:
    """All of them, each setting in a case of its own too."""
    cases = few_cases()
    for setting in SETTINGS:
        if setting.key in OTHER_VALUE:
            company = _BASE.with_values(dict(COMPANY.get(setting.key, {})))
            cases.append(company.with_values({setting.key: OTHER_VALUE[setting.key]}))
    return cases
