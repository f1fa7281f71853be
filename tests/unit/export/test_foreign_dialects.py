"""What holds for the dialects of all engines that are not llama.cpp, whatever the configuration."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.export import koboldcpp, lmstudio, ollama, sglang, tensorrt_llm, vllm
from app.export.carried import Manner
from app.export.dialect import Dialect, Export
from app.export.engine_words import engine_words
from app.quoting import Shell
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import SETTINGS
from tests.unit.export.engine_line import check_keys, flags_of
from tests.unit.export.modelfile_reader import instructions_of, parameters_of
from tests.unit.fake_client import model_facts
from tests.unit.test_export import configs, effectives
from tests.unit.test_quoting import PROGRAM, words_by_cmd, words_by_powershell

DIALECTS: dict[str, Dialect] = {
    ollama.TARGET: ollama.export,
    vllm.TARGET: vllm.export,
    sglang.TARGET: sglang.export,
    tensorrt_llm.TARGET: tensorrt_llm.export,
    lmstudio.TARGET: lmstudio.export,
    koboldcpp.TARGET: koboldcpp.export,
}
SHELLS = st.sampled_from(list(Shell))
FACTS = st.none() | st.just(model_facts()) | st.just(model_facts(ctx_train_tok=2048))
# Programs that are given other weights: the place of the model has to stay one.
PLACES = {vllm.TARGET, sglang.TARGET, tensorrt_llm.TARGET, lmstudio.TARGET}


def _file(export: Export, ending: str) -> str:
    (text,) = [file.text for file in export.files if file.name.endswith(ending)]
    return text


def _check_ollama(export: Export) -> None:
    data = engine_words("ollama")
    modelfile = _file(export, "Modelfile")
    known = {name for word in data.keys["Modelfile"] for name in word.names}
    assert {name for name, _ in instructions_of(modelfile)} <= known
    for name, value in parameters_of(modelfile).items():
        word = data.key("PARAMETER", name)
        assert word is not None, name
        assert not word.removed
        assert value in ("true", "false") if word.kind == "bool" else word.why_not(value) is None
    for line in _file(export, ".env").splitlines():
        name, _, value = line.partition("=")
        # Its llama-server inherits those that begin with LLAMA_ARG_.
        whose = "llama_cpp" if name == "LLAMA_ARG_CACHE_RAM" else "ollama"
        variable = engine_words(whose).variable(name)
        assert variable is not None, name
        assert not variable.removed
        if variable.kind == "bool":
            assert value in {"0", "1"}
        assert variable.why_not(value) is None


def _check_line(name: str) -> Callable[[Export], None]:
    def check(export: Export) -> None:
        flags_of(shlex.split(export.text)[1:], engine_words(name))

    return check


def _check_tensorrt(export: Export) -> None:
    data = engine_words("tensorrt_llm")
    flags_of(shlex.split(export.text)[2:], data)
    options = yaml.safe_load(_file(export, ".yaml"))
    check_keys("config", options, data)
    check_keys("kv_cache_config", options["kv_cache_config"], data)
    drafts = options.get("speculative_config")
    if drafts:
        own = f"speculative_config {drafts['decoding_type']}"
        known = {n: w for s in ("speculative_config", own) for w in data.keys[s] for n in w.names}
        assert set(drafts) <= set(known)
        needed = {w.names[0] for w in data.keys[own] if w.required}
        assert needed <= set(drafts)
        for name, value in drafts.items():
            assert known[name].why_not(str(value)) is None, name


def _check_lmstudio(export: Export) -> None:
    data = engine_words("lmstudio")
    flags_of(shlex.split(export.text)[1:], data)
    load = json.loads(_file(export, ".json"))
    check_keys("load config", load, data)
    check_keys("gpu", load["gpu"], data)


def _check_koboldcpp(export: Export) -> None:
    data = engine_words("koboldcpp")
    flags = flags_of(shlex.split(export.text)[1:], data)
    check_keys("gendefaults", json.loads(flags["--gendefaults"][0]), data)
    if not export.files:
        return
    file = json.loads(_file(export, ".kcpps"))
    assert {data.key("kcpps", name) is not None for name in file} == {True}
    # The line and the file say the same.
    said = {flag.removeprefix("--"): values for flag, values in flags.items()}
    assert said.pop("model", [None])[0] == file.pop("model_param", None)
    assert set(said) == set(file)
    for name, values in said.items():
        value = file[name]
        if value is True:
            assert values == []
        elif isinstance(value, list):
            assert [type(value[0])(one) for one in values] == value
        else:
            assert values == [str(value)]


CHECKS: dict[str, Callable[[Export], None]] = {
    ollama.TARGET: _check_ollama,
    vllm.TARGET: _check_line("vllm"),
    sglang.TARGET: _check_line("sglang"),
    tensorrt_llm.TARGET: _check_tensorrt,
    lmstudio.TARGET: _check_lmstudio,
    koboldcpp.TARGET: _check_koboldcpp,
}


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs(), effective=st.none() | effectives(), facts=FACTS)
def test_that_no_word_is_written_that_the_engine_does_not_know(
    target: str,
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
) -> None:
    export = DIALECTS[target](config, effective, facts)
    if export.text:
        CHECKS[target](export)


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs(), effective=st.none() | effectives(), facts=FACTS, shell=SHELLS)
def test_that_every_setting_is_answered_for_in_sentences(
    target: str,
    config: EngineConfig,
    effective: EffectiveConfig | None,
    facts: ModelFacts | None,
    shell: Shell,
) -> None:
    export = DIALECTS[target](config, effective, facts, shell)
    assert export.target == target
    assert list(export.carried) == [setting.key for setting in SETTINGS]
    for key, answer in export.carried.items():
        assert answer.how, key
        assert "{" not in answer.how, key
        assert (answer.manner is Manner.SAID) or answer.how.endswith("."), (key, answer.how)
    reasons = {k: a.how for k, a in export.carried.items() if a.manner is Manner.NOT_CARRIED}
    assert export.not_carried == reasons
    assert all(note.endswith(".") for note in export.notes)
    assert bool(export.text) or bool(export.notes)


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs(), effective=st.none() | effectives())
def test_that_a_word_that_is_named_is_written(
    target: str, config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    """A setting that is said by a flag has that flag on the line, or in a file."""
    export = DIALECTS[target](config, effective, model_facts())
    if not export.text or (target == koboldcpp.TARGET and not config.model_path):
        return
    written = export.text + "".join(file.text for file in export.files)
    for key, answer in export.carried.items():
        word = answer.how.split()[0].rstrip(":,")
        is_word = word.startswith("--") or (word.isupper() and "_" in word)
        if answer.manner is not Manner.NOT_CARRIED and is_word:
            assert word in written, (key, answer.how)


@pytest.mark.parametrize("target", DIALECTS)
@given(config=configs())
def test_that_files_are_text_with_a_newline_at_the_end(target: str, config: EngineConfig) -> None:
    for file in DIALECTS[target](config, None, None).files:
        file.text.encode("utf-8")
        assert file.text.endswith("\n")
        assert not set(file.name) & set("/\\")
        assert file.about.endswith(".")


def _words_by(shell: Shell, line: str) -> list[str]:
    if shell is Shell.POWERSHELL:
        return words_by_powershell(line)
    program, _, rest = line.partition(" ")
    return [program, *words_by_cmd(f"{PROGRAM} {rest}")]  # it knows llama.cpp's program alone


@pytest.mark.parametrize("target", sorted(set(DIALECTS) - {ollama.TARGET}))
@given(config=configs())
def test_that_every_shell_gets_the_same_words(target: str, config: EngineConfig) -> None:
    words = shlex.split(DIALECTS[target](config, None, None).text)
    files = DIALECTS[target](config, None, None).files
    for shell in (Shell.CMD, Shell.POWERSHELL):
        export = DIALECTS[target](config, None, None, shell)
        if export.text:
            assert _words_by(shell, export.text) == words
            assert export.files == files


@pytest.mark.parametrize("target", sorted(PLACES))
def test_that_the_place_of_the_model_is_left_and_cannot_be_run(target: str) -> None:
    export = DIALECTS[target](EngineConfig(model_path="/models/toy.gguf"), None, model_facts())
    places = [word for word in shlex.split(export.text) if word.startswith("<MODEL")]
    (place,) = places
    assert " " in place.removesuffix(">")  # no name on a hub, and hardly one of a file
    assert "toy.gguf" not in export.text
    assert any(place in note for note in export.notes)
    assert place in export.not_carried["model_path"]


@pytest.mark.parametrize("target", [vllm.TARGET, sglang.TARGET, tensorrt_llm.TARGET])
def test_that_what_the_other_weights_would_take_is_told(target: str) -> None:
    facts = model_facts(name="Toy 8B", parameters=8_000_000_000, tensor_bytes=4_900_000_000)
    notes = " ".join(DIALECTS[target](EngineConfig(), None, facts).notes)
    assert "Toy 8B" in notes
    assert "4.90 GB" in notes
    assert "16.00 GB" in notes


@pytest.mark.parametrize(
    ("target", "word"),
    [
        (vllm.TARGET, "--gpu-memory-utilization"),
        (sglang.TARGET, "--mem-fraction-static"),
        (tensorrt_llm.TARGET, "--free_gpu_memory_fraction"),
    ],
)
def test_that_budgets_of_memory_are_told_apart(target: str, word: str) -> None:
    reason = DIALECTS[target](EngineConfig(fit_margin_mib=2048), None, None).not_carried
    assert word in reason["fit_margin_mib"]
    assert "2,048 MiB" in reason["fit_margin_mib"]
    assert word not in DIALECTS[target](EngineConfig(), None, None).text


@pytest.mark.parametrize("target", [vllm.TARGET, sglang.TARGET, tensorrt_llm.TARGET])
def test_that_q8_0_is_not_passed_off_as_fp8(target: str) -> None:
    config = EngineConfig(cache_type_k="q8_0", cache_type_v="q8_0")
    answer = DIALECTS[target](config, None, None).carried["cache_type_k"]
    assert answer.manner is Manner.TRANSLATED
    assert "other numerics" in answer.how
    coarse = EngineConfig(cache_type_k="q4_0", cache_type_v="q4_0")
    assert (
        "1.8 times the memory" in DIALECTS[target](coarse, None, None).carried["cache_type_k"].how
    )
