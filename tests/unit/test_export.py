"""The settings as command lines: each said or excused, and every word one the program knows."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export import llama_flags, llama_server
from app.export.targets import TARGETS
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    FloatDomain,
    IntDomain,
    ListDomain,
    Value,
)
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.spec_kinds import KINDS_OF_KEY
from engine_bridge.settings.table import BY_KEY, SETTINGS
from engine_bridge.settings.text_domain import TextDomain, WordsDomain
from tests.unit.fake_client import model_facts

ROOT = Path(__file__).resolve().parents[2]
# The flags of llama.cpp 0.5.0 as a table: a neighbour of the checkout, not a part of it.
FLAG_TABLE = ROOT.parent / "shared" / "flags" / "llama_cpp.json"

# The dialects that are nothing but a line for llama.cpp's server.
SERVERS = ("llama serve", "llama-server")
# What other launchers still write, and this version refuses.
REMOVED = {
    "--draft", "--draft-n", "--draft-max", "--draft-min", "--draft-n-min", "--spec-ngram-size-n",
    "--spec-ngram-size-m", "--spec-ngram-min-hits", "--ctx-size-draft", "--mlock", "--mmap",
    "--no-mmap", "--direct-io", "-dio",
}  # fmt: skip
# The program takes one value at a time of these.
REPEATED = {"--logit-bias", "--dry-sequence-breaker"}
EFFECTIVE = EffectiveConfig(
    ctx_per_slot_tok=4096, slots=4, kv_unified=False, ctx_total_tok=16384, flash_attn="on",
    n_gpu_layers=0, batch_tok=2048, ubatch_tok=512, threads=6, threads_batch=12, outputs_max=4,
)  # fmt: skip
FACTS = model_facts()


def words_of(config: EngineConfig, effective: EffectiveConfig | None = EFFECTIVE) -> list[str]:
    """What follows the program on the line."""
    program, *words = shlex.split(llama_server.export(config, effective, FACTS).text)
    assert program == "llama-server"
    return words


def _value(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def _values_of(key: str) -> st.SearchStrategy[Value]:
    domain = BY_KEY[key].domain
    found: st.SearchStrategy[Value]
    match domain:
        case IntDomain():
            found = st.integers(domain.minimum, domain.maximum)
            found = st.one_of(found, st.sampled_from(domain.words)) if domain.words else found
        case FloatDomain():
            found = st.floats(domain.minimum, domain.maximum)
        case FlagDomain():
            found = st.booleans()
        case ChoiceDomain():
            found = st.sampled_from(domain.choices)
        case ListDomain() | ItemsDomain():
            words = domain.choices if isinstance(domain, ListDomain) else domain.examples
            found = st.lists(st.sampled_from(words), unique=True).map(tuple)
        case TextDomain():
            found = st.sampled_from(["", domain.example])
        case WordsDomain():
            some = _texts(1, 40).filter(lambda text: text != "none")
            found = st.lists(some, unique=True, max_size=9).map(tuple)
        case _:
            found = _texts()
    return found


def _texts(least: int = 0, most: int | None = None) -> st.SearchStrategy[str]:
    letters = st.characters(exclude_categories=["Cc"], codec="utf-8")
    return st.text(letters, min_size=least, max_size=most)


@st.composite
def configs(draw: st.DrawFn) -> EngineConfig:
    """Any configuration that the domains allow, sensible or not."""
    keys = draw(st.lists(st.sampled_from([s.key for s in SETTINGS]), unique=True))
    return EngineConfig().with_values({key: draw(_values_of(key)) for key in keys})


@st.composite
def effectives(draw: st.DrawFn) -> EffectiveConfig:
    """Whatever an engine may have made of a configuration."""
    return EffectiveConfig(
        ctx_per_slot_tok=4096,
        slots=4,
        kv_unified=False,
        ctx_total_tok=16384,
        flash_attn=draw(st.sampled_from(["on", "off", "auto"])),
        n_gpu_layers=draw(st.integers(0, 5)),
        batch_tok=2048,
        ubatch_tok=512,
        threads=draw(st.integers(1, 64)),
        threads_batch=draw(st.integers(1, 64)),
        outputs_max=4,
    )


# --- Every setting ------------------------------------------------------------------------


def test_that_every_setting_is_said_or_excused() -> None:
    said = [key for flag in llama_flags.FLAGS for key in flag.keys]
    assert len(said) == len(set(said))
    assert not set(said) & set(llama_flags.NOT_CARRIED)
    assert set(said) | set(llama_flags.NOT_CARRIED) == {setting.key for setting in SETTINGS}


# For settings that matter only in company.
COMPANY: dict[str, dict[str, object]] = {
    "ctx_total_tok": {"kv_unified": True, "ctx_per_slot_tok": 1024},
    **{key: {"spec_types": kinds[-1:]} for key, kinds in KINDS_OF_KEY.items()},
    **{
        key: {"dry_multiplier": 0.8}
        for key in ("dry_base", "dry_allowed_tok", "dry_last_n_tok", "dry_sequence_breakers")
    },
    "xtc_threshold": {"xtc_probability": 0.5},
    "dynatemp_exponent": {"dynatemp_range": 0.5},
    "adaptive_decay": {"adaptive_target": 0.5},
    "mirostat_lr": {"mirostat": 2},
    "mirostat_ent": {"mirostat": 2},
    **{
        setting.key: {"spec_types": ("draft-simple",), "draft_model_path": "/d.gguf"}
        for setting in SETTINGS
        if setting.key.startswith("draft_")
    },
}
OTHER_VALUE: dict[str, Value] = {
    "model_path": "/m.gguf", "ctx_per_slot_tok": 512, "slots": 3, "kv_unified": True,
    "ctx_total_tok": 2048, "cache_type_k": "q8_0", "cache_type_v": "q4_0", "flash_attn": "off",
    "spec_types": ("ngram-simple", "draft-simple"), "ngram_size_m": 8, "ngram_size_n": 4,
    "ngram_min_hits": 2, "ngram_mod_n_match": 16, "ngram_mod_n_min": 2, "ngram_mod_n_max": 32,
    "lookup_cache_static_path": "/counts of text.bin", "lookup_cache_dynamic_path": "/answers.bin",
    "draft_model_path": "/other.gguf", "draft_n_max": 5, "draft_n_min": 1, "draft_p_min": 0.75,
    "draft_n_gpu_layers": 3, "draft_cache_type_k": "q8_0", "draft_cache_type_v": "bf16",
    "n_gpu_layers": 7, "fit_margin_mib": 512, "n_cpu_moe": 2, "cpu_moe": True, "n_cpu_ffn": 3,
    "split_mode": "row", "override_tensor": ("ffn_up=CPU", "ffn_down=CUDA0"),
    "tensor_split": ("3", "1"), "main_gpu": 1,
    "devices": ("CUDA0", "RPC0"), "rpc_servers": ("127.0.0.1:50052",), "lazy_mode": "off",
    "no_host": True, "repack": False, "mmproj_path": "/mm.gguf", "lora": ("/a.gguf", "/b.gguf:2"),
    "override_kv": ("general.name=str:x",), "extra_flags": ("--alias 'my model'", "--jinja"),
    "kv_offload": False, "op_offload": False, "swa_full": True, "load_mode": "mlock",
    "context_shift": True, "keep_tok": 64,
    "batch_tok": 256, "ubatch_tok": 64, "threads": 3, "threads_batch": 5, "temperature": 0.0,
    "top_k": 7, "top_p": 0.5, "min_p": 0.25, "repeat_penalty": 1.5, "repeat_last_n_tok": 0,
    "presence_penalty": -0.5, "frequency_penalty": 0.5, "seed": 42, "max_new_tok": 100,
    "dry_multiplier": 0.75, "dry_base": 1.5, "dry_allowed_tok": 3, "dry_last_n_tok": 128,
    "dry_sequence_breakers": ("\n", "\\", "it's"), "top_n_sigma": 1.5, "typical_p": 0.75,
    "xtc_probability": 0.5, "xtc_threshold": 0.25, "dynatemp_range": 0.5,
    "dynatemp_exponent": 2.0, "adaptive_target": 0.25, "adaptive_decay": 0.5, "mirostat": 2,
    "mirostat_lr": 0.25, "mirostat_ent": 3.0, "logit_bias": ("15+1", "29-inf"), "ignore_eos": True,
    "grammar": 'root ::= "it\'s" [a-z]+\n', "json_schema": '{"type": "object"}',
    "cache_prompt": False, "cache_ram_mib": 1024, "ctx_checkpoints": 8,
    "checkpoint_min_step_tok": 1024, "cache_reuse_tok": 256,
}  # fmt: skip


@pytest.mark.parametrize("key", [s.key for s in SETTINGS if s.key not in llama_flags.NOT_CARRIED])
def test_that_every_setting_makes_a_difference(key: str) -> None:
    config = EngineConfig().with_values(COMPANY.get(key, {}))
    assert words_of(config.with_values({key: OTHER_VALUE[key]}), None) != words_of(config, None)


@pytest.mark.parametrize("target", SERVERS)
def test_that_every_reason_is_a_sentence_about_a_setting(target: str) -> None:
    config = EngineConfig(ngram_size_n=3, ctx_total_tok=4096, prefill_chunk_tok=64)
    export = TARGETS[target](config, None, None)
    assert set(export.not_carried) == {"prefill_chunk_tok", "ngram_size_n", "ctx_total_tok"}
    assert all(reason.endswith(".") for reason in export.not_carried.values())
    assert all(note.endswith(".") for note in export.notes)
    assert export.target == target


def test_that_what_auto_came_to_is_written() -> None:
    placed: dict[str, Value] = {
        "n_gpu_layers": 24, "n_cpu_moe": 3, "tensor_split": ("28", "8"), "draft_n_gpu_layers": 0,
    }  # fmt: skip
    effective = msgspec.structs.replace(EFFECTIVE, n_gpu_layers=24, placed=placed)
    words = words_of(EngineConfig(model_path="/m.gguf"), effective)
    for flag, value in (("-ngl", "24"), ("-ncmoe", "3"), ("-ts", "28,8"), ("-fit", "off")):
        assert words[words.index(flag) + 1] == value
    assert "-fitt" not in words


def test_that_both_dialects_say_the_same_of_the_same_program() -> None:
    config = EngineConfig(model_path="/m.gguf", slots=2, temperature=0.0)
    server = shlex.split(TARGETS["llama-server"](config, EFFECTIVE, FACTS).text)
    serve = shlex.split(TARGETS["llama serve"](config, EFFECTIVE, FACTS).text)
    assert server[0] == "llama-server"
    assert serve[:2] == ["llama", "serve"]
    assert serve[2:] == server[1:]


def test_that_each_kind_of_draft_has_its_own_flags_and_no_others() -> None:
    config = EngineConfig(
        spec_types=("ngram-map-k4v", "ngram-map-k", "ngram-mod"), ngram_size_n=4, ngram_min_hits=2
    )
    words = words_of(config, None)
    flags = [word for word in words if word.startswith("--spec-ngram")]
    assert flags == [
        "--spec-ngram-map-k-size-n", "--spec-ngram-map-k4v-size-n", "--spec-ngram-map-k-size-m",
        "--spec-ngram-map-k4v-size-m", "--spec-ngram-map-k4v-min-hits",
        "--spec-ngram-mod-n-match", "--spec-ngram-mod-n-min", "--spec-ngram-mod-n-max",
    ]  # fmt: skip
    assert words[words.index("--spec-ngram-map-k4v-min-hits") + 1] == "2"
    unused = EngineConfig(spec_types=("ngram-map-k",), ngram_min_hits=2)
    reasons = TARGETS["llama-server"](unused, None, None).not_carried
    assert "ngram-map-k4v" in reasons["ngram_min_hits"]


# --- Every word -----------------------------------------------------------------------------


@given(configs(), st.none() | effectives())
def test_that_no_removed_flag_is_ever_written(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    for flag, _ in _pairs(words_of(config, effective)):
        assert flag not in REMOVED


@pytest.fixture(scope="module")
def flag_table() -> dict[str, dict[str, object]]:
    """Every accepted spelling with what its value may be."""
    if not FLAG_TABLE.exists():
        pytest.skip("the table of llama.cpp's flags is not beside this checkout")
    table = json.loads(FLAG_TABLE.read_text(encoding="utf-8"))
    assert table["version"] == "0.5.0"
    return {name: flag for flag in table["flags"] for name in flag["names"]}


@given(config=configs(), effective=st.none() | effectives())
def test_that_every_flag_is_one_that_the_program_knows(
    flag_table: dict[str, dict[str, object]],
    config: EngineConfig,
    effective: EffectiveConfig | None,
) -> None:
    for flag, value in _pairs(words_of(config, effective)):
        known = flag_table[flag]
        assert not known["removed"]
        assert (value is not None) == (known["nargs"] == 1)
        if value is not None:
            _check_value(known, value)


def _check_value(known: dict[str, object], value: str) -> None:
    words = known.get("words") or []
    choices = known.get("choices")
    assert isinstance(words, list)
    if value in words:
        return
    if isinstance(choices, list):
        assert set(value.split(",")) <= set(map(str, choices))
    elif known["kind"] == "int":
        assert -(2**31) <= int(value) < 2**32
    elif known["kind"] == "float":
        float(value)


def _pairs(words: list[str]) -> list[tuple[str, str | None]]:
    """Flags with their values; the table of this dialect's switches tells which have none."""
    switches = {
        "-kvu", "-no-kvu", "-nkvo", "--no-op-offload", "--swa-full", "-cmoe", "--no-host", "-nr",
        "--context-shift", "--no-cache-prompt", "--ignore-eos", "--jinja",
    }  # fmt: skip
    rest = iter(words)
    return [(word, None if word in switches else next(rest)) for word in rest]


