"""KoboldCpp's words: flags with several values, one conversation, files with every value."""

from __future__ import annotations

import pytest

from app.importing.importer import import_text
from app.importing.invocation import Invocation
from app.importing.koboldcpp_words import understand
from tests.unit.importing.invocations import call, codes, document, problem


def test_that_one_conversation_has_the_whole_context() -> None:
    found = understand(call("koboldcpp --model m.gguf --contextsize 8192"))
    assert found.settings == {
        "model_path": "m.gguf", "ctx_total_tok": 8192, "slots": 1, "kv_unified": False,
        "ctx_per_slot_tok": 8192,
    }  # fmt: skip
    assert set(found.derived) == {"slots", "kv_unified", "ctx_per_slot_tok"}


def test_that_several_requests_leave_their_contexts_open() -> None:
    found = understand(call("koboldcpp m.gguf --contextsize 8192 --parallelrequests 4"))
    assert found.settings["slots"] == 4
    assert "ctx_per_slot_tok" not in found.settings
    assert "unknown_context" in codes(found)


@pytest.mark.parametrize(("word", "layers"), [("all", "all"), ("Max", "all"), ("auto", "auto")])
def test_that_an_amount_of_layers_in_words_is_meant(word: str, layers: str) -> None:
    found = understand(call(f"koboldcpp --gpulayers {word} m.gguf"))
    assert found.settings["n_gpu_layers"] == layers
    assert found.settings["model_path"] == "m.gguf"
    assert not found.passthrough
    assert word in problem(found, "bad_value")


def test_that_layers_without_a_number_leave_the_model_its_word() -> None:
    found = understand(call("koboldcpp --gpulayers m.gguf"))
    assert found.settings["n_gpu_layers"] == 1
    assert found.settings["model_path"] == "m.gguf"


def test_that_model_and_port_may_stand_alone() -> None:
    found = understand(call("koboldcpp m.gguf 5005"))
    assert found.settings["model_path"] == "m.gguf"
    assert found.other["port"] == 5005


@pytest.mark.parametrize(
    ("words", "settings", "other"),
    [
        ("--usecublas lowvram", {"kv_offload": False}, {}),
        ("--usecuda rowsplit 1", {"split_mode": "row"}, {"cuda_devices": ["1"]}),
        ("--gpulayers -1", {"n_gpu_layers": "auto"}, {}),
        ("--gpulayers", {"n_gpu_layers": 1}, {}),
        ("--gpulayers 99", {"n_gpu_layers": 99}, {}),
        ("--tensor_split 7 3", {"tensor_split": ("7", "3")}, {}),
        ("--moecpu", {"cpu_moe": True}, {}),
        ("--moecpu 12", {"n_cpu_moe": 12}, {}),
        ("--quantkv 1", {"cache_type_k": "q8_0", "cache_type_v": "q8_0"}, {}),
        ("--quantkv q5_1", {"cache_type_k": "q5_1", "cache_type_v": "q5_1"}, {}),
        ("--blasbatchsize 1024", {"batch_tok": 1024, "ubatch_tok": 1024}, {}),
        ("--batchsize 2048 --ubatchsize 256", {"batch_tok": 2048, "ubatch_tok": 256}, {}),
        ("--blasbatchsize -1", {}, {}),
        ("--flashattention", {"flash_attn": "on"}, {}),
        ("--noflashattention", {"flash_attn": "off"}, {}),
        ("--noshift", {"context_shift": False}, {}),
        ("--noswa", {"swa_full": True}, {}),
        ("--usemmap --usemlock", {"load_mode": "mmap+mlock"}, {}),
        ("--nommap", {"load_mode": "none"}, {}),
        ("--usedirectio", {"load_mode": "dio"}, {}),
        ("--blasthreads 0", {"threads_batch": "auto"}, {}),
        ("--overridetensors exps=CPU,blk.1=CUDA0",
         {"override_tensor": ("exps=CPU", "blk.1=CUDA0")}, {}),
        ("--overridekv a=int:1,b=bool:true", {"override_kv": ("a=int:1", "b=bool:true")}, {}),
        ("--overridekv a=str:x,y", {"override_kv": ("a=str:x,y",)}, {}),
        ("--lora a.gguf --loramult 0.5", {"lora": ("a.gguf:0.5",)}, {}),
        ("--usevulkan 0", {}, {"backend": "usevulkan"}),
        ("--highpriority", {}, {"prio": 2}),
        ("--fit", {}, {"fit": "on"}),
        ("--multiuser 5", {}, {"queue": 5}),
        ("--multiuser", {}, {}),
    ],
)  # fmt: skip
def test_that_a_flag_says(
    words: str, settings: dict[str, object], other: dict[str, object]
) -> None:
    found = understand(call(f"koboldcpp m.gguf {words}"))
    always = {"model_path": "m.gguf", "slots": 1, "kv_unified": False}
    assert found.settings == always | settings
    assert found.other == other


