"""Calls of programs, and the files that the same text writes for them."""

from __future__ import annotations

from app.importing.importer import import_text

EXTRA = """cat > extra.yml <<EOF
kv_cache_config:
  enable_block_reuse: false
max_num_tokens: 4096
EOF
trtllm-serve a/b --max_seq_len 8192 --extra_llm_api_options {name}
"""
MODELFILE = """cat <<EOF > Modelfile
FROM ./a.gguf
PARAMETER num_ctx 8192
EOF
ollama create mine{flags}
ollama run mine "hello"
"""


def test_that_a_call_gets_what_its_file_says() -> None:
    (found,) = import_text(EXTRA.format(name="./extra.yml"))
    assert {"ctx_per_slot_tok": 8192, "batch_tok": 4096, "cache_prompt": False}.items() <= (
        found.settings.items()
    )
    assert not any(each.startswith("config_file:") for each in found.problems)


def test_that_another_file_stays_one_of_its_own() -> None:
    found = import_text(EXTRA.format(name="other.yml"))
    assert len(found) == 2
    assert any(each.startswith("config_file:") for each in found[0].problems)


def test_that_a_modelfile_stands_for_what_is_created_from_it() -> None:
    for flags in ("", " -f Modelfile", " --file ./Modelfile"):
        (found,) = import_text(MODELFILE.format(flags=flags))
        assert found.title == "mine"
        assert found.settings["ctx_per_slot_tok"] == 8192


def test_that_a_modelfile_that_another_model_is_created_from_is_told_beside_it() -> None:
    found = import_text(MODELFILE.format(flags=" -f Other"))
    assert [each.title for each in found][-1] == ""
    assert len(found) == 3
