"""Texts as people paste them: postings, notes, logs, snippets of files, many flags at once.

Each with the engine, what has to be recovered, and the problems that must be told.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from app.importing.importer import import_text


@dataclass(frozen=True)
class Paste:
    """A text and what is in it; only what is named here is looked at."""

    name: str
    text: str
    target: str
    settings: dict[str, object]
    other: dict[str, object] = field(default_factory=dict)
    codes: frozenset[str] = frozenset()
    env: dict[str, str] = field(default_factory=dict)
    hint: str = ""


PASTES = (
    Paste(
        "vllm in docker with a token and many blanks",
        """docker run --runtime nvidia --gpus all \\
    -v ~/.cache/huggingface:/data/.cache/huggingface \\
    --env "HUGGING_FACE_HUB_TOKEN=<secret>" \\
    -p 8001:8000 \\
    --ipc=host \\
    vllm/vllm-openai:v0.11.0 \\
    --model mistralai/Mistral-7B-v0.1 --max-model-len 16k --max-num-seqs 16
""",
        "vllm",
        {"ctx_per_slot_tok": 16000, "slots": 16},
        {"source_model": "mistralai/Mistral-7B-v0.1"},
        frozenset({"not_gguf"}),
    ),
    Paste(
        "vllm behind uv with a comment in the middle",
        """# works on 2x3090
export CUDA_VISIBLE_DEVICES=0,1
uv run vllm serve Qwen/Qwen3-30B-A3B-GPTQ-Int4 \\
  --tensor-parallel-size 2 \\
  --max-model-len 32768 --kv-cache-dtype fp8 \\
  --enable-auto-tool-choice --tool-call-parser hermes > vllm.log 2>&1 &
""",
        "vllm",
        {"ctx_per_slot_tok": 32768},
        {"tensor_parallel": 2, "jinja": True},
        frozenset({"not_gguf", "not_transferable"}),
        {"CUDA_VISIBLE_DEVICES": "0,1"},
    ),
    Paste(
        "vllm with dotted speculation",
        "$ vllm serve ./q.gguf --tokenizer Qwen/Qwen3-8B --speculative-config.method ngram "
        "--speculative-config.num_speculative_tokens 4 --speculative-config.prompt_lookup_max 3",
        "vllm",
        {
            "model_path": "./q.gguf",
            "spec_types": ("ngram-simple",),
            "ngram_size_m": 4,
            "ngram_size_n": 3,
        },
    ),
    Paste(
        "vllm in kubernetes",
        """apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:latest
          args:
            - "--model=meta-llama/Llama-3.1-8B-Instruct"
            - "--max-model-len=8192"
            - "--gpu-memory-utilization=0.9"
          env:
            - name: HF_TOKEN
              valueFrom:
                secretKeyRef: {name: hf, key: token}
          ports:
            - containerPort: 8000
""",
        "vllm",
        {"ctx_per_slot_tok": 8192},
        {"source_model": "meta-llama/Llama-3.1-8B-Instruct", "gpu_mem_fraction": 0.9},
        frozenset({"not_gguf"}),
    ),
    Paste(
        "vllm in compose with a folded command",
        """services:
  vllm:
    image: vllm/vllm-openai
    command: >
      --model Qwen/Qwen2.5-7B-Instruct-AWQ
      --max-model-len 4096
      --no-enable-prefix-caching
    ports: ["8000:8000"]
