"""The samplers against llama-server's: same seed, same settings, same tokens."""

from __future__ import annotations

import json
import math
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_bridge.child.sampling import biases_of
from engine_bridge.settings.config import EngineConfig
from tests.bench.peer import ServerProcess
from tests.engine.harness import InProcess, random_tokens, tiny_config

LLAMA_SERVER = Path(__file__).resolve().parents[2] / "build" / "bench" / "llama-server"
NEW_TOK = 48
# Twice the same words, so that penalties and DRY have something to punish.
PROMPT = [*random_tokens(24, seed=3), *random_tokens(24, seed=3)]
SAMPLERS = (
    "penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature",
)  # fmt: skip
# Their names for ours, as a request says them.
NAMES = {
    "temperature": "temperature",
    "dynatemp_range": "dynatemp_range",
    "dynatemp_exponent": "dynatemp_exponent",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "top_n_sigma": "top_n_sigma",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "repeat_penalty": "repeat_penalty",
    "repeat_last_n_tok": "repeat_last_n",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_tok": "dry_allowed_length",
    "dry_last_n_tok": "dry_penalty_last_n",
    "mirostat": "mirostat",
    "mirostat_ent": "mirostat_tau",
    "mirostat_lr": "mirostat_eta",
    "adaptive_target": "adaptive_target",
    "adaptive_decay": "adaptive_decay",
    "seed": "seed",
    "ignore_eos": "ignore_eos",
}
GRAMMAR = 'root ::= item+\nitem ::= "- " [a-z ]{3,9} "\\n"\n'
SCHEMA = '{"type": "array", "items": {"enum": ["ja", "nein", "vielleicht"]}, "minItems": 3}'
OBJECT = (
    '{"type": "object", "properties": {"k": {"type": "integer", "minimum": 7, "maximum": 123},'
    ' "w": {"type": "string", "minLength": 2, "maxLength": 4}, "z": {"type": "boolean"}},'
    ' "required": ["w"]}'
)
CASES: dict[str, dict[str, object]] = {
    "defaults": {},
    "hot": {"temperature": 2.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
    "filters": {"top_k": 12, "top_p": 0.8, "min_p": 0.1},
    "penalties": {"repeat_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.25},
    "long penalties": {"repeat_penalty": 1.2, "repeat_last_n_tok": 20},
    "dry": {"dry_multiplier": 2.0, "dry_base": 1.5, "dry_allowed_tok": 1, "dry_last_n_tok": 90},
    "dry with own breakers": {
        "dry_multiplier": 2.0, "dry_last_n_tok": 64, "dry_sequence_breakers": ("be", " k", "\n"),
    },
    "dry, greedy": {"temperature": 0.0, "dry_multiplier": 3.0},
    "top-n-sigma": {"top_n_sigma": 1.0, "temperature": 1.5},
    "typical": {"typical_p": 0.4, "temperature": 1.2},
    "typical, greedy": {"typical_p": 0.3, "temperature": 0.0},
    "xtc": {"xtc_probability": 0.6, "xtc_threshold": 0.02, "temperature": 1.2},
    "dynatemp": {"dynatemp_range": 0.6, "dynatemp_exponent": 1.7},
    "adaptive": {"adaptive_target": 0.2, "adaptive_decay": 0.8, "temperature": 1.1},
    "mirostat 1": {"mirostat": 1, "mirostat_ent": 3.0, "mirostat_lr": 0.2},
    "mirostat 2": {"mirostat": 2, "mirostat_ent": 4.0, "mirostat_lr": 0.1, "temperature": 1.3},
    "biases": {"logit_bias": ("310+2.5", "350-inf", "400-1", "310+1")},
    "biases, greedy": {"logit_bias": ("310+1.5", "350-inf"), "temperature": 0.0},
    "grammar": {"grammar": GRAMMAR},
    "grammar, greedy": {"grammar": GRAMMAR, "temperature": 0.0},
    "grammar and all": {
        "grammar": GRAMMAR, "xtc_probability": 0.5, "xtc_threshold": 0.02, "dry_multiplier": 1.0,
        "repeat_penalty": 1.2, "top_n_sigma": 2.0, "dynatemp_range": 0.3,
    },
    "grammar, adaptive": {"grammar": GRAMMAR, "adaptive_target": 0.3},
    "grammar, mirostat 2": {"grammar": GRAMMAR, "mirostat": 2},
    "schema": {"json_schema": SCHEMA},
    "schema of an object": {"json_schema": OBJECT},
    "any schema": {"json_schema": "{}", "temperature": 1.5},
    "everything": {
        "repeat_penalty": 1.1, "dry_multiplier": 0.8, "top_n_sigma": 2.5, "top_k": 30,
        "typical_p": 0.9, "top_p": 0.9, "min_p": 0.02, "xtc_probability": 0.3,
        "xtc_threshold": 0.05, "dynatemp_range": 0.2, "logit_bias": ("320+1",),
    },
}  # fmt: skip

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def server(few_words_path: Path) -> Iterator[ServerProcess]:
    if not LLAMA_SERVER.exists():
        pytest.skip("`make bench` has not built llama-server")
    flags = ["-c", "512", "-np", "1", "-t", "1", "-tb", "1", "--cache-ram", "0", "-fit", "off"]
    running = ServerProcess(LLAMA_SERVER, ["-m", str(few_words_path), *flags])
    yield running
    running.close()


@pytest.mark.parametrize("case", CASES)
def test_that_the_tokens_are_llama_server_s(
    server: ServerProcess, few_words_path: Path, case: str
) -> None:
    values = {"temperature": 0.8, "seed": 42, "ignore_eos": True} | CASES[case]
    if "grammar" in values or "json_schema" in values:
        values["ignore_eos"] = False
    config = tiny_config(few_words_path, **values)
    theirs = _their_tokens(server.port, config)
    with InProcess() as desk:
        desk.load(config)
        assert _our_tokens(desk) == theirs
    assert len(theirs) >= 4


@pytest.mark.parametrize("spec_types", [("ngram-simple",)])
@pytest.mark.parametrize("case", ["grammar and all", "dry", "xtc", "mirostat 1", "adaptive"])
def test_that_drafts_change_nothing_of_what_is_drawn(
    few_words_path: Path, case: str, spec_types: tuple[str, ...]
) -> None:
    """Samplers must be told of what was kept of a draft, and of nothing that was rejected."""
    values = {"temperature": 0.8, "seed": 42} | CASES[case]
    config = tiny_config(few_words_path, **values)
    drafting = {"spec_types": spec_types, "ngram_size_n": 2, "ngram_size_m": 4}
    with InProcess() as desk:
        desk.load(config)
        plain = _our_tokens(desk)
        desk.apply(config.with_values(drafting))
        assert _our_tokens(desk) == plain


def _our_tokens(desk: InProcess) -> list[int]:
    finished = desk.finished(desk.ask(PROMPT, max_new_tok=NEW_TOK))
    assert finished.reason in {"token_limit", "end"}, finished.detail
    slot = desk.batcher.slots[0]
    # The last one was never computed, and stands behind those that were.
    tokens: list[int] = slot.tokens[len(PROMPT) : slot.cached + 1].tolist()
    return tokens


def _their_tokens(port: int, config: EngineConfig) -> list[int]:
    body: dict[str, Any] = {theirs: getattr(config, ours) for ours, theirs in NAMES.items()}
    body |= {"prompt": PROMPT, "n_predict": NEW_TOK, "return_tokens": True, "cache_prompt": False}
    body["dry_sequence_breakers"] = list(config.dry_sequence_breakers)
    biases = biases_of(config)
    body["logit_bias"] = [[t, False if math.isinf(b) else b] for t, b in biases.items()]
    adaptive = ("adaptive_p",) if config.adaptive_target >= 0 else ()
    body["samplers"] = [*SAMPLERS, *adaptive]
    if config.grammar:
        body["grammar"] = config.grammar
    if config.json_schema:
        body["json_schema"] = json.loads(config.json_schema)
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/completion",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        tokens: list[int] = json.load(answer)["tokens"]
    return tokens
