"""What is a secret is hidden, and what only looks near one stays as it was."""

from __future__ import annotations

import pytest

from app.importing.secret_words import (
    HIDDEN,
    hidden,
    is_secret_name,
    value_without_secrets,
    without_secrets,
)

# Put together here, so that no file holds anything of the form of a real key.
TOKEN = "hf_" + "A1b2" * 8
KEY = "sk-" + "proj-" + "x9" * 12


@pytest.mark.parametrize(
    "name",
    ["--api-key", "--hf-token", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "OPENAI_API_KEY",
     "--admin-api-key", "--adminpassword", "--hordekey", "KCPP_PASSWORD", "AWS_SECRET_ACCESS_KEY",
     "--password", "api_key"],
)  # fmt: skip
def test_that_names_of_secrets_are_known(name: str) -> None:
    assert is_secret_name(name)
    assert value_without_secrets(name, "hunter2") == HIDDEN


@pytest.mark.parametrize(
    "name",
    ["--max-num-batched-tokens", "--tokenizer", "--speculative-num-draft-tokens", "max_tokens",
     "--speculative-token-map", "--nobostoken", "--hf-config-path", "--ssl-keyfile", "top_k",
     "OLLAMA_KEEP_ALIVE", "--num-lookahead-tokens", "--monkey"],
)  # fmt: skip
def test_that_names_that_only_sound_alike_are_none(name: str) -> None:
    assert not is_secret_name(name)


def test_that_keys_are_hidden_wherever_they_stand() -> None:
    assert without_secrets(f"-e HF_TOKEN={TOKEN} x") == f"-e HF_TOKEN={HIDDEN} x"
    assert without_secrets(KEY) == HIDDEN
    assert (
        without_secrets("Authorization: Bearer abcdefgh12345") == f"Authorization: Bearer {HIDDEN}"
    )
    assert without_secrets("http://me:pass@host/v1") == f"http://{HIDDEN}@host/v1"


@pytest.mark.parametrize(
    "text",
    ["--hf-config-path ../DeepSeek-V3/", "/srv/user/models/sk-model.gguf", "hf_repo",
     "unsloth/Qwen3-0.6B-GGUF:Q4_K_M", "http://host:8080/v1", "D:/LLM/hf_models/a.gguf"],
)  # fmt: skip
def test_that_paths_and_flags_stay(text: str) -> None:
    assert without_secrets(text) == text


def test_that_a_variable_is_no_secret_yet() -> None:
    assert [hidden(text) for text in ("$HF_TOKEN", "%KEY%", "<key>", "[key]", "")] == [
        "$HF_TOKEN", "%KEY%", "<key>", "[key]", "",
    ]  # fmt: skip