""",
        "vllm",
        {"ctx_per_slot_tok": 4096, "cache_prompt": False},
        {"source_model": "Qwen/Qwen2.5-7B-Instruct-AWQ"},
        frozenset({"not_gguf"}),
    ),
    Paste(
        "sglang by python with a two-word device list",
        "CUDA_VISIBLE_DEVICES=2,3 python3 -m sglang.launch_server --model-path "
        "Qwen/Qwen3-8B --tp-size 2 --context-length 65536 --max-running-requests 32 "
        "--mem-fraction-static 0.85 --host 0.0.0.0 --port 30000 --api-key sk-mine-not-yours-12345",
        "sglang",
        {"ctx_per_slot_tok": 65536, "slots": 32},
        {"tensor_parallel": 2, "gpu_mem_fraction": 0.85, "port": 30000, "api_key": "REDACTED"},
        frozenset({"not_gguf"}),
    ),
    Paste(
        "sglang in docker",
        """docker run --gpus all --shm-size 32g -p 30000:30000 \\
  -v ~/.cache/huggingface:/data/.cache/huggingface \\
  lmsysorg/sglang:latest \\
  python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 \\
  --trust-remote-code --speculative-algorithm NEXTN --speculative-num-steps 1 \\
  --speculative-eagle-topk 1 --speculative-num-draft-tokens 2""",
        "sglang",
        {"spec_types": ("draft-mtp",), "draft_n_max": 1},
        {"source_model": "deepseek-ai/DeepSeek-V3", "tensor_parallel": 8},
        frozenset({"not_gguf"}),
    ),
    Paste(
        "trtllm-serve in a shell",
        "trtllm-serve serve nvidia/Llama-3.1-8B-Instruct-FP8 --max_batch_size 64 "
        "--max_num_tokens 8192 --max_seq_len 8192 --tp_size 1 "
        "--kv_cache_free_gpu_memory_fraction 0.9 --extra_llm_api_options extra.yml",
        "tensorrt-llm",
        {"slots": 64, "batch_tok": 8192, "ctx_per_slot_tok": 8192},
        {"gpu_mem_fraction": 0.9},
        frozenset({"not_gguf", "config_file"}),
    ),
    Paste(
        "options of trtllm-serve as a file",
        """kv_cache_config:
  enable_block_reuse: false
  free_gpu_memory_fraction: 0.8
speculative_config:
  decoding_type: MTP
  max_draft_len: 3
""",
        "tensorrt-llm",
        {"cache_prompt": False, "spec_types": ("draft-mtp",), "draft_n_max": 3},
        {"gpu_mem_fraction": 0.8},
    ),
    Paste(
        "variables of ollama in a unit's override",
        """[Service]
Environment="OLLAMA_HOST=0.0.0.0:11434"
Environment="OLLAMA_FLASH_ATTENTION=1" "OLLAMA_KV_CACHE_TYPE=q8_0"
Environment=OLLAMA_NUM_PARALLEL=2
Environment=OLLAMA_CONTEXT_LENGTH=16384
""",
        "ollama",
        {
            "flash_attn": "on",
            "cache_type_k": "q8_0",
            "cache_type_v": "q8_0",
            "slots": 2,
            "ctx_per_slot_tok": 16384,
        },
        {"host": "0.0.0.0", "port": 11434},
    ),
    Paste(
        "ollama in PowerShell",
        '$env:OLLAMA_FLASH_ATTENTION = "1"\n$env:OLLAMA_KV_CACHE_TYPE="q4_0"\nollama serve\n',
        "ollama",
        {"flash_attn": "on", "cache_type_k": "q4_0", "cache_type_v": "q4_0"},
    ),
    Paste(
        "ollama in docker",
        "docker run -d --gpus=all -v ollama:/data/.ollama -p 11434:11434 "
        "-e OLLAMA_NUM_PARALLEL=4 -e OLLAMA_CONTEXT_LENGTH=8192 --name ollama ollama/ollama",
        "ollama",
        {"slots": 4, "ctx_per_slot_tok": 8192},
        {"port": 11434},
    ),
    Paste(
        "a Modelfile with everything",
        '''# Modelfile generated by "ollama show"
FROM /srv/me/models/qwen3-8b-q4_k_m.gguf
ADAPTER ./lora.gguf
PARAMETER temperature 0.6
PARAMETER num_ctx 16384
PARAMETER num_gpu 99
PARAMETER stop "<|im_end|>"
SYSTEM """You are brief.
Very brief."""
''',
        "ollama",
        {
            "model_path": "/srv/me/models/qwen3-8b-q4_k_m.gguf",
            "temperature": 0.6,
            "ctx_per_slot_tok": 16384,
            "n_gpu_layers": 99,
            "lora": ("./lora.gguf",),
        },
        {"stop": ["<|im_end|>"], "system_prompt": "You are brief.\nVery brief."},
    ),
    Paste(
        "a Modelfile in lower case that begins with a model of the hub",
        "from hf.co/unsloth/gemma-3-4b-it-GGUF:Q4_K_M\nparameter num_ctx 8192\n",
        "ollama",
        {"hf_repo": "unsloth/gemma-3-4b-it-GGUF:Q4_K_M", "ctx_per_slot_tok": 8192},
        hint="Modelfile",
    ),
    Paste(
        "a Modelfile in a here-document",
        """cat > Modelfile <<'EOT'
