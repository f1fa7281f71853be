"""The exported Python script, run as it stands with the installed llama-cpp-python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.export import llama_cpp_python
from app.export_out import write_files
from engine_bridge.settings.config import EngineConfig
from tests.unit.fake_client import model_facts

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    "values",
    [
        {},
        {
            "cache_type_k": "q8_0", "cache_type_v": "q8_0", "batch_tok": 256, "ubatch_tok": 64,
            "load_mode": "none", "repeat_last_n_tok": 0, "logit_bias": ["310+1.5", "320-inf"],
            "seed": 0, "temperature": 0.7, "repeat_penalty": 1.1, "kv_offload": False,
        },
        {"spec_types": ["ngram-simple"], "ngram_size_n": 2, "ngram_size_m": 4, "temperature": 0.0},
        {"mirostat": 2, "cache_type_k": "bf16", "swa_full": True, "op_offload": False},
        {"grammar": 'root ::= [a-z]+ " it\'s" # end\n'},
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_chat", [True, False])
def test_that_the_script_answers(
    tiny_path: Path,
    tiny_chat_path: Path,
    tmp_path: Path,
    values: dict[str, object],
    is_chat: bool,
) -> None:
    path = tiny_chat_path if is_chat else tiny_path
    base = {"model_path": str(path), "ctx_per_slot_tok": 512, "max_new_tok": 8, "threads": 1}
    config = EngineConfig().with_values(base | values)
    facts = model_facts(chat_template="{{ messages }}" if is_chat else "")
    export = llama_cpp_python.export(config, None, facts)
    (script,) = write_files(tmp_path, export.files)
    done = subprocess.run(
        [sys.executable, script, "Say", "it's", "fine"],
        capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("\n")
