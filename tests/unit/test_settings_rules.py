"""Rules between settings: each fires where it should, and its repair repairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import (
    ChoiceDomain,
    FlagDomain,
    IntDomain,
    ListDomain,
    PathDomain,
)
from engine_bridge.settings.rules import (
    MAX_POOL_CELLS,
    RULES,
    Problem,
    Severity,
    errors_of,
    problems_of,
    repair_words,
    repaired,
)
from engine_bridge.settings.table import BY_KEY


def _model(
    *,
    architecture: str = "llama",
    head_dim: int = 128,
    is_mla: bool = False,
    trained: int = 32_768,
    is_recurrent: bool = False,
    is_hybrid: bool = False,
    nextn_layers: int = 0,
    window_tok: int = 0,
) -> ModelFacts:
    return ModelFacts(
        path="m.gguf",
        name="Testling",
        architecture=architecture,
        quantisation="Q4_K",
        file_bytes=1,
        tensor_bytes=1,
        parameters=1,
        layers=2,
        ctx_train_tok=trained,
        vocab=32_000,
        heads=4,
        kv_heads=2,
        head_dims_k=(head_dim,),
        head_dims_v=(head_dim,),
        is_mla=is_mla,
        is_recurrent=is_recurrent,
        is_hybrid=is_hybrid,
        nextn_layers=nextn_layers,
        window_tok=window_tok,
    )


_DRAFT_SIMPLE: dict[str, object] = {
    "spec_types": ("draft-simple",), "draft_model_path": "draft.gguf",
}  # fmt: skip

CASES: list[tuple[str, dict[str, object], ModelFacts | None, Severity]] = [
    ("split_mode", {"split_mode": "tensor", "flash_attn": "off"}, None, Severity.ERROR),
    ("split_mode", {"split_mode": "tensor"}, _model(architecture="mamba"), Severity.ERROR),
    ("ubatch_tok", {"slots": 3}, _model(architecture="minimax-01"), Severity.ERROR),
    ("devices", {"devices": ("CUDA0", "none")}, None, Severity.ERROR),
    ("main_gpu", {"main_gpu": 1}, None, Severity.WARNING),
    ("cpu_moe", {"cpu_moe": True}, _model(), Severity.WARNING),
    ("n_cpu_moe", {"n_cpu_moe": 2}, _model(), Severity.WARNING),
    ("n_cpu_moe", {"n_cpu_moe": 2, "cpu_moe": True}, None, Severity.WARNING),
    ("rpc_servers", {"rpc_servers": ("192.168.0.7:50052",)}, None, Severity.WARNING),
    ("cache_type_v", {"cache_type_v": "q8_0", "flash_attn": "off"}, None, Severity.ERROR),
    ("cache_type_v", {"cache_type_v": "q4_0"}, _model(architecture="grok"), Severity.ERROR),
    ("cache_type_v", {"cache_type_k": "q8_0"}, _model(is_mla=True), Severity.ERROR),
    ("cache_type_k", {"cache_type_k": "q8_0"}, _model(head_dim=80), Severity.ERROR),
    ("cache_type_v", {"cache_type_v": "iq4_nl"}, _model(head_dim=80), Severity.ERROR),
    ("ubatch_tok", {"batch_tok": 256}, None, Severity.ERROR),
    ("batch_tok", {"batch_tok": 32, "ubatch_tok": 32, "slots": 33}, None, Severity.ERROR),
    (
        "ngram_size_m",
        {"spec_types": ("ngram-simple",), "batch_tok": 32, "ubatch_tok": 32},
        None,
        Severity.ERROR,
    ),
    ("ctx_per_slot_tok", {"ctx_per_slot_tok": 1_048_576, "slots": 32}, None, Severity.ERROR),
    (
        "ctx_per_slot_tok",
        {"kv_unified": True, "ctx_total_tok": 2**30},
        None,
        Severity.ERROR,
    ),
    (
        "ctx_per_slot_tok",
        {"kv_unified": True, "ctx_per_slot_tok": 10_485_760, "slots": 256},
        None,
        Severity.ERROR,
    ),
    (
        "ngram_size_m",
        {"spec_types": ("ngram-simple",), "ngram_size_m": 8},
        None,
        Severity.WARNING,
    ),
    (
        "ngram_mod_n_max",
        {"spec_types": ("ngram-mod", "ngram-map-k"), "batch_tok": 64, "ubatch_tok": 64},
        None,
        Severity.ERROR,
    ),
    (
        "ngram_mod_n_min",
        {"spec_types": ("ngram-mod",), "ngram_mod_n_max": 32},
        None,
        Severity.WARNING,
    ),
    (
        "ngram_mod_n_match",
        {"spec_types": ("ngram-mod",), "ngram_mod_n_match": 15},
        None,
        Severity.WARNING,
    ),
    ("spec_types", {"spec_types": ("ngram-simple", "draft-simple")}, None, Severity.ERROR),
    ("spec_types", {"spec_types": ("draft-mtp", "draft-eagle3")}, None, Severity.ERROR),
    ("spec_types", {"spec_types": ("draft-mtp",)}, _model(), Severity.ERROR),
    ("spec_types", {"spec_types": ("draft-mtp",)}, _model(architecture="qwen35"), Severity.ERROR),
    ("spec_types", {"spec_types": ("draft-dspark",)}, None, Severity.WARNING),
    (
        "ubatch_tok",
        {"spec_types": ("draft-mtp",), "ubatch_tok": 16, "draft_n_max": 15},
        _model(architecture="qwen35", is_hybrid=True, nextn_layers=1),
        Severity.ERROR,
    ),
    (
        "draft_cache_type_v",
        {**_DRAFT_SIMPLE, "draft_cache_type_v": "q8_0", "flash_attn": "off"},
        None,
        Severity.ERROR,
    ),
    (
        "draft_n_max",
        {**_DRAFT_SIMPLE, "draft_n_max": 64, "batch_tok": 32, "ubatch_tok": 32},
        None,
        Severity.ERROR,
    ),
    ("draft_n_min", {**_DRAFT_SIMPLE, "draft_n_min": 4}, None, Severity.WARNING),
    (
        "ctx_per_slot_tok",
        {"kv_unified": True, "ctx_total_tok": 2048, "ctx_per_slot_tok": 4096},
        None,
        Severity.WARNING,
    ),
    ("ctx_per_slot_tok", {"ctx_per_slot_tok": 65_536}, _model(), Severity.WARNING),
    ("ctx_per_slot_tok", {}, _model(trained=128), Severity.WARNING),
    ("ctx_per_slot_tok", {"ctx_per_slot_tok": 256}, None, Severity.WARNING),
    (
        "ctx_per_slot_tok",
        {"kv_unified": True, "ctx_total_tok": 256, "ctx_per_slot_tok": 256},
        None,
        Severity.WARNING,
    ),
    ("context_shift", {"context_shift": True}, _model(is_recurrent=True), Severity.WARNING),
    ("context_shift", {"context_shift": True}, _model(architecture="qwen2vl"), Severity.WARNING),
    (
        "cache_type_k",
        {"context_shift": True, "cache_type_k": "bf16"},
        _model(),
        Severity.WARNING,
    ),
    (
        "cache_type_k",
        {"context_shift": True, "cache_type_k": "q8_0"},
        _model(head_dim=96),
        Severity.WARNING,
    ),
    ("context_shift", {"context_shift": True}, _model(window_tok=1024), Severity.WARNING),
    ("cache_reuse_tok", {"cache_reuse_tok": 64}, _model(window_tok=1024), Severity.WARNING),
    ("cache_reuse_tok", {"cache_reuse_tok": 64, "cache_prompt": False}, None, Severity.WARNING),
    ("json_schema", {"grammar": 'root ::= "a"', "json_schema": "{}"}, None, Severity.ERROR),
    ("mirostat", {"mirostat": 2, "top_k": 7, "xtc_probability": 0.5}, None, Severity.WARNING),
    ("mirostat", {"mirostat": 1, "temperature": 0.0}, None, Severity.WARNING),
    ("adaptive_target", {"adaptive_target": 0.5, "temperature": 0.0}, None, Severity.WARNING),
    (
        "xtc_threshold",
        {"xtc_probability": 0.5, "xtc_threshold": 0.75},
        None,
        Severity.WARNING,
    ),
]


def test_that_the_defaults_are_without_problem() -> None:
    assert problems_of(EngineConfig()) == ()
    assert problems_of(EngineConfig(), _model()) == ()


def test_that_every_rule_is_tested() -> None:
    fired = {
        rule
        for _, values, model, _ in CASES
        for rule in RULES
        if rule(EngineConfig.from_values(values), model) is not None
    }
    assert fired == set(RULES)


@pytest.mark.parametrize(("key", "values", "model", "severity"), CASES)
def test_that_a_problem_is_named_and_its_repair_repairs(
    key: str, values: dict[str, object], model: ModelFacts | None, severity: Severity
) -> None:
    config = EngineConfig.from_values(values)
    (problem,) = [p for p in problems_of(config, model) if p.keys[0] == key][:1]
    assert problem.severity is severity
    assert problem.message.endswith(".")
    assert problem.fix
    assert problem not in problems_of(repaired(config, problem), model)
    assert _repaired_wholly(config, model) is not None


def test_that_a_quantised_k_cache_alone_needs_no_flash_attention() -> None:
    assert problems_of(EngineConfig(cache_type_k="q8_0", flash_attn="off"), _model()) == ()
    odd = EngineConfig(cache_type_k="q8_0", flash_attn="off")
    (problem,) = problems_of(odd, _model(head_dim=80))
    assert problem.message.endswith("llama.cpp cannot compute with it.")


def test_that_the_heads_of_guessing_layers_count() -> None:
    """They keep a cache of their own, in types of its own."""
    values: dict[str, object] = {"draft_cache_type_k": "q8_0", "flash_attn": "off"}
    model = _model(head_dim=80)
    assert not errors_of(EngineConfig.from_values(values), model)
    guessing = EngineConfig.from_values(values | {"spec_types": ["draft-mtp"]})
    problem = next(p for p in errors_of(guessing, model) if p.keys == ("draft_cache_type_k",))
    assert "80" in problem.message
    left = errors_of(repaired(guessing, problem), model)
    assert all(p.keys != problem.keys for p in left)


def test_that_a_repair_does_not_raise_what_nobody_asked_for() -> None:
    config = EngineConfig(kv_unified=True, ctx_total_tok=2**30, ctx_per_slot_tok=4096)
    (problem,) = errors_of(config)
    assert problem.fix == {"ctx_total_tok": MAX_POOL_CELLS}


def test_that_a_pool_too_large_is_cut_to_what_the_model_was_trained_for() -> None:
    config = EngineConfig(ctx_per_slot_tok=10_000_000)
    (problem,) = errors_of(config, _model())
    assert problem.fix == {"ctx_per_slot_tok": 32768}
    assert problems_of(repaired(config, problem), _model()) == ()
    (problem,) = errors_of(config)
    assert problem.fix == {"ctx_per_slot_tok": MAX_POOL_CELLS // 4}


def test_that_errors_come_before_warnings() -> None:
    config = EngineConfig(cache_type_v="q8_0", flash_attn="off", ctx_per_slot_tok=256)
    assert [p.severity for p in problems_of(config)] == [Severity.ERROR, Severity.WARNING]


def test_that_a_value_from_the_wire_outside_its_domain_is_an_error() -> None:
    config = EngineConfig(batch_tok=0, slots=0)
    problems = errors_of(config)
    assert [problem.keys for problem in problems] == [("slots",), ("batch_tok",)]
    for problem in problems:
        config = repaired(config, problem)
    assert problems_of(config) == ()


_KEYS = (
    "ctx_per_slot_tok", "slots", "kv_unified", "ctx_total_tok", "cache_type_k", "cache_type_v",
    "flash_attn", "spec_types", "ngram_size_m", "ngram_size_n", "batch_tok", "ubatch_tok",
    "draft_model_path", "draft_n_max", "draft_n_min", "draft_cache_type_v",
)  # fmt: skip


def _values_of(key: str) -> st.SearchStrategy[object]:
    domain = BY_KEY[key].domain
    if isinstance(domain, IntDomain):
        numbers = st.integers(domain.minimum, domain.maximum)
        return st.one_of(numbers, st.sampled_from([*domain.stops, *domain.words]))
    if isinstance(domain, ChoiceDomain):
        return st.sampled_from(domain.choices)
    if isinstance(domain, ListDomain):
        return st.sampled_from([(), domain.choices, domain.choices[:1], domain.choices[1:]])
    if isinstance(domain, PathDomain):
        return st.sampled_from(["", "draft.gguf"])
    assert isinstance(domain, FlagDomain)
    return st.booleans()


# No Grok is MLA; together they would ask for opposite things.
_models = st.one_of(
    st.none(),
    st.builds(
        _model,
        architecture=st.sampled_from(["llama", "grok"]),
        head_dim=st.sampled_from([64, 80, 128]),
        is_mla=st.booleans(),
        trained=st.sampled_from([0, 128, 2048, 131_072]),
        is_recurrent=st.booleans(),
    ).filter(lambda model: not (model.is_mla and model.architecture == "grok")),
)


@given(st.fixed_dictionaries({key: _values_of(key) for key in _KEYS}), _models)
def test_that_any_configuration_can_be_repaired(
    values: dict[str, object], model: ModelFacts | None
) -> None:
    config = EngineConfig.from_values(values)
    whole = _repaired_wholly(config, model)
    assert whole is not None, problems_of(config, model)


def _repaired_wholly(config: EngineConfig, model: ModelFacts | None) -> EngineConfig | None:
    """``config`` after one repair at a time; None if they go round in circles."""
    for _ in range(len(RULES) + 1):
        problems: tuple[Problem, ...] = problems_of(config, model)
        if not problems:
            return config
        config = repaired(config, problems[0])
    return None


def test_that_removing_the_draft_model_keeps_the_other_drafts() -> None:
    (problem,) = errors_of(EngineConfig(spec_types=("ngram-simple", "draft-simple")))
    assert problem.fix == {"spec_types": ("ngram-simple",)}
    assert repair_words(problem) == "Set Drafts to ngram-simple"


def test_that_a_repair_calls_no_drafts_what_the_control_calls_them() -> None:
    (problem,) = errors_of(EngineConfig(spec_types=("draft-simple",)))
    assert repair_words(problem) == "Set Drafts to off"


def test_that_a_repair_names_what_an_empty_value_is_or_clears_it() -> None:
    written = Problem(("json_schema",), "", {"json_schema": ""})
    assert repair_words(written) == "Clear JSON schema"
    assert repair_words(Problem(("devices",), "", {"devices": ()})) == "Set Devices to all"
    assert repair_words(Problem(("lora",), "", {"lora": ()})) == "Set LoRA adapters to none"