FROM ./m.gguf
PARAMETER num_ctx 4096
EOT
ollama create mine -f Modelfile
""",
        "ollama",
        {"model_path": "./m.gguf", "ctx_per_slot_tok": 4096},
    ),
    Paste(
        "koboldcpp on Windows",
        'koboldcpp_cu12.exe --model "C:\\LLM\\my model.gguf" --usecublas normal 0 mmq '
        "--gpulayers 43 --contextsize 16384 --flashattention --quantkv 1 --threads 8",
        "koboldcpp",
        {
            "model_path": "C:\\LLM\\my model.gguf",
            "n_gpu_layers": 43,
            "ctx_total_tok": 16384,
            "slots": 1,
            "flash_attn": "on",
            "cache_type_k": "q8_0",
            "threads": 8,
        },
        {"cuda_devices": ["0"]},
    ),
    Paste(
        "settings of koboldcpp",
        """{"model": null, "model_param": "/m/a.gguf", "port": 5001, "port_param": 5001, "host": "",
"launch": true, "config": null, "threads": 7, "usecublas": ["normal", "0", "mmq"],
"usevulkan": null,
"useclblast": null, "noblas": false, "contextsize": 8192, "gpulayers": 33, "tensor_split": null,
"ropeconfig": [0.0, 10000.0], "blasbatchsize": 512, "flashattention": true, "quantkv": 0,
"nommap": false, "usemlock": false, "draftmodel": null, "draftamount": 8, "moecpu": 0}
""",
        "koboldcpp",
        {
            "model_path": "/m/a.gguf",
            "threads": 7,
            "ctx_total_tok": 8192,
            "n_gpu_layers": 33,
            "batch_tok": 512,
            "flash_attn": "on",
        },
        hint="settings.kcpps",
    ),
    Paste(
        "lms load",
        '$ lms load qwen3-8b@q4_k_m --gpu=max --context-length=32768 --identifier="mine" -y',
        "lmstudio",
        {"n_gpu_layers": "all", "ctx_total_tok": 32768},
        {"source_model": "qwen3-8b@q4_k_m", "alias": "mine"},
        frozenset({"no_model"}),
    ),
    Paste(
        "a load configuration of LM Studio",
        '{"contextLength": 8192, "gpu": {"ratio": "max"}, "flashAttention": true,\n'
        ' "llamaKCacheQuantizationType": "q8_0", "llamaVCacheQuantizationType": "q8_0"}',
        "lmstudio",
        {"ctx_total_tok": 8192, "n_gpu_layers": "all", "flash_attn": "on", "cache_type_k": "q8_0"},
        hint="load.json",
    ),
    Paste(
        "a posting with prose around the line",
        """Hi all, I run a 3090 and this gives me 40 t/s:

llama-server -m ~/models/Qwen3-14B-Q5_K_M.gguf -c 32768 -np 2 -ngl 99 -fa on -ctk q8_0 -ctv q8_0

