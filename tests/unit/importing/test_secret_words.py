"""What is a secret is hidden, and what only looks near one stays as it was."""

from __future__ import annotations

import pytest

from app.export.engine_words import engine_words
from app.importing.importer import import_text
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


@pytest.mark.parametrize(
    "name",
    ["OPENAI_KEY", "MY_PASS", "AUTH", "GITHUB_PAT", "PASSPHRASE", "TS_AUTHKEY", "COOKIE", "BEARER",
     "--api-kye", "--api_key", "--my-token", "--auth-header", "--secret-thing", "--key", "apiKey",
     "clientSecret", "--session-cookie", "DB_PASSWD", "OPENAI_API_KYE"],
)  # fmt: skip
def test_that_names_that_sound_like_secrets_are_taken_for_them(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["--n-predict-token", "--logit-bias", "--no-warmup", "--spm-infill", "--keep", "cache-type-k",
     "--cache-type-k", "--token-limit", "--cors-credentials", "--ssl-key-file", "--api-key-file",
     "unknown_key", "removed_key", "OLLAMA_AUTH", "--api-prefix", "--bypass", "--compass"],
)  # fmt: skip
def test_that_flags_of_engines_and_numbers_stay_readable(name: str) -> None:
    assert not is_secret_name(name)


def test_that_no_flag_of_llama_cpp_but_its_keys_is_a_secret() -> None:
    names = {name for word in engine_words("llama_cpp").flags for name in word.names}
    assert {name for name in names if is_secret_name(name)} == {"--api-key", "--hf-token"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://h/m.gguf?a=1&X-Amz-Signature=3f9c&b=2",
         "https://h/m.gguf?a=1&X-Amz-Signature=REDACTED&b=2"),
        ("https://h/m.gguf?token=abc", "https://h/m.gguf?token=REDACTED"),
        ("https://h/m.gguf?download=true", "https://h/m.gguf?download=true"),
        ('{"apiKey": "q1", "title": "x"}', '{"apiKey": "REDACTED", "title": "x"}'),
        ('{"a": {"auth": {"x": "q1"}}, "b": 2}', '{"a": {"auth": "REDACTED"}, "b": 2}'),
        ("{api_key: q1, b: 2}", '{api_key: "REDACTED", b: 2}'),
        ('{"enable_thinking": true, "auth": false}', '{"enable_thinking": true, "auth": false}'),
        ("Bearer x1", "Bearer REDACTED"),
    ],
)  # fmt: skip
def test_that_parts_of_a_text_are_hidden(text: str, told: str) -> None:
    assert without_secrets(text) == told
    assert without_secrets(told) == told


@pytest.mark.parametrize(
    "line",
    [
        "llama-server -m a.gguf --api-kye q7zq -c 4096",
        "llama-server -m a.gguf --api-kye=q7zq",
        "llama-server -m a.gguf --proxy-auth q7zq",
        "llama-server -m a.gguf --token-thing q7zq",
        "llama-server -m a.gguf Authorization: Bearer q7zq",
        "llama-server -m a.gguf --header 'Authorization: Bearer q7zq'",
        "llama-server -m a.gguf --header Bearer q7zq",
        "llama-server --model-url 'https://h/m.gguf?sig=q7zq&x=1'",
        'llama-server -m a.gguf --webui-config \'{"apiKey": "q7zq"}\'',
        'llama-server -m a.gguf --chat-template-kwargs \'{"a": {"token": "q7zq"}}\'',
        "export MY_PASS=q7zq\nllama-server -m a.gguf --login $MY_PASS",
        "AUTH=q7zq\nllama-server -m a.gguf --login me:${AUTH}",
        "COOKIE=q7zq PASSPHRASE=q7zq GITHUB_PAT=q7zq llama-server -m a.gguf",
        "set OPENAI_KEY=q7zq\nllama-server.exe -m a.gguf --login %OPENAI_KEY%",
        '$env:TS_AUTHKEY="q7zq"\nllama-server.exe -m a.gguf --login $env:TS_AUTHKEY',
        "vllm serve a/b --proxy-auth q7zq",
        "vllm serve a/b Authorization: Bearer q7zq",
        "docker run -e BEARER=q7zq ghcr.io/ggml-org/llama.cpp:server -m a.gguf",
    ],
)
def test_that_a_secret_is_in_nothing_that_was_found(line: str) -> None:
    told = import_text(line)
    assert told
    for found in told:
        assert "q7zq" not in repr(found)
        assert HIDDEN not in repr(found.extra_flags)


@pytest.mark.parametrize(
    "mask", ["xxx", "hf_xxxxxxxx", "sk-...", "***", "YOUR_TOKEN", "your-key", "EMPTY", "none"]
)
def test_that_what_stands_for_a_key_is_kept(mask: str) -> None:
    assert hidden(mask) == mask
    assert value_without_secrets("HF_TOKEN", mask) == mask


@pytest.mark.parametrize("secret", ["hf_x1", "xxy", "your_k3y", "nonesuch", "empty1", "x.y.z.9"])
def test_that_what_is_near_a_mask_is_hidden(secret: str) -> None:
    assert hidden(secret) == HIDDEN
