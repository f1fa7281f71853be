"""The exported preset in the hands of the real ``llama-server`` as a router."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from app.export import llama_preset
from app.export.told import told, without_grammar
from app.export_out import write_files
from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.engine.test_exported_line import NEEDS_MORE, _get, binary  # noqa: F401  (a fixture)
from tests.unit.export.test_llama_preset import meaning_of
from tests.unit.test_export import OTHER_VALUE

pytestmark = pytest.mark.engine

# What a preset names as not carried.
_NOT_HELD = ("logit_bias", "dry_sequence_breakers", "extra_flags")


@pytest.mark.parametrize(
    "values",
    [
        {"slots": 2, "ctx_per_slot_tok": 512, "kv_unified": True, "ctx_total_tok": 768},
        {
            key: value
            for key, value in OTHER_VALUE.items()
            if key not in (*NEEDS_MORE, *_NOT_HELD, "model_path", "grammar", "json_schema")
        },
        {"adaptive_target": 0.25, "repack": False, "grammar": 'root ::= "a;b" # c\n'},
        {"logit_bias": ["310+1.5"], "extra_flags": ["--alias 'my model'", "--jinja"]},
    ],
)
def test_that_the_router_reads_each_value_as_it_was_meant(
    binary: Path,  # noqa: F811
    tiny_path: Path,
    tmp_path: Path,
    values: dict[str, object],
) -> None:
    """It lists the words that it would give to the server of the model."""
    config = EngineConfig(model_path=str(tiny_path)).with_values(values)
    export = llama_preset.export(config, None, None)
    write_files(tmp_path, export.files)
    server = ServerProcess(binary, ["--models-preset", str(tmp_path / llama_preset.FILE)])
    try:
        (model,) = [one for one in _get(server.port, "/v1/models")["data"] if one["id"] == "tiny"]
    finally:
        server.close()
    given = meaning_of(model["status"]["args"][1:])
    plain, grammar = without_grammar(config)
    wanted = meaning_of(list(told(plain, None, None).words))
    if wanted.pop("--samplers", None):
        assert given["--sampler-seq"] == "edskypmxta"
    wanted.pop("-a", None)  # the router's own
    if grammar:
        assert given["--grammar-file"] == "grammar.gbnf"
    for flag, value in wanted.items():
        assert given[flag] == value, flag


def test_that_the_model_of_the_preset_answers(
    binary: Path,  # noqa: F811
    few_words_path: Path,
    tmp_path: Path,
) -> None:
    config = EngineConfig(
        model_path=str(few_words_path), slots=2, ctx_per_slot_tok=600, threads=1, threads_batch=1,
        temperature=0.35,
    )  # fmt: skip
    write_files(tmp_path, llama_preset.export(config, None, None).files)
    server = ServerProcess(binary, ["--models-preset", str(tmp_path / llama_preset.FILE)])
    try:
        told_by = _post(server.port, "/v1/completions", {
            "model": "few-words", "prompt": [310, 311], "max_tokens": 4,
        })  # fmt: skip
        props = _get(server.port, "/props?model=few-words")
    finally:
        server.close()
    assert told_by["usage"]["completion_tokens"] == 4
    assert props["total_slots"] == 2
    made = props["default_generation_settings"]
    assert made["n_ctx"] == 768
    assert made["params"]["temperature"] == pytest.approx(0.35)


def _post(port: int, path: str, body: dict[str, object]) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)