Any idea how to go faster? Thanks!
""",
        "llama-server",
        {
            "model_path": "~/models/Qwen3-14B-Q5_K_M.gguf",
            "ctx_total_tok": 32768,
            "slots": 2,
            "n_gpu_layers": 99,
            "flash_attn": "on",
            "cache_type_k": "q8_0",
            "cache_type_v": "q8_0",
        },
    ),
    Paste(
        "a fenced block",
        "My command:\n```bash\n./llama-server \\\n  -m model.gguf \\\n  -c 8192 --host 127.0.0.1\n"
        "```\nand it crashes.",
        "llama-server",
        {"model_path": "model.gguf", "ctx_total_tok": 8192},
        {"host": "127.0.0.1"},
    ),
    Paste(
        "an array of flags",
        """ARGS=(
  --model /models/a.gguf   # the model
  --ctx-size 16384
  --parallel 4
)
llama-server "${ARGS[@]}" --port 9000
""",
        "llama-server",
        {"model_path": "/models/a.gguf", "ctx_total_tok": 16384, "slots": 4},
        {"port": 9000},
    ),
    Paste(
        "variables that are used below",
        """MODEL=/srv/models/mistral.gguf
CTX=12288
exec nohup llama-server -m "$MODEL" -c ${CTX} --threads 8 >/dev/null 2>&1 &
""",
        "llama-server",
        {"model_path": "/srv/models/mistral.gguf", "ctx_total_tok": 12288, "threads": 8},
    ),
    Paste(
        "a line for cmd.exe that goes on",
        'C:\\llama> llama-server.exe ^\n  -m "D:\\my models\\q.gguf" ^\n  -c 4096 ^\n  -ngl 20\n',
        "llama-server",
        {"model_path": "D:\\my models\\q.gguf", "ctx_total_tok": 4096, "n_gpu_layers": 20},
    ),
    Paste(
        "a line for PowerShell that goes on",
        "PS C:\\llama> .\\llama-server.exe `\n  -m .\\q.gguf `\n  -c 4096 `\n  -ngl 20\n",
        "llama-server",
        {"model_path": ".\\q.gguf", "ctx_total_tok": 4096, "n_gpu_layers": 20},
    ),
    Paste(
        "llama.cpp in docker with a mount",
        "docker run --rm -it -v /srv/llm:/models -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server "
        "-m /models/a.gguf -c 8192 --host 0.0.0.0 --port 8080",
        "llama-server",
        {"model_path": "/models/a.gguf", "ctx_total_tok": 8192},
        {"port": 8080},
    ),
    Paste(
        "llama-swap with a macro",
        """models:
  "qwen":
    cmd: |
      /app/llama-server --port ${PORT}
      -m /models/qwen.gguf
      -c 16384 -ngl 99
    ttl: 300
""",
        "llama-server",
        {"model_path": "/models/qwen.gguf", "ctx_total_tok": 16384, "n_gpu_layers": 99},
        codes=frozenset({"macro"}),
    ),
    Paste(
        "a unit of systemd",
        """[Unit]
Description=llama.cpp

[Service]
Environment=CUDA_VISIBLE_DEVICES=1
ExecStart=/usr/local/bin/llama-server \\
    -m /srv/models/a.gguf \\
    -c 8192 -np 2
