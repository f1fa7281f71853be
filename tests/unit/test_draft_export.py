"""Drafts by a model in the command line: also those that the desk does not run itself."""

from __future__ import annotations

import pytest

from app.export import llama_server
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Severity, problems_of
from engine_bridge.settings.spec_kinds import EXPORT_ONLY_KINDS


@pytest.mark.parametrize("kind", EXPORT_ONLY_KINDS)
def test_that_the_line_carries_what_the_desk_does_not_run(kind: str) -> None:
    config = EngineConfig(
        model_path="/m.gguf", spec_types=(kind,), draft_model_path="/head.gguf", draft_n_max=5
    )
    text = llama_server.export(config, None, None).text
    assert f"--spec-type {kind} -md /head.gguf --spec-draft-n-max 5 -ngld all" in text
    # The engine gets neither the model nor rows for its drafts.
    assert config.draft is None
    assert config.drafted_max_tok == 0
    (problem,) = problems_of(config)
    assert problem.severity is Severity.WARNING
    assert f"{kind} stands in the command line but does not run here" in problem.message
    without = EngineConfig(model_path="/m.gguf", spec_types=(kind,))
    assert any("add -md FILE" in note for note in llama_server.export(without, None, None).notes)


def test_that_layers_of_the_model_s_own_need_no_file_in_the_line() -> None:
    config = EngineConfig(
        model_path="/m.gguf", spec_types=("draft-mtp",), draft_cache_type_k="q8_0", draft_p_min=0.5
    )
    exported = llama_server.export(config, None, None)
    expected = "--spec-type draft-mtp --spec-draft-n-max 3 --spec-draft-p-min 0.5 -ctkd q8_0"
    assert f"{expected} -ctvd f16" in exported.text
    assert "-md" not in exported.text
    assert "-ngld" not in exported.text
    assert not any("-md FILE" in note for note in exported.notes)


def test_that_a_file_of_guessing_layers_stands_in_the_line() -> None:
    config = EngineConfig(
        model_path="/m.gguf", spec_types=("ngram-mod", "draft-mtp"), draft_model_path="/d.gguf"
    )
    text = llama_server.export(config, None, None).text
    assert "--spec-type ngram-mod,draft-mtp" in text
    assert "-md /d.gguf --spec-draft-n-max 3 -ngld all -ctkd f16 -ctvd f16" in text


def test_that_counts_of_other_texts_stand_in_the_line_with_ngram_cache_alone() -> None:
    paths: dict[str, object] = {
        "lookup_cache_static_path": "/a b.bin",
        "lookup_cache_dynamic_path": "/c.bin",
    }
    config = EngineConfig(model_path="/m.gguf").with_values(paths)
    used = config.with_values({"spec_types": ("ngram-cache", "ngram-mod")})
    assert "-lcs '/a b.bin' -lcd /c.bin" in llama_server.export(used, None, None).text
    exported = llama_server.export(config.with_values({"spec_types": ("ngram-mod",)}), None, None)
    assert "-lc" not in exported.text
    for key in paths:
        assert "while ngram-cache does not draft" in exported.not_carried[key]
