"""The table of dialects × settings: what each engine can be told, as a page of Markdown.

Made of what the dialects answer for a few configurations, so that it cannot say more than they do.
``python -m app.export.dialect_table > docs/export.md`` writes the page; a test holds it up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from app.export.carried import Manner
from app.export.dialect import Dialect
from app.export.engine_words import FOLDER, engine_words
from app.export.targets import TARGETS
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import SETTINGS

# What a dialect says of a setting may hang on its value and on others: these bring out all of it.
_PROBES: tuple[dict[str, Value], ...] = (
    {},
    {
        "model_path": "/models/model.gguf", "kv_unified": True, "ctx_total_tok": 8192, "slots": 1,
        "cache_type_k": "bf16", "cache_type_v": "bf16", "flash_attn": "on", "n_gpu_layers": 3,
        "fit_margin_mib": 512, "n_cpu_moe": 1, "n_cpu_ffn": 1, "devices": ("CUDA0", "CUDA1"),
        "tensor_split": ("1", "1"), "main_gpu": 1, "load_mode": "mmap", "cache_ram_mib": 1024,
        "batch_tok": 512, "ubatch_tok": 512, "prefill_chunk_tok": 256, "threads": 4,
        "threads_batch": 4, "max_new_tok": 100, "seed": 1, "lora": ("/models/style.gguf",),
        "mmproj_path": "/models/projector.gguf", "override_kv": ("general.name=str:x",),
        "override_tensor": ("ffn_up=CPU",), "rpc_servers": ("127.0.0.1:50052",),
        "context_shift": True, "dry_multiplier": 0.8, "xtc_probability": 0.5, "mirostat": 2,
        "dynatemp_range": 0.5, "adaptive_target": 0.5, "top_n_sigma": 1.0, "typical_p": 0.9,
        "logit_bias": ("15+1",), "ignore_eos": True, "grammar": 'root ::= "a"\n',
        "extra_flags": ("--jinja",), "swa_full": True, "cache_reuse_tok": 256, "keep_tok": 8,
        "spec_types": ("draft-simple",), "draft_model_path": "/models/small.gguf",
    },
    {
        "cache_type_k": "q8_0", "cache_type_v": "q8_0", "flash_attn": "on", "n_gpu_layers": "all",
        "devices": ("CUDA0",), "split_mode": "none", "load_mode": "none", "cpu_moe": True,
        "json_schema": '{"type": "object"}', "spec_types": ("draft-mtp",), "repeat_penalty": 1.1,
    },
    {"spec_types": ("ngram-simple",), "split_mode": "row", "tensor_split": ("1", "1")},
    {"spec_types": ("ngram-map-k4v",), "cache_type_k": "q4_1", "cache_type_v": "f16"},
    {"spec_types": ("ngram-mod",), "kv_offload": False, "cache_prompt": False},
    {
        "spec_types": ("ngram-cache",), "lookup_cache_static_path": "/models/static.bin",
        "lookup_cache_dynamic_path": "/models/dynamic.bin",
    },
)  # fmt: skip
_FACTS = ModelFacts(
    path="/models/model.gguf", name="Model", architecture="llama", quantisation="Q8_0",
    file_bytes=0, tensor_bytes=0, parameters=0, layers=8, ctx_train_tok=0, vocab=32_000, heads=8,
    kv_heads=8, head_dims_k=(64,), head_dims_v=(64,),
)  # fmt: skip
_SIGNS = {
    frozenset({Manner.SAID}): "said",
    frozenset({Manner.TRANSLATED}): "transl.",
    frozenset({Manner.SAID, Manner.TRANSLATED}): "said/transl.",
    frozenset(): "–",
}
_HEAD = """\
# What each engine can be told

One column a dialect of `tunedeck export`, one row a setting. This page is made of what the dialects
answer (`python -m app.export.dialect_table`), and a test holds it up to date.

* **said**: the engine has a word that means the same.
* **transl.**: its word means something else; the export says how that is bridged.
* **said/transl.**: which of the two hangs on the value.
* **–**: not carried; the export gives the reason beside the command.

A setting is said as well where the engine does what is asked unless told otherwise. What is said
for some values may be not carried for others; each export names those with the reason.
"""


def page(targets: Mapping[str, Dialect] = TARGETS) -> str:
    """The page with a newline at its end."""
    return "\n".join([_HEAD, *_table(targets), "", *_versions(), ""])


def manners(dialect: Dialect) -> dict[str, frozenset[Manner]]:
    """How ``dialect`` tells the engine of each setting, over all that it may hang on."""
    found: dict[str, set[Manner]] = {setting.key: set() for setting in SETTINGS}
    for probe in _PROBES:
        export = dialect(EngineConfig().with_values(dict(probe)), None, _FACTS)
        for key, answer in export.carried.items():
            found[key].add(answer.manner)
    return {key: frozenset(seen - {Manner.NOT_CARRIED}) for key, seen in found.items()}


def _table(targets: Mapping[str, Dialect]) -> Iterator[str]:
    columns = {target: manners(dialect) for target, dialect in targets.items()}
    yield f"| setting | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for setting in SETTINGS:
        cells = [_SIGNS[column[setting.key]] for column in columns.values()]
        yield f"| `{setting.key}` | {' | '.join(cells)} |"
    carried = [sum(bool(seen) for seen in column.values()) for column in columns.values()]
    yield f"| of {len(SETTINGS)} | {' | '.join(map(str, carried))} |"


def _versions() -> Iterator[str]:
    yield "The engines' words are from:"
    yield ""
    for path in sorted(FOLDER.glob("*.json")):
        words = engine_words(path.stem)
        yield f"* {words.engine} {words.version}"


if __name__ == "__main__":
    sys.stdout.write(page())