@pytest.mark.parametrize(
    ("draft", "kind"),
    [
        ("d-Q8_0-MTP.gguf", "draft-mtp"),
        ("tiny.gguf", "draft-simple"),
        ("x-Eagle3.gguf", "draft-eagle3"),
    ],
)
def test_that_a_draft_is_told_by_its_name(draft: str, kind: str) -> None:
    found = understand(call(f"koboldcpp -m m.gguf -md {draft} --draftamount 8"))
    assert found.settings["draft_model_path"] == draft
    assert found.settings["spec_types"] == (kind,)
    assert found.settings["draft_n_max"] == 8
    assert "spec_types" in found.derived


def test_that_a_backend_that_is_gone_is_told_of() -> None:
    found = understand(call("koboldcpp --useclblast 0 0 --model model.bin"))
    assert codes(found) == {"removed_backend", "unsupported_file"}
    assert found.settings["model_path"] == "model.bin"


def test_that_a_benchmark_is_no_server() -> None:
    found = understand(call("koboldcpp -m m.gguf --benchmark --prompt 'a b'"))
    assert "not_transferable" in codes(found)
    assert found.other["prompt"] == "a b"


def test_that_defaults_of_requests_are_samplers() -> None:
    found = understand(
        Invocation("posix", "koboldcpp", ("m.gguf", "--gendefaults",
                   '{"temperature": 0.7, "rep_pen": 1.1, "rep_pen_range": 256, "max_length": 300,'
                   '"dry_sequence_breakers": ["\\n", ":"], "logit_bias": {"15043": 1.5},'
                   '"zap": 1}'))
    )  # fmt: skip
    assert found.settings["temperature"] == 0.7
    assert found.settings["repeat_penalty"] == 1.1
    assert found.settings["repeat_last_n_tok"] == 256
    assert found.settings["max_new_tok"] == 300
    assert found.settings["dry_sequence_breakers"] == ("\n", ":")
    assert found.settings["logit_bias"] == ("15043+1.5",)
    assert "zap" in problem(found, "unknown_key")


def test_that_a_file_says_what_was_changed() -> None:
    found = understand(
        document(
            "kcpps",
            model=(),
            model_param="C:/m/a.gguf",
            port_param="5001",
            contextsize="16384",
            gpulayers="-1",
            threads="7",
            usecuda=("lowvram", "0"),
            flashattention="true",
            quantkv="2",
            draftmodel="",
            draftamount="8",
            ropeconfig=("0.0", "10000.0"),
            sdmodel="",
            smartcontext="false",
            visionmaxres="512",
            nommap="false",
            config=(),
        )
    )
    assert found.settings == {
        "ctx_total_tok": 16384, "n_gpu_layers": "auto", "threads": 7, "kv_offload": False,
        "flash_attn": "on", "cache_type_k": "q4_0", "cache_type_v": "q4_0",
        "model_path": "C:/m/a.gguf", "slots": 1, "kv_unified": False, "ctx_per_slot_tok": 16384,
    }  # fmt: skip
    (note,) = [note for note in found.notes if "No setting here" in note]
    assert "--visionmaxres 512" in note
    assert "smartcontext" not in note


def test_that_passwords_are_not_repeated() -> None:
    found = understand(call("koboldcpp m.gguf --password hunter2 --adminpassword hunter3",
                            KCPP_PASSWORD="hunter4"))  # fmt: skip
    assert "hunter" not in repr(found)
    assert found.other == {"password": "REDACTED", "adminpassword": "REDACTED"}
    assert found.env == {"KCPP_PASSWORD": "REDACTED"}


