"""Files of a repository, sorted by their names as people publish them."""

from __future__ import annotations

import pytest

from app.library.hub_shapes import HubFile
from app.library.quantisations import quantisation_name, sorted_files


def files(*paths: str) -> list[HubFile]:
    return [HubFile(path, 100 + number) for number, path in enumerate(paths)]


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("Qwen3-8B-Q4_K_M", "Q4_K_M"),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", "q4_k_m"),
        ("Qwen3-8B-UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("model.IQ3_XXS", "IQ3_XXS"),
        ("gpt-oss-20b-mxfp4_moe", "mxfp4_moe"),
        ("gemma-3-270m-it-BF16", "BF16"),
        ("llama-f16", "f16"),
        ("Q4_K_M/DeepSeek-R1-Q4_K_M", "Q4_K_M"),
        ("UD-Q2_K_XL/DeepSeek-R1", "UD-Q2_K_XL"),
        ("ggml-model", ""),
        ("Llama-3.1-8B", ""),
        ("phi-q", ""),
    ],
)
def test_that_a_quantisation_is_read_from_the_end_of_a_name(stem: str, name: str) -> None:
    assert quantisation_name(stem) == name


def test_that_models_stand_by_size_and_all_else_is_apart() -> None:
    found = sorted_files(
        files(
            "README.md", "m-Q8_0.gguf", "m-Q4_K_M.gguf", "mmproj-F16.gguf", "m-imatrix.gguf",
            "m-eagle3-Q8_0.gguf", "m-lora-F16.gguf", "config.json",
        )
    )  # fmt: skip
    assert [model.name for model in found.models] == ["Q8_0", "Q4_K_M"]
    assert [file.name for file in found.projectors] == ["mmproj-F16.gguf"]
    assert [file.name for file in found.drafts] == ["m-eagle3-Q8_0.gguf"]


def test_that_parts_are_one_model_in_their_order() -> None:
    names = [f"UD-Q2_K_XL/m-UD-Q2_K_XL-0000{n}-of-00003.gguf" for n in (3, 1, 2)]
    (model,) = sorted_files(files(*names)).models
    assert model.name == "UD-Q2_K_XL"
    assert [file.name[-19:-14] for file in model.files] == ["00001", "00002", "00003"]
    assert (model.size_bytes, model.missing_parts) == (303, 0)


def test_that_a_name_that_leads_out_of_the_repository_is_no_model() -> None:
    names = ("/etc/x-Q4_0.gguf", "../../x-Q5_0.gguf", "a/../../x-Q8_0.gguf", "C:/x-Q6_K.gguf")
    assert sorted_files(files(*names, "\\\\host\\x-Q4_1.gguf")).models == ()


def test_that_missing_parts_are_counted() -> None:
    (model,) = sorted_files(
        files("m-Q4_0-00001-of-00004.gguf", "m-Q4_0-00003-of-00004.gguf")
    ).models
    assert model.missing_parts == 2


def test_that_two_models_of_one_quantisation_are_told_apart_by_their_files() -> None:
    found = sorted_files(files("base-Q4_0.gguf", "instruct-Q4_0.gguf", "base-Q8_0.gguf")).models
    assert [model.name for model in found] == ["base-Q4_0", "Q8_0", "instruct-Q4_0"] or [
        model.name for model in found
    ] == ["base-Q4_0", "instruct-Q4_0", "Q8_0"]


def test_that_a_name_that_says_nothing_is_the_files() -> None:
    (model,) = sorted_files(files("ggml-model.gguf")).models
    assert model.name == "ggml-model"
