"""Calls of llama.cpp's programs: what they mean today, and what is told of the rest."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export.engine_words import Word, engine_words
from app.importing.found import Found
from app.importing.invocation import Invocation
from app.importing.llama_meanings import FLAG_OF_KEY, KEYS, key_of
from app.importing.llama_words import understand
from engine_bridge.settings.table import BY_KEY


def server(line: str, **other: object) -> Found:
    """What a line of llama-server means."""
    return understand(
        Invocation("posix", "llama-server", tuple(shlex.split(line)), **other)  # type: ignore[arg-type]
    )


def codes(found: Found) -> set[str]:
    return {problem.partition(":")[0] for problem in found.problems}


# --- The table --------------------------------------------------------------------------------


def test_that_every_meaning_is_of_a_flag_that_exists() -> None:
    for spelling in (*KEYS, *FLAG_OF_KEY.values()):
        word = engine_words("llama_cpp").flag(spelling)
        assert word is not None, spelling
        assert not word.removed


def test_that_every_setting_but_those_of_the_desk_alone_has_a_flag() -> None:
    assert set(BY_KEY) - set(KEYS.values()) == {"prefill_chunk_tok", "extra_flags"}
    assert set(KEYS.values()) - set(BY_KEY) == set(FLAG_OF_KEY)


@pytest.mark.parametrize("word", engine_words("llama_cpp").flags, ids=lambda word: word.names[0])
def test_that_every_spelling_of_a_flag_is_read_as_the_same(word: Word) -> None:
    if word.removed or word.arity != 1 or not key_of(word):
        return
    value = (
        str(word.choices[0]) if word.choices else {"int": "1", "float": "0.5"}.get(word.kind, "a=b")
    )
    found = [server(f"-m x.gguf {name} {value}").settings for name in word.names]
    assert all(one.get(key_of(word)) == found[0][key_of(word)] for one in found)


# --- Values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("-c 8192", "ctx_total_tok", 8192),
        ("-ngl all", "n_gpu_layers", "all"),
        ("-ngl -2", "n_gpu_layers", "all"),
        ("-fa 1", "flash_attn", "on"),
        ("-fa disabled", "flash_attn", "off"),
        ("-ts 3/1", "tensor_split", ("3", "1")),
        ("-ts 3,1", "tensor_split", ("3", "1")),
        ("-dev CUDA0,CUDA1", "devices", ("CUDA0", "CUDA1")),
        ("-nkvo", "kv_offload", False),
        ("--no-cache-prompt", "cache_prompt", False),
        ("--temp 0", "temperature", 0.0),
        ("-s 4294967295", "seed", -1),
        ("--spec-type ngram-mod,draft-mtp", "spec_types", ("ngram-mod", "draft-mtp")),
        ("--spec-type none", "spec_types", ()),
        ("-ot a=CPU -ot b=CUDA0", "override_tensor", ("a=CPU", "b=CUDA0")),
        ("--lora a.gguf,b.gguf", "lora", ("a.gguf", "b.gguf")),
        ("--lora-scaled a.gguf:0.5", "lora", ("a.gguf:0.5",)),
        ("--dry-sequence-breaker none", "dry_sequence_breakers", ()),
        (r"--dry-sequence-breaker '\n' --dry-sequence-breaker x", "dry_sequence_breakers",
         ("\n", "x")),
        ("--tensor_split 1", "tensor_split", ("1",)),
        ("-hf a/b:Q4_K_M", "hf_repo", "a/b:Q4_K_M"),
        ("--rope-scaling yarn", "rope_scaling", "yarn"),
        ("-fitt 512", "fit_margin_mib", 512),
    ],
)  # fmt: skip
def test_that_values_are_read_as_the_program_reads_them(line: str, key: str, value: object) -> None:
    found = server(f"-m x.gguf {line}")
    assert found.settings[key] == value
    assert type(found.settings[key]) is type(value)
    assert "bad_value" not in codes(found)


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("-c 32k", "ctx_total_tok", 32768),
        ("-c 32,768", "ctx_total_tok", 32768),
        ("-c -1", "ctx_total_tok", 0),
        ("-c much", "ctx_total_tok", None),
        ("-c", "ctx_total_tok", None),
        ("-ctk q9_9", "cache_type_k", None),
        ("--temp 0,7", "temperature", 0.7),
        ("--spec-type mtp", "spec_types", ("draft-mtp",)),
    ],
)
def test_that_what_the_program_would_read_otherwise_is_told(
    line: str, key: str, value: object
) -> None:
    found = server(f"-m x.gguf {line}")
    assert found.settings[key] == value
    assert "bad_value" in codes(found)


def test_that_placeholders_are_left_to_a_person() -> None:
    found = server("-m '<path to model>' -c '<N>' --port '[port]' --api-key YOUR_KEY")
    assert found.settings["model_path"] is None
    assert found.settings["ctx_total_tok"] is None
    assert found.other["port"] is None
    assert codes(found) == {"placeholder"}
    assert found.extra_flags == ()


def test_that_the_page_about_slots_is_not_their_number() -> None:
    found = server("-m a.gguf --slots -np 2 -c 8192")
    assert found.settings["slots"] == 2
    assert found.other == {"endpoint_slots": True}


# --- Slots and contexts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "settings", "derived"),
    [
        ("-c 20000", {"slots": 4, "kv_unified": True, "ctx_per_slot_tok": 20224},
         {"slots", "kv_unified", "ctx_per_slot_tok"}),
        ("-c 8192 -np 3", {"slots": 3, "kv_unified": False, "ctx_per_slot_tok": 2816},
         {"kv_unified", "ctx_per_slot_tok"}),
        ("-c 8192 -np 2 -kvu", {"slots": 2, "kv_unified": True, "ctx_per_slot_tok": 8192},
         {"ctx_per_slot_tok"}),
        ("-np -1", {"slots": 4, "kv_unified": True}, {"slots", "kv_unified"}),
        ("-np 2 -kvu --kv-unified-per-slot 4096", {"ctx_per_slot_tok": 4096, "ctx_total_tok": 8192},
         {"ctx_total_tok"}),
        ("-no-kvu", {"slots": 4, "kv_unified": True}, {"slots", "kv_unified"}),
        ("-np -1 -no-kvu", {"slots": 4, "kv_unified": True}, {"slots", "kv_unified"}),
        ("-np 4 -no-kvu -c 4096", {"slots": 4, "kv_unified": False, "ctx_per_slot_tok": 1024},
         {"ctx_per_slot_tok"}),
    ],
)  # fmt: skip
def test_that_slots_follow_from_the_engine_s_rules(
    line: str, settings: dict[str, object], derived: set[str]
) -> None:
    found = server(f"-m x.gguf {line}")
    assert settings.items() <= found.settings.items()
    assert set(found.derived) == derived


def test_that_a_router_has_no_slots_of_its_own() -> None:
    found = server("--models-dir /models -ngl 99")
    assert found.settings == {"n_gpu_layers": 99}
    assert found.other["router"] is True
    assert found.problems == ()


@pytest.mark.parametrize(("number", "is_told"), [(16384, 0), (16000, 0), (16134, 1), (4095, 1)])
def test_that_odd_contexts_are_told_of_and_round_ones_are_not(number: int, is_told: int) -> None:
    assert ("odd_value" in codes(server(f"-m x.gguf -c {number}"))) == bool(is_told)


# --- What lines of other days say --------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "settings", "to"),
    [
        ("--mlock", {"load_mode": "mmap+mlock"}, "--load-mode mmap+mlock"),
        ("--no-mmap", {"load_mode": "none"}, "--load-mode none"),
        ("--no-mmap --mlock", {"load_mode": "mlock"}, "--load-mode mlock"),
        ("-dio", {"load_mode": "dio"}, "--load-mode dio"),
        ("-md d.gguf --draft-max 8", {"draft_n_max": 8}, "--spec-draft-n-max 8"),
        ("--spec-type ngram-mod --draft-max 8", {"ngram_mod_n_max": 8}, "--spec-ngram-mod-n-max 8"),
        ("--spec-type ngram-map-k --spec-ngram-size-n 9", {"ngram_size_n": 9},
         "--spec-ngram-map-k-size-n 9"),
        ("--spec-type ngram-map-k4v --spec-ngram-min-hits 2", {"ngram_min_hits": 2},
         "--spec-ngram-map-k4v-min-hits 2"),
        ("--tensor-read-lazy on", {"lazy_mode": "on"}, "--lazy-mode on"),
        ("--memory-f32", {"cache_type_k": "f32", "cache_type_v": "f32"},
         "--cache-type-k f32 --cache-type-v f32"),
    ],
)  # fmt: skip
def test_that_removed_flags_are_read_as_their_heirs(
    line: str, settings: dict[str, object], to: str
) -> None:
    found = server(f"-m x.gguf {line}")
    assert settings.items() <= found.settings.items()
    assert to in [one.to for one in found.healed]
    assert "removed_flag" in codes(found)
    assert found.passthrough == ()


def test_that_a_load_mode_of_today_wins_over_those_of_old() -> None:
    assert server("-m x.gguf --mlock -lm dio").settings["load_mode"] == "dio"


def test_that_what_has_no_heir_is_kept_and_does_not_leave_again() -> None:
    found = server("-m x.gguf --logdir /logs --ctx-size-draft 512 --log-new")
    assert found.passthrough == ("--logdir", "/logs", "--ctx-size-draft", "512", "--log-new")
    assert codes(found) == {"removed_flag"}
    assert found.extra_flags == ()


@pytest.mark.parametrize("following", ["", "-c 512", "-mla 3", "--no-warmup"])
def test_that_flash_attention_without_a_value_is_on(following: str) -> None:
    found = server(f"-m x.gguf -fa {following}")
    assert found.settings["flash_attn"] == "on"
    assert "changed_arity" in codes(found)


def test_that_an_adapter_with_its_strength_as_a_word_of_its_own_is_read() -> None:
    found = server("-m x.gguf --lora-scaled a.gguf 0.5 -c 512")
    assert found.settings["lora"] == ("a.gguf:0.5",)
    assert found.settings["ctx_total_tok"] == 512
    assert codes(found) == {"changed_arity"}


def test_that_a_deprecated_flag_is_told_of_and_dropped() -> None:
    found = server("-m x.gguf -dt 0.1")
    assert codes(found) == {"deprecated"}
    assert found.extra_flags == ()


def test_that_thinking_said_to_the_template_becomes_reasoning() -> None:
    found = server("""-m x.gguf --chat-template-kwargs '{"enable_thinking": false, "a": 1}'""")
    assert found.other["reasoning"] == "off"
    assert found.extra_flags == ("--reasoning off", """--chat-template-kwargs '{"a": 1}'""")


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("-ngl -1", True), ("-ngl -1 --spec-type ngram-mod", False), ("-ngl 99", False)],
)
def test_that_minus_one_layer_is_told_of_where_the_line_is_old(line: str, *, is_told: bool) -> None:
    found = server(f"-m x.gguf {line}")
    assert ("changed_meaning" in codes(found)) is is_told


@pytest.mark.parametrize(
    ("program", "target"),
    [("server", "llama-server"), ("main", "llama-cli"), ("main.exe", "llama-cli")],
)
def test_that_programs_of_old_have_their_name_of_today(program: str, target: str) -> None:
    found = understand(Invocation("posix", program, ("-m", "x.gguf")))
    assert found.target == target
    assert "old_program" in codes(found)


def test_that_the_united_program_serves() -> None:
    found = understand(Invocation("posix", "llama", ("serve", "-m", "x.gguf", "-c", "512")))
    assert found.target == "llama serve"
    assert found.settings["ctx_total_tok"] == 512
    assert found.problems == ()


# --- What is broken --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("--ctx-size=4096", "broken_flag"),
        ("--ctx -size 4096", "broken_flag"),
        ("-ctx-size 4096", "broken_flag"),
        ("--n_ctx 4096", "unknown_flag"),
        ("--ctx-siz 4096", "abbreviated_flag"),
        ("\u2013-ctx-size 4096", "typographic"),
        ("\u2014ctx-size 4096", "typographic"),
    ],
)
def test_that_broken_flags_are_mended_and_told_of(line: str, code: str) -> None:
    found = server(f"-m x.gguf {line}")
    assert found.settings["ctx_total_tok"] == 4096
    assert codes(found) == {code}


def test_that_short_flags_with_two_dashes_are_read() -> None:
    found = server("-m x.gguf --ngl 33 --np 2")
    assert found.settings["n_gpu_layers"] == 33
    assert found.settings["slots"] == 2
    assert codes(found) == {"broken_flag"}


def test_that_a_model_without_its_flag_is_read() -> None:
    found = server("/models/x.gguf -c 512")
    assert found.settings["model_path"] == "/models/x.gguf"
    assert codes(found) == {"broken_flag"}


def test_that_unknown_flags_are_kept_with_their_values_and_leave_again() -> None:
    found = server("-m x.gguf -mla 3 -fmoe -ser 7 1 --alias x")
    assert found.passthrough == ("-mla", "3", "-fmoe", "-ser", "7", "1")
    assert found.extra_flags == ("-mla 3", "-fmoe", "-ser 7 1", "--alias x")
    assert codes(found) == {"unknown_flag"}


def test_that_what_stands_twice_is_told_of_and_the_last_counts() -> None:
    found = server("-m x.gguf -c 512 --ctx-size 1024")
    assert found.settings["ctx_total_tok"] == 1024
    assert codes(found) == {"duplicate_option"}


def test_that_overrides_of_tensors_stand_as_often_as_they_like() -> None:
    assert server("-m x.gguf -ot a=CPU -ot b=CPU").problems == ()


@given(st.lists(st.text(max_size=12), max_size=8))
def test_that_no_words_at_all_break_it(words: list[str]) -> None:
    found = understand(Invocation("posix", "llama-server", tuple(words)))
    assert found.target == "llama-server"


# --- Variables and presets ---------------------------------------------------------------------


def test_that_variables_are_read_and_flags_win() -> None:
    found = server(
        "-c 1024 --jinja",
        env={"LLAMA_ARG_CTX_SIZE": "512", "LLAMA_ARG_MODEL": "x.gguf", "LLAMA_ARG_MLOCK": "1",
             "LLAMA_ARG_NO_KV_OFFLOAD": "1", "LLAMA_ARG_CONT_BATCHING": "off",
             "OMP_NUM_THREADS": "4"},
    )  # fmt: skip
    assert found.settings["ctx_total_tok"] == 1024
    assert found.settings["model_path"] == "x.gguf"
    assert found.settings["kv_offload"] is False
    assert found.settings["load_mode"] == "mmap+mlock"
    assert found.other["cont_batching"] is False
    assert found.env == {"OMP_NUM_THREADS": "4"}
    assert "--no-cont-batching" in found.extra_flags
    assert codes(found) == {"removed_flag"}


@pytest.mark.parametrize("name", ["LLAMA_ARG_CTXSIZE", "LLAMA_CTX_SIZE", "llama_arg_ctx_size"])
def test_that_variables_that_nothing_reads_are_told_of_and_kept(name: str) -> None:
    found = server("-m x.gguf", env={name: "512"})
    assert codes(found) == {"misspelt_variable"}
    assert found.env == {name: "512"}


def test_that_variables_of_the_library_are_none_of_its_flags() -> None:
    found = server("-m x.gguf", env={"LLAMA_SET_ROWS": "1", "GGML_CUDA_P2P": "1"})
    assert found.problems == ()


def preset(**values: str) -> Found:
    """What a section of a preset means."""
    pairs = {key: (value,) for key, value in values.items()}
    return understand(Invocation("preset", "", values=pairs, title="my-model"))


def test_that_a_preset_is_read_by_its_keys() -> None:
    found = preset(
        **{"model": "x.gguf", "c": "8192", "LLAMA_ARG_N_PARALLEL": "2", "mmap": "0",
           "no-kv-offload": "true", "load-on-startup": "true", "version": "1", "jinja": "1"}
    )  # fmt: skip
    assert found.settings["ctx_total_tok"] == 8192
    assert found.settings["slots"] == 2
    assert found.settings["load_mode"] == "none"
    assert found.settings["kv_offload"] is False
    assert found.other == {"load_on_startup": True, "jinja": True, "alias": "my-model"}
    assert codes(found) == {"removed_key"}


def test_that_keys_a_preset_cannot_have_are_told_of() -> None:
    found = preset(model="x.gguf", ctx_size="512", nonsense="1")
    assert found.settings["ctx_total_tok"] == 512
    assert codes(found) == {"unknown_key"}


def test_that_spec_default_is_what_it_stands_for() -> None:
    found = server("-m x.gguf --spec-default")
    assert found.settings["spec_types"] == ("ngram-mod",)
    assert found.settings["ngram_mod_n_min"] == 48
    assert "ngram_mod_n_min" in found.derived


# --- What is wrong with it all the same ----------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("-m x.gguf -md d.gguf", "spec_off"),
        ("-m x.gguf -c 0", "ctx_zero"),
        ("-c 512", "no_model"),
        ("-m DeepSeek-V3-Q4.gguf -ctk q8_0", "mla_kv_types"),
        ("-m x.gguf -ub 4096", "ubatch_gt_batch"),
        ("-m x.gguf --slot-save-path slots.bin", "slot_save_path"),
        ("-m x.gguf --tools all", "security"),
        ("-m x.gguf --tools get_datetime", "bad_value"),
        ("-m /blobs/sha256-4cd576d9aa169612", "blob_path"),
        ("-m pytorch_model.bin", "unsupported_file"),
        ("--fim-qwen-7b-spec", "preset_flag"),
        ("-m x.gguf -ctv q8_0 -fa off", "contradiction"),
        ("-m x.gguf --temp 99", "odd_value"),
    ],
)
def test_that_what_is_wrong_is_told_by_its_code(line: str, code: str) -> None:
    assert code in codes(server(line))


@pytest.mark.parametrize(
    "line",
    [
        "-m DeepSeek-R1-Distill-Qwen-32B.gguf -ctk q8_0",
        "-m DeepSeek-V3-Q4.gguf -ctk q8_0 -ctv q8_0",
        "-m x.gguf -b 4096 -ub 4096",
        "-m x.gguf --slot-save-path /var/slots",
        "-hf a/b",
        "-m x.gguf -md d.gguf --spec-type draft-simple",
        "-m x.gguf --host 0.0.0.0",
        "--models-preset models.ini",
    ],
)
def test_that_what_is_right_is_not_complained_of(line: str) -> None:
    assert server(line).problems == ()


def test_that_a_draft_s_name_tells_its_kind() -> None:
    assert server("-m x.gguf -md x-eagle3.gguf").settings["spec_types"] == ("draft-eagle3",)
    assert server("-m x.gguf -md x-MTP-Q8_0.gguf").settings["spec_types"] == ("draft-mtp",)
    assert server("-m x.gguf -md small.gguf").settings["spec_types"] == ("draft-simple",)


def test_that_a_server_for_everybody_is_noted() -> None:
    assert any("API key" in note for note in server("-m x.gguf --host 0.0.0.0").notes)
    assert not any(
        "without an API key" in note
        for note in server("-m x.gguf --host 0.0.0.0 --api-key abc").notes
    )


@pytest.mark.parametrize(
    ("line", "env"),
    [
        ("--api-key geheim123", {}),
        ("--api-key=geheim123", {}),
        ("--hf-token geheim123", {}),
        ("--my-token geheim123", {}),
        ("", {"LLAMA_API_KEY": "geheim123"}),
        ("", {"HF_TOKEN": "geheim123"}),
    ],
)
def test_that_no_secret_is_told_anywhere(line: str, env: dict[str, str]) -> None:
    found = server(f"-m x.gguf {line}", env=env)
    assert "geheim123" not in repr(found)


# --- Other programs ------------------------------------------------------------------------------


def test_that_the_command_line_tool_has_no_slots_and_keeps_its_prompt() -> None:
    found = understand(
        Invocation("posix", "llama-cli", ("-m", "x.gguf", "-p", "Hello", "-n", "32", "-cnv"))
    )
    assert found.target == "llama-cli"
    assert found.settings == {"model_path": "x.gguf", "max_new_tok": 32}
    assert found.other == {"prompt": "Hello", "conversation": True}
    assert found.extra_flags == ()
    assert found.problems == ()


def bench(line: str) -> Found:
    """What a line of llama-bench means."""
    return understand(Invocation("posix", "llama-bench", tuple(shlex.split(line))))


def test_that_the_bench_s_numbers_are_the_server_s_switches() -> None:
    found = bench("-m x.gguf -ngl 99 -nkvo 1 -fa 1 -p 512 -n 128 -ts 3/1 -mmp 0 --repack 0")
    assert found.settings == {
        "model_path": "x.gguf", "n_gpu_layers": 99, "kv_offload": False, "flash_attn": "on",
        "tensor_split": ("3", "1"), "load_mode": "none", "repack": False,
    }  # fmt: skip
    assert found.other == {"n_prompt": 512, "n_gen": 128}
    assert codes(found) == {"removed_flag"}


@pytest.mark.parametrize("values", ["0,99", "0-99+33"])
def test_that_several_runs_of_the_bench_leave_the_value_open(values: str) -> None:
    found = bench(f"-m x.gguf -ngl {values}")
    assert found.settings["n_gpu_layers"] is None
    assert codes(found) == {"several_values"}


def test_that_llamafile_s_flags_are_read_with_a_warning() -> None:
    found = understand(Invocation("posix", "llamafile", ("-m", "x.gguf", "-ngl", "99")))
    assert found.settings == {"model_path": "x.gguf", "n_gpu_layers": 99}
    assert codes(found) == {"foreign_program"}


def test_that_an_engine_of_ollama_is_read_by_its_words() -> None:
    found = understand(
        Invocation("posix", "ollama_llama_server", ("runner", "--model", "/b/sha256-4cd576d9aa",
                   "--ctx-size", "8192", "--parallel", "4"))
    )  # fmt: skip
    assert found.settings["ctx_per_slot_tok"] == 2048
    assert codes(found) == {"old_program", "blob_path"}


def test_that_quotes_in_a_preset_are_told_of_and_taken_off() -> None:
    found = preset(**{"model": '"C:/my models/x.gguf"', "lora": '"/a, b.gguf"'})
    assert found.settings["model_path"] == "C:/my models/x.gguf"
    assert found.settings["lora"] == ("/a, b.gguf",)
    assert codes(found) == {"shell_quoting"}


def test_that_a_variable_by_a_short_flag_names_the_one_that_is_read() -> None:
    found = server("-m x.gguf", env={"LLAMA_ARG_NGL": "3"})
    assert "LLAMA_ARG_N_GPU_LAYERS" in next(
        p for p in found.problems if p.startswith("misspelt_variable")
    )


def test_that_a_split_that_has_no_effect_is_told_of() -> None:
    (note,) = server("-m x.gguf --no-kv-unified -c 4096").notes
    assert note.startswith("--no-kv-unified has no effect without -np")
    assert server("-m x.gguf --no-kv-unified -c 4096 -np 4").notes == ()


# --- Flags and values that stand together, and quotes of word processors --------------------------


def test_that_a_number_behind_a_short_flag_is_its_value() -> None:
    found = understand(
        Invocation("posix", "llama-server", ("-m", "a.gguf", "-c8192", "-ngl99", "-t8"))
    )
    assert {key: found.settings[key] for key in ("ctx_total_tok", "n_gpu_layers", "threads")} == {
        "ctx_total_tok": 8192, "n_gpu_layers": 99, "threads": 8,
    }  # fmt: skip
    assert codes(found) == {"broken_flag"}


def test_that_json_with_curly_quotes_is_read_and_leaves_with_straight_ones() -> None:
    words = ("-m", "a.gguf", "--chat-template-kwargs", "{“effort”: “high”}")
    found = understand(Invocation("posix", "llama-server", words))
    assert found.other["chat_template_kwargs"] == {"effort": "high"}
    assert codes(found) == {"typographic"}
    assert '"effort"' in found.extra_flags[0]


def test_that_a_key_of_a_preset_that_stands_twice_is_told() -> None:
    found = understand(Invocation("preset", "", values={"m": ("/a.gguf", "/b.gguf")}))
    assert found.settings["model_path"] == "/b.gguf"
    assert "duplicate_option" in codes(found)


def test_that_a_section_called_like_a_repository_names_its_model() -> None:
    found = understand(Invocation("preset", "", values={"c": ("8192",)}, title="a/b-GGUF:Q4_K_M"))
    assert found.settings["hf_repo"] == "a/b-GGUF:Q4_K_M"
    assert "hf_repo" in found.derived
    assert "no_model" not in codes(found)
    other = understand(Invocation("preset", "", values={"c": ("8192",)}, title="mine"))
    assert "no_model" in codes(other)
