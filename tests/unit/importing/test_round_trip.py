"""What leaves in the words of llama.cpp comes back as it was, whatever stands around the words."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.export.dialect import Export
from app.export.targets import TARGETS
from app.importing.importer import import_text, settings_for
from app.quoting import Shell
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    PathDomain,
    Value,
)
from engine_bridge.settings.extra_flag import flag_words
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.table import BY_KEY, SETTINGS
from engine_bridge.settings.text_domain import TextDomain, WordsDomain

# Told by one line, and told by a file; a file has the name that its export gives it.
LINES = ("llama serve", "llama-server", "docker-run")
FILES = ("llama-preset", "llama-swap", "docker-compose", "systemd")
HINTS = {Shell.POSIX: "run.sh", Shell.CMD: "run.bat", Shell.POWERSHELL: "run.ps1"}
# Compared by what llama.cpp makes of them, since a pool can be said in several ways.
CONTEXT = ("ctx_per_slot_tok", "ctx_total_tok", "slots", "kv_unified")
# What a dialect says of itself.
OWN_FLAGS = ("--host", "--port", "--alias", "-a", "--metrics")
# A schema leaves as the grammar that is made of it, and a grammar in a file in some dialects.
TRANSLATED = ("json_schema", "grammar", "prefill_chunk_tok")
PATHS = (
    "/models/x.gguf", "/models/my model.gguf", "/models/it's ü.gguf", "/models/a-b_c+d=e,f@g.gguf",
    "/other/deep/er/y.gguf", "/models/$HOME (1).gguf",
)  # fmt: skip


def values_of(key: str) -> st.SearchStrategy[Value]:
    """Values of a setting that a line can say."""
    domain = BY_KEY[key].domain
    found: st.SearchStrategy[Value]
    match domain:
        case IntDomain():
            found = st.integers(domain.minimum, domain.maximum)
            words = tuple(word for word in domain.words if word == "all")
            found = st.one_of(found, st.sampled_from(words)) if words else found
        case FloatDomain():
            found = st.floats(domain.minimum, domain.maximum)
        case FlagDomain():
            found = st.booleans()
        case ChoiceDomain():
            found = st.sampled_from(domain.choices)
        case ListDomain() | ItemsDomain():
            words = domain.choices if isinstance(domain, ListDomain) else domain.examples
            found = st.lists(st.sampled_from(words), unique=True).map(tuple)
        case PathDomain():
            found = st.sampled_from(PATHS)
        case WordsDomain():
            letters = st.characters(min_codepoint=33, max_codepoint=126)
            some = st.text(letters, min_size=1, max_size=8).filter(lambda text: text != "none")
            found = st.lists(some, unique=True, max_size=4).map(tuple)
        case TextDomain():
            found = st.just("")
    return found


@st.composite
def configs(draw: st.DrawFn) -> EngineConfig:
    """A configuration with some values moved, whose pool can be what it says."""
    free = [setting.key for setting in SETTINGS if setting.key not in TRANSLATED]
    keys = draw(st.lists(st.sampled_from(free), unique=True, max_size=12))
    values: dict[str, object] = {key: draw(values_of(key)) for key in keys}
    values |= {"model_path": "/models/x.gguf", "n_gpu_layers": draw(st.sampled_from([0, 7, "all"]))}
    values |= {"draft_n_gpu_layers": draw(st.sampled_from([0, 5, "all"]))}
    config = EngineConfig().with_values(values)
    if config.ctx_per_slot_tok > config.pool_tok:
        return msgspec.structs.replace(config, ctx_per_slot_tok=config.pool_tok)
    return config


def imported(text: str, hint: str) -> EngineConfig:
    """The configuration that a text says."""
    values: dict[str, object] = dict(settings_for(import_text(text, hint)[0]).values)
    return EngineConfig().with_values(values)


def comparable(config: EngineConfig, export: Export) -> dict[str, object]:
    """What of a configuration the export carries, each as llama.cpp would have it."""
    values: dict[str, object] = {
        key: value
        for key, value in config.values().items()
        if key not in export.not_carried and key not in (*CONTEXT, *TRANSLATED)
    }
    values |= {"pool": config.pool_tok, "cap": config.slot_cap_tok, "slots": config.slots}
    if config.adaptive_target < 0:  # off, however far below 0
        values |= {"adaptive_target": -1.0, "adaptive_decay": 0.0}
    if "lora" in values:
        values["lora"] = sorted(config.lora)  # the program takes scaled ones by a flag of their own
    if "extra_flags" in values:
        values["extra_flags"] = [
            item for item in config.extra_flags if flag_words(item)[0] not in OWN_FLAGS
        ]
    return values


def check(config: EngineConfig, export: Export, text: str, hint: str) -> None:
    """The text says what was exported."""
    back = imported(text, hint)
    assert comparable(back, export) == comparable(config, export)


@pytest.mark.parametrize("shell", list(Shell))
@pytest.mark.parametrize("target", LINES)
@settings(max_examples=30)
@given(config=configs())
def test_that_what_leaves_as_a_line_comes_back(
    target: str, shell: Shell, config: EngineConfig
) -> None:
    export = TARGETS[target](config, None, None, shell)
    assert export.text
    for text in (export.text, export.lines):
        check(config, export, text, HINTS[shell])


@pytest.mark.parametrize("target", FILES)
@settings(max_examples=30)
@given(config=configs())
def test_that_what_leaves_as_a_file_comes_back(target: str, config: EngineConfig) -> None:
    export = TARGETS[target](config, None, None)
    if not export.files:  # it cannot hold one of the paths, and says so
        assert export.notes
        return
    check(config, export, export.files[0].text, export.files[0].name)


@settings(max_examples=30)
@given(config=configs())
def test_that_what_came_back_leaves_as_it_left(config: EngineConfig) -> None:
    export = TARGETS["llama-server"](config, None, None)
    back = imported(export.text, "")
    assert TARGETS["llama-server"](back, None, None).text == export.text
