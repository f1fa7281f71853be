"""A repository of a hub in the view's words: its models, and the files that are named as drafts."""

from __future__ import annotations

from app.hub_words import sheet_of
from app.library.hub_shapes import HubFile, HubRepository, Judged, Quantisation

_MIB = 1 << 20
MODEL = Quantisation("Q4_K_M", (HubFile("m-Q4_K_M.gguf", 400 * _MIB),))
HEAD = HubFile("eagle3-m-BF16.gguf", 90 * _MIB)


def test_that_files_named_as_drafts_stand_behind_the_models() -> None:
    repository = HubRepository("a/b", "c", (MODEL,), drafts=(HEAD,))
    model, draft = sheet_of(repository, {}, frozenset()).rows
    assert (model.name, model.verdict) == ("Q4_K_M", "")
    assert (draft.name, draft.verdict) == (HEAD.name, "named as a draft")
    assert draft.can_download
    assert "Find drafts on the hub" in draft.tip
    asked = sheet_of(repository, {}, frozenset({HEAD.name})).rows[1]
    assert asked.verdict == "reading its header …"
    said = Judged(HEAD.name, HEAD.size_bytes, problem="It only drafts for another model.")
    judged = sheet_of(repository, {HEAD.name: said}, frozenset()).rows[1]
    assert (judged.verdict, judged.tip) == ("cannot be said", said.problem)


def test_that_a_repository_of_nothing_but_drafts_shows_them() -> None:
    sheet = sheet_of(HubRepository("a/b", "c", (), drafts=(HEAD,)), {}, frozenset())
    assert [row.name for row in sheet.rows] == [HEAD.name]
    assert sheet.chosen == HEAD.name