def test_that_its_rope_is_llamas() -> None:
    found = understand(call("koboldcpp --model a.gguf --ropeconfig 0.5 1000000"))
    assert (found.settings["rope_freq_scale"], found.settings["rope_freq_base"]) == (0.5, 1e6)
    found = understand(call("koboldcpp --model a.gguf --ropeconfig 0.0 10000"))
    assert not {"rope_freq_scale", "rope_freq_base"} & found.settings.keys()


def test_that_its_variables_are_its_words() -> None:
    (found,) = import_text(
        "KCPP_MODEL=https://huggingface.co/a/b-GGUF/resolve/main/b.gguf\n"
        'KCPP_ARGS="--gpulayers 99 --contextsize 4096"'
    )
    assert found.target == "koboldcpp"
    assert {
        "hf_repo": "a/b-GGUF", "hf_file": "b.gguf", "n_gpu_layers": 99, "ctx_total_tok": 4096,
    }.items() <= found.settings.items()  # fmt: skip


def test_that_what_it_prints_of_its_arguments_is_a_file() -> None:
    (found,) = import_text(
        "Welcome to KoboldCpp - Version 1.54\n==========\n"
        "Namespace(contextsize=4096, gpulayers=15, model='a.gguf', model_param='a.gguf', port=5001,"
        " port_param=5001, smartcontext=False, usecublas=['lowvram'], onready='', lora=None)\n"
        "Loading model: a.gguf\n"
    )
    assert {
        "ctx_total_tok": 4096, "n_gpu_layers": 15, "model_path": "a.gguf", "kv_offload": False,
    }.items() <= found.settings.items()  # fmt: skip
    assert codes(found) == {"log_paste"}


def test_that_a_command_before_its_arguments_is_what_counts() -> None:
    (found,) = import_text(
        "C:\\k>koboldcpp.exe --model a.gguf --contextsize 8192\n"
        "Namespace(contextsize=4096, gpulayers=15, model_param='a.gguf', smartcontext=False)\n"
    )
    assert found.settings["ctx_total_tok"] == 8192


def test_that_members_of_a_file_need_no_braces() -> None:
    (found,) = import_text('"contextsize": 8192,\n"gpulayers": 43,\n"flashattention": true,')
    assert {"ctx_total_tok": 8192, "n_gpu_layers": 43, "flash_attn": "on"}.items() <= (
        found.settings.items()
    )


def test_that_a_name_of_a_flag_may_be_begun() -> None:
    found = understand(call("koboldcpp m.gguf --contexts 4096"))
    assert found.settings["ctx_total_tok"] == 4096
    assert "abbreviated_flag" in codes(found)


def test_that_no_model_is_told_of() -> None:
    assert "no_model" in codes(understand(call("koboldcpp --threads 4")))
    assert "no_model" not in codes(understand(call("koboldcpp --config a.kcpps")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_param", '["a.gguf"]'), ("model_param", '{"a": "b.gguf"}'),
        ("contextsize", '{"a": 1}'), ("contextsize", "[4096, 8192]"), ("contextsize", "9" * 5000),
        ("contextsize", '"x.gguf"'), ("gpulayers", '"x.gguf"'), ("threads", '[1, "x.gguf"]'),
        ("host", '["h", "x.gguf"]'), ("port_param", '"x.gguf"'), ("usecuda", '[["x.gguf"]]'),
    ],
)  # fmt: skip
def test_that_a_value_of_a_wrong_type_is_left_out_of_a_file(key: str, value: str) -> None:
    (found,) = import_text(f'{{"quantkv": 1, "smartcontext": false, "{key}": {value}}}')
    assert found.settings == {
        "cache_type_k": "q8_0", "cache_type_v": "q8_0", "slots": 1, "kv_unified": False,
    }  # fmt: skip
    assert found.other == {}
    assert problem(found, "bad_value").startswith(f"bad_value: {key} ")
    assert len(problem(found, "bad_value")) < 200


def test_that_a_stray_value_of_a_file_is_not_the_model() -> None:
    (found,) = import_text('{"quantkv": 1, "contextsize": 4096, "newkey": ["a", "b.gguf"]}')
    assert "model_path" not in found.settings
    assert "b.gguf" in problem(found, "bad_value")
