"""Drafts in Ollama, where the draft model is the model itself: its parser refuses such a DRAFT."""

from __future__ import annotations

import pytest

from app.export import ollama
from app.export.dialect import Export
from engine_bridge.settings.config import EngineConfig
from tests.unit.export.modelfile_reader import instructions_of
from tests.unit.fake_client import model_facts

PATH = "/models/m.gguf"


def _export(kind: str, draft: str) -> Export:
    config = EngineConfig(model_path=PATH, spec_types=(kind,), draft_model_path=draft)
    return ollama.export(config, None, model_facts())


def _instructions(export: Export) -> dict[str, str]:
    return dict(instructions_of(export.files[0].text))


@pytest.mark.parametrize("kind", ["draft-simple", "draft-mtp"])
def test_that_another_file_is_the_draft(kind: str) -> None:
    assert _instructions(_export(kind, "/models/small.gguf"))["DRAFT"] == "/models/small.gguf"


def test_that_the_model_itself_is_no_draft_of_it() -> None:
    export = _export("draft-simple", PATH)
    assert "DRAFT" not in _instructions(export)
    assert "draft_num_predict" not in export.files[0].text
    for key in ("spec_types", "draft_model_path"):
        assert "refuses a DRAFT that is the model itself" in export.not_carried[key]


def test_that_layers_of_the_model_s_own_need_no_draft() -> None:
    export = _export("draft-mtp", PATH)
    assert "DRAFT" not in _instructions(export)
    assert "PARAMETER draft_num_predict 3" in export.files[0].text
    assert "spec_types" not in export.not_carried
    assert "draft_model_path" in export.not_carried