@given(configs(), st.none() | effectives())
def test_that_no_flag_is_written_twice(
    config: EngineConfig, effective: EffectiveConfig | None
) -> None:
    flags = [flag for flag, _ in _pairs(words_of(config, effective)) if flag not in REPEATED]
    assert len(flags) == len(set(flags))


# Control characters are written in a way that shlex does not know: tests/unit/test_quoting.py.
@given(st.text(st.characters(exclude_categories=["Cc"], codec="utf-8"), min_size=1))
def test_that_any_path_survives_the_shell(path: str) -> None:
    assert _value(words_of(EngineConfig(model_path=path)), "-m") == path


@pytest.mark.parametrize(
    "path",
    [
        "/with space/a.gguf", "/it's \"quoted\".gguf", "/two\nlines.gguf", "-leading.gguf",
        "/$(touch pwned)`id`.gguf", "/ünï — 模型.gguf", "/back\\slash*.gguf", "~/home.gguf", "#x",
    ],
)  # fmt: skip
def test_that_awkward_paths_survive_a_real_shell(path: str) -> None:
    config = EngineConfig(model_path=path)
    text = llama_server.export(config, None, None).text
    assert _value(shlex.split(text), "-m") == path
    assert _argument_in_shell("sh", text) == path.encode()


@given(st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name))
def test_that_a_name_that_is_no_utf_8_becomes_printable_text(name: bytes) -> None:
    path = name.decode("utf-8", errors="surrogateescape")
    export = llama_server.export(EngineConfig(model_path=path), None, None)
    export.text.encode("utf-8")
    is_stray = any("\udc80" <= character <= "\udcff" for character in path)
    assert any("no UTF-8" in note for note in export.notes) == is_stray