Restart=always
""",
        "llama-server",
        {"model_path": "/srv/models/a.gguf", "ctx_total_tok": 8192, "slots": 2},
        env={"CUDA_VISIBLE_DEVICES": "1"},
    ),
    Paste(
        "a preset",
        "[*]\nc = 8192 ; for all\nfa = on\n\n[qwen]\nmodel = /m/q.gguf\nngl = 99\n",
        "llama-server",
        {"model_path": "/m/q.gguf", "ctx_total_tok": 8192, "n_gpu_layers": 99, "flash_attn": "on"},
        hint="models.ini",
    ),
    Paste(
        "variables of llama.cpp in an environment file",
        "LLAMA_ARG_MODEL=/models/a.gguf\nLLAMA_ARG_CTX_SIZE=4096\nLLAMA_ARG_N_PARALLEL=2\n",
        "llama-server",
        {"model_path": "/models/a.gguf", "ctx_total_tok": 4096, "slots": 2},
        hint=".env",
    ),
    Paste(
        "variables in a map of Kubernetes",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ollama}\ndata:\n"
        '  OLLAMA_NUM_PARALLEL: "4"\n  OLLAMA_CONTEXT_LENGTH: "8192"\n',
        "ollama",
        {"slots": 4, "ctx_per_slot_tok": 8192},
    ),
    Paste(
        "variables in a chart",
        "ollama:\n  gpu: {enabled: true}\nextraEnv:\n  - name: OLLAMA_FLASH_ATTENTION\n"
        '    value: "1"\n  - name: OLLAMA_NUM_PARALLEL\n    value: "1"\n',
        "ollama",
        {"flash_attn": "on", "slots": 1},
    ),
    Paste(
        "a request to Ollama",
        """curl http://localhost:11434/api/generate -d '{
  "model": "llama3.2",
  "prompt": "Why is the sky blue?",
  "options": {"num_ctx": 4096, "temperature": 0.1}
}'""",
        "ollama",
        {"ctx_per_slot_tok": 4096, "temperature": 0.1},
        {"source_model": "llama3.2"},
        frozenset({"no_model"}),
    ),
    Paste(
        "a session of ollama",
        ">>> /set parameter num_ctx 8192\nSet parameter 'num_ctx' to '8192'\n",
        "ollama",
        {"ctx_per_slot_tok": 8192},
    ),
)


@pytest.mark.parametrize("paste", PASTES, ids=lambda paste: paste.name)
def test_that_a_paste_is_understood(paste: Paste) -> None:
    all_found = import_text(paste.text, paste.hint)
    of_engine = [one for one in all_found if one.target == paste.target]
    # A text may hold several, such as a file and the command that reads it.
    found = max(of_engine, key=lambda one: len(one.settings))
    told = {problem.partition(":")[0] for problem in found.problems}
    assert {key: found.settings.get(key) for key in paste.settings} == paste.settings, found
    assert {key: found.other.get(key) for key in paste.other} == paste.other, found
    assert paste.codes <= told, found
    assert paste.env.items() <= found.env.items()
    assert "unknown_flag" not in told, found
    assert "sk-mine" not in repr(all_found)


SERVER_LOG = (
    'time=2025-08-12T10:11:12.345Z level=INFO source=routes.go:1304 msg="server config" '
    'env="map[CUDA_VISIBLE_DEVICES: OLLAMA_CONTEXT_LENGTH:8192 OLLAMA_FLASH_ATTENTION:true '
    "OLLAMA_HOST:http://0.0.0.0:11434 OLLAMA_KV_CACHE_TYPE:q8_0 OLLAMA_NUM_PARALLEL:2 "
    'OLLAMA_ORIGINS:[http://localhost https://localhost] http_proxy: no_proxy:]"'
)


def test_that_the_log_of_ollamas_server_tells_its_variables() -> None:
    (found,) = import_text(SERVER_LOG)
    assert found.settings == {
        "ctx_per_slot_tok": 8192, "flash_attn": "on", "cache_type_k": "q8_0",
        "cache_type_v": "q8_0", "slots": 2, "kv_unified": False,
    }  # fmt: skip
    assert found.env["OLLAMA_ORIGINS"] == "[http://localhost https://localhost]"
    assert "CUDA_VISIBLE_DEVICES" not in found.env
    assert [problem.partition(":")[0] for problem in found.problems] == ["log_paste"]


def test_that_what_a_batch_file_gets_itself_is_no_model() -> None:
    (found,) = import_text('start "" koboldcpp.exe --model "m.gguf" --contextsize 8192 %*\npause\n')
    assert found.settings["model_path"] == "m.gguf"
