"""The exported line in the hands of the real ``llama-server``: accepted, understood as meant."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.unit.test_export import OTHER_VALUE, words_of

LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"

# A V cache without flash attention is refused; workers and devices have to be there.
NEEDS_MORE = ("flash_attn", "rpc_servers", "devices", "override_tensor")

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def binary() -> Path:
    if not LLAMA_SERVER.exists():
        pytest.skip("`make bench` has not built llama-server")
    return LLAMA_SERVER


@pytest.mark.parametrize(
    "values",
    [
        {},
        {key: value for key, value in OTHER_VALUE.items() if key not in NEEDS_MORE},
        {"model_path": "-leading dash 'and quote'.gguf", "max_new_tok": 0, "seed": 2**32 - 2},
        {"temperature": 1e-07, "flash_attn": "off", "load_mode": "mmap+mlock"},
        *({"cache_type_k": name, "cache_type_v": name} for name in ("f32", "iq4_nl", "bf16")),
        *({"load_mode": mode} for mode in ("none", "mmap", "dio")),
    ],
)
def test_that_the_line_is_accepted_without_a_complaint(
    binary: Path, values: dict[str, object]
) -> None:
    words = words_of(EngineConfig().with_values(values))
    done = subprocess.run(
        [binary, *words, "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    lines = (done.stdout + done.stderr).splitlines()
    # It says so of flags that it takes one value at a time of, and takes all of them: see below.
    said = "\n".join(line for line in lines if "specified multiple times" not in line)
    assert done.returncode == 0, said
    assert "version" in said
    for complaint in ("DEPRECATED", "invalid", "error", "removed"):
        assert complaint not in said


def test_that_a_removed_flag_is_refused(binary: Path) -> None:
    """Otherwise the test above could not fail."""
    done = subprocess.run(
        [binary, "--draft-max", "4", "--version"], capture_output=True, check=False, timeout=60
    )
    assert done.returncode != 0


@pytest.mark.parametrize(
    "values",
    [
        {"ctx_per_slot_tok": 600, "slots": 3},
        {"ctx_per_slot_tok": 600, "slots": 3, "kv_unified": True, "ctx_total_tok": 1024},
        {
            "ctx_per_slot_tok": 512, "slots": 2, "temperature": 0.35, "top_k": 7, "top_p": 0.5,
            "min_p": 0.25, "repeat_penalty": 1.5, "repeat_last_n_tok": 0, "seed": 42,
            "presence_penalty": -0.5, "frequency_penalty": 0.5, "max_new_tok": 100,
            "dry_multiplier": 0.75, "dry_base": 1.5, "dry_allowed_tok": 3, "dry_last_n_tok": 128,
            "top_n_sigma": 1.5, "typical_p": 0.75, "xtc_probability": 0.5, "xtc_threshold": 0.25,
            "dynatemp_range": 0.5, "dynatemp_exponent": 2.0, "adaptive_target": 0.25,
            "adaptive_decay": 0.5, "mirostat": 2, "mirostat_lr": 0.25, "mirostat_ent": 3.0,
            "ignore_eos": True,
            "spec_types": ("ngram-simple",), "ngram_size_n": 4, "ngram_size_m": 8,
        },
    ],
)  # fmt: skip
def test_that_the_program_makes_of_the_line_what_the_desk_means(
    binary: Path, tiny_path: Path, values: dict[str, object]
) -> None:
    config = EngineConfig(model_path=str(tiny_path)).with_values(values)
    server = ServerProcess(binary, words_of(config, None))
    try:
        props = _get(server.port, "/props")
        slots = _get(server.port, "/slots")
        log = "\n".join(server.lines)
    finally:
        server.close()
    assert props["model_path"] == str(tiny_path)
    assert props["total_slots"] == config.slots
    made = props["default_generation_settings"]
    assert made["n_ctx"] == config.slot_cap_tok
    assert f"kv_unified = '{str(config.kv_unified).lower()}'" in log
    params = made["params"]
    for theirs, ours in SAMPLING.items():
        wanted = getattr(config, ours)
        wanted = wanted % 2**32 if ours == "seed" else wanted
        assert params[theirs] == pytest.approx(wanted), theirs
    assert [slot["speculative"] for slot in slots] == [bool(config.spec_types)] * config.slots
    assert ("adaptive_p" in params["samplers"]) == (config.adaptive_target >= 0)


def test_that_texts_and_lists_reach_the_program_as_they_are(
    binary: Path, few_words_path: Path
) -> None:
    values: dict[str, object] = {
        "grammar": 'root ::= "it\'s" [a-z \\"$%`]+ "\\n"\n', "temperature": 0.0, "slots": 1,
        "ctx_per_slot_tok": 512, "logit_bias": ("310+1.5", "320-inf"), "dry_multiplier": 0.5,
        "dry_sequence_breakers": ("\n", "\\n", "\t", "it's", '"', " "), "threads": 1,
        "threads_batch": 1,
    }  # fmt: skip
    config = EngineConfig(model_path=str(few_words_path)).with_values(values)
    server = ServerProcess(binary, words_of(config, None))
    try:
        told = _complete(server.port, [*range(300, 310)], 20)
    finally:
        server.close()
    settings = told["generation_settings"]
    assert settings["grammar"] == config.grammar
    assert tuple(settings["dry_sequence_breakers"]) == config.dry_sequence_breakers
    biases = {entry["token"]: entry["bias"] for entry in settings["logit_bias"]}
    assert biases[310] == 1.5
    assert biases[320] is None  # minus infinity, for which JSON has no number
    assert told["content"].startswith("it's")


def test_that_the_program_drafts_with_the_model_that_the_line_names(
    binary: Path, few_words_path: Path
) -> None:
    config = EngineConfig.from_values(
        {
            "model_path": str(few_words_path), "slots": 2, "ctx_per_slot_tok": 512, "threads": 1,
            "threads_batch": 1, "temperature": 0.0, "spec_types": ("ngram-simple", "draft-simple"),
            "draft_model_path": str(few_words_path), "draft_n_max": 5, "draft_p_min": 0.01,
            "draft_cache_type_k": "q8_0",
        }
    )  # fmt: skip
    server = ServerProcess(binary, words_of(config, None))
    try:
        slots = _get(server.port, "/slots")
        timings = _complete(server.port, [*range(300, 310)], 61)["timings"]
    finally:
        server.close()
    assert [slot["speculative"] for slot in slots] == [True, True]
    # Up to five tokens a draft, nearly all right: the model drafts for itself.
    assert timings["draft_n"] > 30
    assert timings["draft_n_accepted"] > 0.8 * timings["draft_n"]


# Their names for ours. A seed of -1 comes back as the unsigned number it is inside.
SAMPLING = {
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "repeat_penalty": "repeat_penalty",
    "repeat_last_n": "repeat_last_n_tok",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_length": "dry_allowed_tok",
    "dry_penalty_last_n": "dry_last_n_tok",
    "top_n_sigma": "top_n_sigma",
    "typical_p": "typical_p",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "dynatemp_range": "dynatemp_range",
    "dynatemp_exponent": "dynatemp_exponent",
    "adaptive_target": "adaptive_target",
    "adaptive_decay": "adaptive_decay",
    "mirostat": "mirostat",
    "mirostat_tau": "mirostat_ent",
    "mirostat_eta": "mirostat_lr",
    "ignore_eos": "ignore_eos",
}


def _complete(port: int, prompt: list[int], tokens: int) -> Any:
    body = {"prompt": prompt, "n_predict": tokens, "temperature": 0, "ignore_eos": True}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def _get(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return json.load(answer)
