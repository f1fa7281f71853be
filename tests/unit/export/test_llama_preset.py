"""INI presets: what llama.cpp's own reader makes of them is what the desk means."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.export import llama_preset
from app.export.dialect import Export
from app.export.engine_words import engine_words
from app.export.told import told, without_grammar
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.checked_words import said_in
from tests.unit.test_export import EFFECTIVE, FACTS, configs, effectives

_HEADER = re.compile(r"\[[ \t]*([^]]+?)[ \t]*\][ \t]*([;#].*)?")
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(.*)")
_END = re.compile(r"[ \t]*([;#].*)?$")


def read_preset(text: str) -> dict[str, dict[str, str]]:
    """Sections as ``common/preset.cpp`` reads them: no quotes, no escapes, the last value wins."""
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in re.split(r"\r\n|\n|\r", text):
        if found := _HEADER.fullmatch(line):
            section = sections.setdefault(found[1], {})
        elif found := _PAIR.fullmatch(line):
            # A value ends before blanks that a comment or the end of the line follows.
            value = found[2]
            cut = next(i for i in range(len(value) + 1) if _END.match(value, i))
            section[found[1]] = value[:cut]
        else:
            assert _END.fullmatch(line), line
    return sections


def section_of(export: Export) -> dict[str, str]:
    (sections,) = (
        read_preset(file.text) for file in export.files if file.name == llama_preset.FILE
    )
    (section,) = sections.values()
    return section


def words_of(section: dict[str, str]) -> list[str]:
    """The words that the router gives to the server of a model."""
    words = []
    for key, value in section.items():
        flag = engine_words("llama_cpp").flag(f"--{key}")
        assert flag is not None, key
        if flag.arity == 0:
            assert value in ("true", "false")
            words.append(f"--{key}" if value == "true" else flag.negated[-1])
        else:
            words += [f"--{key}", value]
    return words


def meaning_of(words: list[str]) -> dict[str, str | bool]:
    """Values by flag, whatever its spelling; a switch has whether it is on."""
    found: dict[str, str | bool] = {}
    for flag, spelling, value in said_in(words):
        is_on = engine_words("llama_cpp").spelt(spelling) not in flag.negated
        found[flag.names[0]] = is_on if value is None else value
    return found


@given(configs(), st.none() | effectives())
def test_that_what_is_read_back_is_what_the_server_is_told(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    export = llama_preset.export(config, effective, FACTS)
    assume(export.text)
    plain, grammar = without_grammar(config)
    left_out: dict[str, object] = {
        key: getattr(EngineConfig(), key)
        for key in ("logit_bias", "dry_sequence_breakers", "override_kv", "override_tensor",
                    "extra_flags")
        if key in export.not_carried
    }  # fmt: skip
    extras = () if "extra_flags" in export.not_carried else config.extra_flags
    wanted = meaning_of(
        list(told(plain.with_values(left_out | {"extra_flags": extras}), effective, FACTS).words)
    )
    read = meaning_of(words_of(section_of(export)))
    if "extra_flags" in export.not_carried:
        kept = {key: read[key] for key in wanted if key in read}
    else:
        kept = read
    letters = kept.pop("--sampler-seq", None) or read.get("--sampler-seq")
    names = wanted.pop("--samplers", None)
    assert (letters is None) == (names is None)
    if grammar:
        assert kept.pop("--grammar-file", "grammar.gbnf") == "grammar.gbnf"
        assert {file.name for file in export.files} == {"models.ini", "grammar.gbnf"}
    assert kept == wanted


def test_that_a_section_reads_as_its_key_lists_say() -> None:
    config = EngineConfig(
        model_path="/my models/Qwen 2.5 – Coder.gguf", kv_unified=True, ctx_total_tok=8192,
        kv_offload=False, swa_full=True, cache_prompt=False, spec_types=("draft-simple",),
        draft_model_path="/d.gguf",
    )  # fmt: skip
    export = llama_preset.export(config, EFFECTIVE, FACTS)
    assert export.text == "llama-server --models-preset models.ini"
    (file,) = export.files
    assert file.text.startswith("[Qwen-2.5-Coder]\nmodel = /my models/Qwen 2.5 – Coder.gguf\n")
    section = section_of(export)
    expected = {
        "ctx-size": "8192", "parallel": "4", "kv-unified": "true", "kv-unified-per-slot": "4096",
        "kv-offload": "false", "swa-full": "true", "cache-prompt": "false",
        "spec-type": "draft-simple", "spec-draft-model": "/d.gguf", "fit": "off", "threads": "6",
    }  # fmt: skip
    assert expected.items() <= section.items()
    assert "Qwen-2.5-Coder" in export.notes[0]


def test_that_samplers_are_said_in_letters() -> None:
    section = section_of(llama_preset.export(EngineConfig(adaptive_target=0.5), None, FACTS))
    assert section["sampler-seq"] == "edskypmxta"
    assert section["adaptive-target"] == "0.5"
    assert "samplers" not in section


def test_that_a_grammar_lies_in_a_file_of_its_own() -> None:
    grammar = 'root ::= "a;b" # a comment\n'
    export = llama_preset.export(EngineConfig(grammar=grammar), None, FACTS)
    assert section_of(export)["grammar-file"] == "grammar.gbnf"
    assert export.files[1].text == grammar
    assert export.carried["grammar"].manner == "translated"
    schema = llama_preset.export(EngineConfig(json_schema='{"type": "object"}'), None, FACTS)
    assert "root ::=" in schema.files[1].text
    assert "schema" in schema.carried["json_schema"].how


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"logit_bias": ["15+1", "29-inf"]}, "logit_bias"),
        ({"dry_multiplier": 0.5, "dry_sequence_breakers": ["a", "b"]}, "dry_sequence_breakers"),
        ({"dry_multiplier": 0.5, "dry_sequence_breakers": [";"]}, "dry_sequence_breakers"),
        ({"dry_multiplier": 0.5, "dry_sequence_breakers": [" "]}, "dry_sequence_breakers"),
        ({"override_kv": ["general.name=str:a # b"]}, "override_kv"),
        ({"override_tensor": ["blk;x=CPU"]}, "override_tensor"),
        ({"extra_flags": ["--alias m"]}, "extra_flags"),
        ({"extra_flags": ["--not-known-yet 3"]}, "extra_flags"),
        ({"extra_flags": ["--chat-template 'a # b'"]}, "extra_flags"),
    ],
)
def test_that_what_a_preset_cannot_hold_is_named(values: dict[str, object], key: str) -> None:
    export = llama_preset.export(EngineConfig().with_values(values), None, FACTS)
    assert key in export.not_carried
    plain = llama_preset.export(EngineConfig().with_values(values | {key: []}), None, FACTS)
    assert export.files[0].text == plain.files[0].text or key == "dry_sequence_breakers"
    assert "dry-sequence-breaker" not in section_of(export)


def test_that_where_the_router_listens_stands_on_its_own_line() -> None:
    flags = ["--port 9000", "--api-key-file '/my keys.txt'", "--jinja"]
    export = llama_preset.export(EngineConfig().with_values({"extra_flags": flags}), None, FACTS)
    assert export.text == (
        "llama-server --models-preset models.ini --port 9000 --api-key-file '/my keys.txt'"
    )
    section = section_of(export)
    assert section["jinja"] == "true"
    assert not {"port", "api-key-file"} & section.keys()
    answer = export.carried["extra_flags"]
    assert (answer.manner, answer.how) == (
        "translated",
        "--port, --api-key-file on the router's own line, since it is what listens; others as "
        "keys.",
    )
    unknown = llama_preset.export(
        EngineConfig().with_values({"extra_flags": ["--port 9000", "--not-known-yet 3"]}),
        None,
        FACTS,
    )
    assert "--port 9000" in unknown.text
    assert unknown.not_carried["extra_flags"] == (
        "llama-server refuses a section with a key that it does not know: --not-known-yet 3."
    )


def test_that_one_bias_and_one_breaker_are_carried() -> None:
    values = {"logit_bias": ["15-inf"], "dry_multiplier": 0.5, "dry_sequence_breakers": ["\n"]}
    export = llama_preset.export(EngineConfig().with_values(dict(values)), None, FACTS)
    section = section_of(export)
    assert section["logit-bias"] == "15-inf"
    assert section["dry-sequence-breaker"] == "\\n"
    assert not {"logit_bias", "dry_sequence_breakers"} & set(export.not_carried)


@pytest.mark.parametrize(
    "path",
    [
        "/a;b.gguf", "/a #1.gguf", "/a.gguf ", " a.gguf", "/two\nlines.gguf", "/a\r.gguf",
        "/\x7f.gguf",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["model_path", "draft_model_path", "mmproj_path"])
def test_that_a_path_that_would_become_another_is_refused(key: str, path: str) -> None:
    export = llama_preset.export(EngineConfig().with_values({key: path}), None, FACTS)
    assert (export.text, export.files) == ("", ())
    assert "Rename" in export.notes[0]


@pytest.mark.parametrize(
    "path",
    ['/it\'s "here"/m.gguf', "C:\\models\\m.gguf", "/ünï 模型/m.gguf", "/a=b [c].gguf", "$x"],
)
def test_that_other_awkward_paths_are_held_as_they_are(path: str) -> None:
    export = llama_preset.export(EngineConfig(model_path=path), None, FACTS)
    assert section_of(export)["model"] == path