def test_that_a_name_that_is_no_utf_8_survives_bash() -> None:
    name = b"/it's\xff\xfe7\\ m\xc3\xb6d.gguf"
    config = EngineConfig(model_path=name.decode("utf-8", errors="surrogateescape"))
    assert _argument_in_shell("bash", llama_server.export(config, None, None).text) == name


def _argument_in_shell(shell: str, text: str) -> bytes:
    """The second argument that a shell makes of a line."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    script = f'llama_server() {{ printf %s "$2"; }}\n{text.replace("llama-server", "llama_server")}'
    done = subprocess.run([shell, "-c", script], capture_output=True, check=True)
    return done.stdout


# --- The program that was predicted -----------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"ctx_per_slot_tok": 4096}, "-c 16384 -np 4 -no-kvu"),
        # llama.cpp pads the context of each slot, so that is what is written.
        ({"ctx_per_slot_tok": 1000, "slots": 3}, "-c 3072 -np 3 -no-kvu"),
        ({"kv_unified": True}, "-c 16384 -np 4 -kvu --kv-unified-per-slot 4096"),
        (
            {"kv_unified": True, "ctx_total_tok": 8192},
            "-c 8192 -np 4 -kvu --kv-unified-per-slot 4096",
        ),
        ({"kv_unified": True, "ctx_total_tok": 4096}, "-c 4096 -np 4 -kvu"),
        ({"kv_unified": True, "slots": 1}, "-c 4096 -np 1 -kvu"),
    ],
)
def test_that_the_pool_is_said_as_llama_cpp_makes_it(values: dict[str, object], said: str) -> None:
    words = words_of(EngineConfig().with_values(values))
    assert f" {said} -ctk" in " " + " ".join(words)


@pytest.mark.parametrize(
    ("wanted", "made", "value_type", "said"),
    [
        ("auto", "on", "f16", "on"),
        ("auto", "off", "f16", "off"),
        ("auto", None, "f16", "auto"),
        ("auto", "auto", "f16", "auto"),
        ("on", "off", "f16", "on"),
        ("off", "on", "f16", "off"),
        # The answer may be to the question before; off would be refused.
        ("auto", "off", "q8_0", "auto"),
        ("auto", "on", "q8_0", "on"),
    ],
)
def test_that_flash_attention_is_said_as_resolved(
    wanted: str, made: str | None, value_type: str, said: str
) -> None:
    config = EngineConfig().with_values({"flash_attn": wanted, "cache_type_v": value_type})
    assert _value(words_of(config, _made(flash_attn=made) if made else None), "-fa") == said


@pytest.mark.parametrize(
    ("wanted", "made", "said"),
    [
        ("auto", None, "all"),
        ("all", None, "all"),
        # The toy has 4 layers and the output layer.
        ("auto", 5, "all"),
        ("auto", 3, "3"),
        ("auto", 0, "0"),
        ("all", 0, "0"),
        (2, 2, "2"),
        (2, None, "2"),
        (2, 0, "0"),
    ],
)
def test_that_gpu_layers_are_said_as_resolved(
    wanted: int | str, made: int | None, said: str
) -> None:
    config = EngineConfig().with_values({"n_gpu_layers": wanted})
    effective = None if made is None else _made(n_gpu_layers=made)
    assert _value(words_of(config, effective), "-ngl") == said
    notes = llama_server.export(config, effective, FACTS).notes
    assert any("2 were asked for" in note for note in notes) == (wanted == 2 and made == 0)


def _made(**changes: object) -> EffectiveConfig:
    fields = {name: getattr(EFFECTIVE, name) for name in EFFECTIVE.__struct_fields__}
    return EffectiveConfig(**(fields | changes))


def test_that_automatic_threads_are_said_as_resolved() -> None:
    words = words_of(EngineConfig())
    assert (_value(words, "-t"), _value(words, "-tb")) == ("6", "12")
    words = words_of(EngineConfig(threads=3, threads_batch=5))
    assert (_value(words, "-t"), _value(words, "-tb")) == ("3", "5")


def test_that_threads_nobody_knows_are_left_out_with_a_note() -> None:
    export = llama_server.export(EngineConfig(threads_batch=3), None, None)
    words = shlex.split(export.text)
    assert _value(words, "-tb") == "3"
    assert "-t" not in words
    assert any("threads are left to llama-server" in note for note in export.notes)
    export = llama_server.export(EngineConfig(threads=3), None, None)
    words = shlex.split(export.text)
    assert _value(words, "-t") == "3"
    assert "-tb" not in words
    assert not any("left to llama-server" in note for note in export.notes), "prompts take as many"


def test_that_a_flag_that_the_program_lacks_is_told_of_before_it_stops_at_it() -> None:
    flags = ("--fancy-new-flag 7", "--port 9000", "--draft-max 8")
    export = llama_server.export(EngineConfig(extra_flags=flags), None, None)
    assert "--fancy-new-flag 7 --port 9000 --draft-max 8" in export.text, "they go as they are"
    (unknown,) = [note for note in export.notes if "--fancy-new-flag" in note]
    assert "has no flag --fancy-new-flag and would stop at it" in unknown
    (removed,) = [note for note in export.notes if "--draft-max" in note]
    assert "has no --draft-max any more" in removed
    assert "--spec-draft-n-max or " in removed
    assert not any("--port" in note for note in export.notes)


def test_that_a_short_command_stays_on_one_line_and_the_image_has_its_own() -> None:
    for target in ("systemd", "docker-compose", "llama-swap", "llama-preset"):
        export = TARGETS[target](EngineConfig(model_path="/m/a.gguf"), None, None)
        assert export.lines == export.text, target
    docker = TARGETS["docker-run"](EngineConfig(model_path="/m/a.gguf"), None, None)
    lines = [line.strip(" \\") for line in docker.lines.splitlines()]
    assert [line for line in lines if "ghcr.io" in line] == [
        "ghcr.io/ggml-org/llama.cpp:server-cuda"
    ]
    assert shlex.split(docker.lines.replace("\\\n", " ")) == shlex.split(docker.text)


def test_that_what_would_change_the_memory_is_switched_off() -> None:
    line = " ".join(words_of(EngineConfig()))
    assert "-fit off" in line
    assert "--cache-ram 8192 -ctxcp 32" in line
    line = " ".join(words_of(EngineConfig(cache_ram_mib=0, ctx_checkpoints=0)))
    assert "--cache-ram 0 -ctxcp 0" in line


@pytest.mark.parametrize(
    ("ram_mib", "checkpoints", "said", "unsaid"),
    [
        (0, 0, "to the memory shown here.", "RAM"),
        (0, 8, "llama-server keeps in RAM up to 8 checkpoints", "prompts"),
        (512, 0, "llama-server keeps in RAM prompts (up to 512 MiB)", "checkpoints"),
        (-1, 8, "prompts (without a limit) and up to 8 checkpoints", "-1"),
    ],
)
def test_that_only_what_is_kept_in_ram_is_told(
    ram_mib: int, checkpoints: int, said: str, unsaid: str
) -> None:
    config = EngineConfig(cache_ram_mib=ram_mib, ctx_checkpoints=checkpoints)
    (note,) = [n for n in llama_server.export(config, None, None).notes if "-fit off" in n]
    assert said in note
    assert unsaid not in note
    assert ("--cache-ram 0" in note) == (ram_mib != 0)
    assert ("-ctxcp 0" in note) == (checkpoints != 0)


def test_that_drafts_are_said_with_their_sizes_or_not_at_all() -> None:
    assert "--spec" not in " ".join(words_of(EngineConfig(ngram_size_n=3)))
    words = " ".join(words_of(EngineConfig(spec_types=("ngram-simple",), ngram_size_n=3)))
    assert (
        "--spec-type ngram-simple --spec-ngram-simple-size-n 3 --spec-ngram-simple-size-m 48"
    ) in words


def test_that_a_draft_model_is_said_with_its_settings_or_not_at_all() -> None:
    chosen = EngineConfig(draft_model_path="/d.gguf", draft_n_max=5)
    assert not {"-md", "-ngld", "-ctkd"} & set(words_of(chosen))
    reasons = llama_server.export(chosen, None, FACTS).not_carried
    assert {"draft_model_path", "draft_n_max"} <= set(reasons)
    drafting = chosen.with_values({"spec_types": ("ngram-simple", "draft-simple")})
    assert (
        "--spec-type ngram-simple,draft-simple --spec-ngram-simple-size-n 12 "
        "--spec-ngram-simple-size-m 48 -md /d.gguf --spec-draft-n-max 5 -ngld all "
        "-ctkd f16 -ctvd f16"
    ) in " ".join(words_of(drafting, None))
    # Where no GPU is, its layers are not asked for: as those of the model.
    assert _value(words_of(drafting, EFFECTIVE), "-ngld") == "0"
    assert not {"draft_model_path", "draft_n_max"} & set(
        llama_server.export(drafting, None, FACTS).not_carried
    )
    without = EngineConfig(spec_types=("draft-simple",))
    assert "add -md FILE" in " ".join(llama_server.export(without, None, FACTS).notes)


def test_that_a_desk_without_a_model_says_so() -> None:
    export = llama_server.export(EngineConfig(), None, None)
    assert "-m" not in shlex.split(export.text)
    assert export.notes[0] == "No model is chosen, so the line names none: add -m FILE."


def test_that_numbers_survive_as_they_were_set() -> None:
    config = EngineConfig(temperature=0.1 + 0.2, presence_penalty=-0.05, min_p=1e-07)
    words = words_of(config)
    assert float(_value(words, "--temp")) == config.temperature
    assert float(_value(words, "--presence-penalty")) == config.presence_penalty
    assert float(_value(words, "--min-p")) == config.min_p


def test_that_a_file_with_sampling_of_its_own_is_overruled_in_full() -> None:
    facts = model_facts(recommends_sampling=True)
    words = shlex.split(llama_server.export(EngineConfig(), EFFECTIVE, facts).text)
    assert (_value(words, "--temp"), _value(words, "--top-k")) == ("0.8", "40")
    assert (_value(words, "--top-p"), _value(words, "--min-p")) == ("0.95", "0.05")
    assert "--temp" not in words_of(EngineConfig())


@pytest.mark.parametrize("target", SERVERS)
def test_that_the_sentences_name_the_program_of_the_line(target: str) -> None:
    other = next(name for name in SERVERS if name != target)
    config = EngineConfig(max_new_tok=0, model_path="/m.gguf")
    export = TARGETS[target](config, None, FACTS)
    said = [*export.notes, *export.not_carried.values()]
    assert sum(target in sentence for sentence in said) >= 3
    assert not [sentence for sentence in said if other in sentence]


# --- What the desk has no setting for ---------------------------------------------------------


def test_that_other_flags_leave_as_they_came_and_last() -> None:
    flags = ("--alias 'my model'", "--jinja", "-mla 3", "--api-prefix ''")
    words = words_of(EngineConfig(model_path="/m.gguf", extra_flags=flags))
    said = ["--alias", "my model", "--jinja", "-mla", "3", "--api-prefix", ""]
    assert words[-len(said) :] == said


def test_that_a_model_named_by_another_flag_is_not_missed() -> None:
    config = EngineConfig(extra_flags=("-hfr some/repo:Q4_K_M",))
    assert not any("No model" in note for note in llama_server.export(config, None, None).notes)


def test_that_drafts_of_a_repository_are_said_with_their_settings() -> None:
    config = EngineConfig(spec_types=("draft-simple",), draft_n_max=16,
                          extra_flags=("-hfd some/draft",))  # fmt: skip
    export = llama_server.export(config, None, None)
    assert "--spec-draft-n-max 16" in export.text
    assert "draft_n_max" not in export.not_carried
    assert not any("No draft model" in note for note in export.notes)


def test_that_another_flag_that_says_a_setting_again_is_told() -> None:
    config = EngineConfig(model_path="/m.gguf", extra_flags=("--ctx-size 4096", "--metrics"))
    notes = [note for note in llama_server.export(config, None, None).notes if "again" in note]
    assert len(notes) == 1
    assert "--ctx-size" in notes[0]
    assert "--metrics" not in notes[0]


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("C:\\Users\\a.gguf", "write \\Users\\a.gguf and run the line on drive C:."),
        ("C:\\a:b\\a.gguf", "move the file to where its path has none."),
        ("/m/a:b.gguf", "move the file to where its path has none."),
    ],
)
def test_that_an_adapter_behind_a_colon_is_found_after_all(path: str, advice: str) -> None:
    export = llama_server.export(EngineConfig(lora=(f"{path}:0.5",)), None, None)
    (note,) = [note for note in export.notes if "--lora-scaled" in note]
    assert note.endswith(advice), note
    whole = llama_server.export(EngineConfig(lora=("C:\\Users\\a.gguf",)), None, None)
    assert not any("--lora" in note for note in whole.notes), "--lora alone is not cut"
