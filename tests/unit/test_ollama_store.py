"""Ollama's models, found by its manifests and named as ``ollama run`` names them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.library.model_walk import Walk, entries_of
from app.library.ollama_store import ollama_models_folder, walk_ollama

_DIGESTS = ["a" * 64, "b" * 64]
_MODEL = "application/vnd.ollama.image.model"


def manifest(root: Path, name: str, digest: str, media_type: str = _MODEL) -> Path:
    path = root / "manifests" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'c' * 64}"},
        {"mediaType": media_type, "digest": f"sha256:{digest}", "size": 4},
    ]
    path.write_text(json.dumps({"schemaVersion": 2, "config": {}, "layers": layers}))
    return path


def blob(root: Path, digest: str) -> Path:
    path = root / "blobs" / f"sha256-{digest}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF")
    return path


def walked(root: Path) -> Walk:
    return walk_ollama(os.fsencode(root), 6, lambda: None)


def test_that_models_have_the_names_that_ollama_takes(tmp_path: Path) -> None:
    for digest in _DIGESTS:
        blob(tmp_path, digest)
    manifest(tmp_path, "registry.ollama.ai/library/llama3.2/latest", _DIGESTS[0])
    manifest(tmp_path, "registry.ollama.ai/somebody/tuned/q8", _DIGESTS[1])
    found = walked(tmp_path)
    entries = list(entries_of(found.files, b"ollama", lambda _: True))
    assert sorted(entry.name for entry in entries) == ["llama3.2:latest", "somebody/tuned:q8"]
    assert {Path(entry.path).name for entry in entries} == {f"sha256-{d}" for d in _DIGESTS}
    assert found.left_out == []


def test_that_another_registry_is_part_of_the_name(tmp_path: Path) -> None:
    blob(tmp_path, _DIGESTS[0])
    manifest(tmp_path, "hf.co/somebody/tuned/latest", _DIGESTS[0])
    (file,) = walked(tmp_path).files
    assert file.title == "hf.co/somebody/tuned:latest"


def test_that_two_names_of_one_file_are_one_model(tmp_path: Path) -> None:
    blob(tmp_path, _DIGESTS[0])
    for tag in ("3b", "latest"):
        manifest(tmp_path, f"registry.ollama.ai/library/llama3.2/{tag}", _DIGESTS[0])
    (file,) = walked(tmp_path).files
    assert file.title == "llama3.2:3b"


def test_that_a_download_that_never_ended_says_what_completes_it(tmp_path: Path) -> None:
    manifest(tmp_path, "registry.ollama.ai/library/llama3.2/latest", _DIGESTS[0])
    (file,) = walked(tmp_path).files
    assert "ollama pull llama3.2:latest" in file.problem


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"layers": 3}'])
def test_that_a_file_that_is_no_manifest_is_told_and_the_rest_listed(
    tmp_path: Path, content: bytes
) -> None:
    blob(tmp_path, _DIGESTS[0])
    manifest(tmp_path, "registry.ollama.ai/library/good/latest", _DIGESTS[0])
    manifest(tmp_path, "registry.ollama.ai/library/bad/latest", "x").write_bytes(content)
    found = walked(tmp_path)
    assert [file.title for file in found.files] == ["good:latest"]
    assert len(found.left_out) == 1
    assert "bad" in found.left_out[0]


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "A" * 64, "a" * 63, ""])
def test_that_a_digest_leads_nowhere_but_into_the_blobs(tmp_path: Path, digest: str) -> None:
    manifest(tmp_path, "registry.ollama.ai/library/evil/latest", digest)
    assert walked(tmp_path).files == []


def test_that_models_of_other_formats_are_passed_over(tmp_path: Path) -> None:
    blob(tmp_path, _DIGESTS[0])
    kind = "application/vnd.ollama.image.tensor"
    manifest(tmp_path, "registry.ollama.ai/library/mlx/latest", _DIGESTS[0], kind)
    assert walked(tmp_path) == Walk([], [])


def test_that_what_lies_at_another_depth_is_no_manifest(tmp_path: Path) -> None:
    manifest(tmp_path, "registry.ollama.ai/stray", _DIGESTS[0])
    manifest(tmp_path, "registry.ollama.ai/a/b/c/too/deep", _DIGESTS[0])
    assert walked(tmp_path).files == []


def test_that_a_machine_without_ollama_is_told_by_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        walked(tmp_path)


def test_that_the_users_own_folder_for_ollama_is_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    assert ollama_models_folder(tmp_path) == tmp_path / ".ollama" / "models"
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "big disk"))
    assert ollama_models_folder(tmp_path) == tmp_path / "big disk"
