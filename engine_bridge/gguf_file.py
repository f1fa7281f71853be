"""What a GGUF model is: facts for settings, its tensors, and what one decode step reads.

Knows the metadata keys of llama.cpp and how split models are laid out; reading the bytes is
``gguf_header``'s. Must not know the engine.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine_bridge.draft_kind import PLAIN, draft_kind_of, guessing_layers_of
from engine_bridge.gguf_harm import refuse_what_harms
from engine_bridge.gguf_header import Header, TensorFacts, read_header
from engine_bridge.gguf_kv import attention_shape
from engine_bridge.gguf_sampling import sampling_in
from engine_bridge.gguf_types import FILE_TYPES
from engine_bridge.gguf_window import GgufError, shown_name
from engine_bridge.metrics.bandwidth import WeightReads
from engine_bridge.model_facts import ModelFacts

__all__ = [
    "GgufError",
    "GgufModel",
    "TensorFacts",
    "decode_weight_bytes",
    "read_model",
    "read_model_facts",
    "read_tensors",
    "weight_reads",
]

# llama.cpp's fixed arrays: LLAMA_MAX_LAYERS and LLAMA_MAX_EXPERTS; it aborts beyond them.
MAX_LAYERS = 512
MAX_EXPERTS = 1_024
# llama.cpp reads the count as 16 bit; no model has been split into more.
MAX_PARTS = 1_024

# llm_arch_is_recurrent and llm_arch_is_hybrid in src/llama-arch.cpp.
RECURRENT_ARCHITECTURES = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
HYBRID_ARCHITECTURES = frozenset(
    {
        "jamba", "falcon-h1", "plamo2", "granitehybrid", "lfm2", "lfm2moe", "nemotron_h",
        "nemotron_h_moe", "qwen3next", "kimi-linear", "bailingmoe3", "kimi-k3", "glm5-next",
        "qwen35", "qwen35moe", "qwen4exp", "deepseek4", "minimax-01",
    }
)  # fmt: skip

# Read a row at a time, not whole: lookups by token, position or type.
_LOOKED_UP = frozenset(
    {
        "token_embd.weight",
        "per_layer_token_embd.weight",
        "position_embd.weight",
        "token_types.weight",
    }
)
# Of a guessing layer: its embeddings of tokens, and its way out where it has one.
_LOOKED_UP_GUESSES, _OWN_OUTPUT = ".nextn.embed_tokens.weight", ".nextn.shared_head_head.weight"
_EXPERT_TENSOR = re.compile(r"\.ffn_(?:up|down|gate|gate_up)_(?:ch)?exps\.")
_BLOCK_TENSOR = re.compile(r"blk\.(\d+)\.")
_PART_NAME = re.compile(r"^(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$", re.DOTALL)

# Kinds of GGUF files that are no language model, by general.type or architecture.
_NO_MODEL = {
    "adapter": "a LoRA adapter, which needs its base model. Choose the base model's file.",
    "clip": "the vision part of a model (mmproj). Choose the language model's file beside it.",
    "mmproj": "the vision part of a model (mmproj). Choose the language model's file beside it.",
    "imatrix": "an importance matrix for quantising, not a model. Choose the model's file.",
    "controlvector": "a control vector, not a model. Choose the model's file.",
}


@dataclass(frozen=True)
class GgufModel:
    """One model, all its parts read.

    Attributes:
        facts: What settings depend on.
        parts: The tensors of each part, in file order.
        header: The header of part 1.
    """

    facts: ModelFacts
    parts: tuple[tuple[TensorFacts, ...], ...]
    header: Header

    @property
    def tensors(self) -> tuple[TensorFacts, ...]:
        """Every tensor of every part."""
        return tuple(tensor for part in self.parts for tensor in part)


def read_model_facts(path: str | os.PathLike[str]) -> ModelFacts:
    """Read what settings need to know of a model.

    Args:
        path: Any part of it; the facts name part 1.

    Raises:
        GgufError: If it cannot be used as a model; a sentence that says why and what to do.
    """
    return read_model(path).facts


def read_tensors(path: str | os.PathLike[str]) -> tuple[TensorFacts, ...]:
    """The tensor table of all parts of a model.

    Raises:
        GgufError: As ``read_model_facts``.
    """
    return read_model(path).tensors


def read_model(path: str | os.PathLike[str]) -> GgufModel:
    """Read facts and tensors of a model in one go.

    Raises:
        GgufError: As ``read_model_facts``.
    """
    headers = _read_parts(path)
    first = headers[0]
    _refuse_what_is_no_model(first)
    refuse_what_harms(first)
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    if not tensors:
        raise GgufError(
            f"{shown_name(first.path)} holds only a vocabulary, no weights. "
            "Choose the model's own file."
        )
    _check_tensor_total(first, tensors, len(headers))
    facts = _facts(first, tensors, sum(header.file_bytes for header in headers))
    return GgufModel(facts, tuple(header.tensors for header in headers), first)


def refuse_drafter(facts: ModelFacts) -> None:
    """Refuse a file that can only draft for another model; llama.cpp may die of it alone.

    Raises:
        GgufError: If it is one.
    """
    if facts.draft_kind != PLAIN:
        raise GgufError(
            f"{shown_name(facts.path)} cannot answer by itself: it only drafts for another model "
            f"({facts.draft_kind}). Load that model, and choose this file in the draft menu."
        )


def weight_reads(tensors: Iterable[TensorFacts], facts: ModelFacts) -> WeightReads:
    """What a decode step can touch of the weights.

    Embeddings are looked up by row and do not count, unless the token embedding is also the output
    (no ``output.weight``). Layers that only predict further tokens (MTP) do not count.
    """
    kept = {tensor.name: tensor for tensor in tensors}
    output = kept.get("output.weight") or kept.get("token_embd.weight")
    experts, shared = list[TensorFacts](), list[TensorFacts]()
    for name, tensor in kept.items():
        block = _BLOCK_TENSOR.match(name)
        if name in _LOOKED_UP or tensor is output or (block and int(block[1]) >= facts.layers):
            continue
        (experts if _is_expert(tensor, facts) else shared).append(tensor)
    return _reads(shared, experts, output, facts)


def _is_expert(tensor: TensorFacts, facts: ModelFacts) -> bool:
    return facts.experts > 0 and _EXPERT_TENSOR.search(tensor.name) is not None


def _reads(
    shared: Iterable[TensorFacts],
    experts: Iterable[TensorFacts],
    output: TensorFacts | None,
    facts: ModelFacts,
    layers: int = 1,
) -> WeightReads:
    """What ``layers`` that take turns read and compute, each with the same ``output`` behind it."""
    shared, experts = list(shared), list(experts)
    output_bytes = 0 if output is None else output.bytes
    used = facts.experts_used / facts.experts if facts.experts else 0.0
    return WeightReads(
        shared_bytes=sum(tensor.bytes for tensor in shared) // layers + output_bytes,
        expert_bytes=sum(tensor.bytes for tensor in experts) // layers,
        experts=facts.experts,
        experts_used=facts.experts_used,
        output_bytes=output_bytes,
        body_parameters=(_parameters(shared) + used * _parameters(experts)) / layers,
        output_parameters=0 if output is None else output.elements,
    )


def _parameters(tensors: Iterable[TensorFacts]) -> int:
    """Weights of matrices; what a norm or a bias costs is nothing beside them."""
    return sum(tensor.elements for tensor in tensors if len(tensor.shape) > 1)


def guess_reads(tensors: Iterable[TensorFacts], facts: ModelFacts) -> WeightReads:
    """What a guess of one of the model's guessing layers (MTP) reads of the weights.

    The layer itself and the output, its own where it has one (src/models/qwen35.cpp, graph_mtp).
    """
    kept = {tensor.name: tensor for tensor in tensors}
    own = [
        tensor
        for name, tensor in kept.items()
        if (block := _BLOCK_TENSOR.match(name)) and int(block[1]) >= facts.layers
    ]
    beside = (_LOOKED_UP_GUESSES, _OWN_OUTPUT)
    read = [tensor for tensor in own if not tensor.name.endswith(beside)]
    experts = [tensor for tensor in read if _is_expert(tensor, facts)]
    shared = [tensor for tensor in read if not _is_expert(tensor, facts)]
    output = next((tensor for tensor in own if tensor.name.endswith(_OWN_OUTPUT)), None)
    if output is None:
        output = kept.get("output.weight") or kept.get("token_embd.weight")
    return _reads(shared, experts, output, facts, max(1, facts.nextn_layers))


def decode_weight_bytes(tensors: Iterable[TensorFacts], facts: ModelFacts) -> int:
    """Weight bytes that a decode step of one stream reads.

    Of a mixture of experts the share that one token uses counts; a batch touches more of them.
    """
    return round(weight_reads(tensors, facts).per_step_bytes(1))


# --- Parts --------------------------------------------------------------------------------


def _read_parts(path: str | os.PathLike[str]) -> list[Header]:
    header = read_header(path)
    count = header.number("split.count")
    if count <= 1:
        _refuse_joined(header)
        return [header]
    if count > MAX_PARTS:
        raise GgufError(f"{shown_name(path)} claims to be one of {count:,} parts; it is damaged.")
    _refuse_joined(header)
    return [
        _read_part(part, number, count)
        for number, part in enumerate(_part_paths(header, count), start=1)
    ]


def _part_paths(header: Header, count: int) -> list[str]:
    number = header.number("split.no") + 1
    path = Path(header.path)
    match = _PART_NAME.match(path.name)
    if match is None or (int(match["number"]), int(match["count"])) != (number, count):
        raise GgufError(
            f"{shown_name(path)} is part {number} of {count}, and llama.cpp finds the others by "
            f"name. Rename it back to …-{number:05d}-of-{count:05d}.gguf."
        )
    stem = match["stem"]
    return [str(path.with_name(f"{stem}-{n:05d}-of-{count:05d}.gguf")) for n in range(1, count + 1)]


def _read_part(path: str, number: int, count: int) -> Header:
    if not Path(path).exists():
        raise GgufError(
            f"Part {number} of {count} is missing: {shown_name(path)}. "
            "Download it into the same folder."
        )
    header = read_header(path)
    _refuse_joined(header)
    if (header.number("split.no") + 1, header.number("split.count")) != (number, count):
        raise GgufError(
            f"{shown_name(path)} says that it is part {header.number('split.no') + 1} of "
            f"{header.number('split.count')}, not {number} of {count}. Download it again."
        )
    return header


def _refuse_joined(header: Header) -> None:
    is_part = header.number("split.count") > 1
    # A part may be followed by less than one alignment of padding; anything more was appended.
    appended = header.file_bytes - header.data_end
    if header.continues_with_gguf or (
        is_part and appended > header.number("general.alignment", 32)
    ):
        raise GgufError(
            f"{shown_name(header.path)} is {appended:,} bytes longer than its header says: it "
            "looks like parts joined with cat or copy. Use the original parts (choose the first), "
            "or join them with `llama-gguf-split --merge`."
        )


def _check_tensor_total(first: Header, tensors: tuple[TensorFacts, ...], parts: int) -> None:
    names = {tensor.name for tensor in tensors}
    expected = first.number("split.tensors.count", len(tensors)) if parts > 1 else len(tensors)
    if len(names) != len(tensors) or expected != len(tensors):
        raise GgufError(
            f"The parts of {shown_name(first.path)} do not belong together: {expected:,} tensors "
            f"are announced, {len(names):,} are there. Download all parts again."
        )


# --- Facts --------------------------------------------------------------------------------


def _refuse_what_is_no_model(header: Header) -> None:
    kinds = (header.text("general.type"), header.text("general.architecture"))
    for kind in kinds:
        if kind in _NO_MODEL:
            raise GgufError(f"{shown_name(header.path)} is {_NO_MODEL[kind]}")
    if not kinds[1]:
        raise GgufError(
            f"{shown_name(header.path)} names no architecture, so it is no language model that "
            "llama.cpp can run. Choose another file."
        )
    if kinds[1] != header.line("general.architecture"):
        raise GgufError(
            f"{shown_name(header.path)} names an architecture that is no name, so the file is "
            "damaged. Download it again."
        )


def _quantisation(header: Header, bytes_by_type: Counter[str]) -> str:
    """What the file calls its mix, ``Q4_K_M``; where it says nothing, the type of most bytes."""
    said = FILE_TYPES.get(header.number("general.file_type", -1), "")
    return said or bytes_by_type.most_common(1)[0][0]


def _facts(header: Header, tensors: tuple[TensorFacts, ...], file_bytes: int) -> ModelFacts:
    arch = header.text("general.architecture")
    layers = _layers(header, arch)
    experts, experts_used = _experts(header, arch)
    attention = attention_shape(header, arch, layers)
    bytes_by_type: Counter[str] = Counter()
    for tensor in tensors:
        bytes_by_type[tensor.type_name] += tensor.bytes
    blocks = header.number(f"{arch}.block_count")
    names = {tensor.name for tensor in tensors}
    return ModelFacts(
        path=header.path,
        name=header.name,
        architecture=arch,
        quantisation=_quantisation(header, bytes_by_type),
        file_bytes=file_bytes,
        tensor_bytes=sum(tensor.bytes for tensor in tensors),
        parameters=sum(tensor.elements for tensor in tensors),
        layers=layers,
        ctx_train_tok=header.number(f"{arch}.context_length"),
        vocab=header.count("tokenizer.ggml.tokens") or header.number(f"{arch}.vocab_size"),
        heads=attention.heads,
        kv_heads=attention.kv_heads,
        head_dims_k=attention.head_dims_k,
        head_dims_v=attention.head_dims_v,
        window_tok=header.number(f"{arch}.attention.sliding_window"),
        experts=experts,
        experts_used=experts_used,
        is_recurrent=arch in RECURRENT_ARCHITECTURES,
        is_hybrid=arch in HYBRID_ARCHITECTURES,
        is_mla=attention.is_mla,
        nextn_layers=guessing_layers_of(
            blocks, header.number(f"{arch}.nextn_predict_layers"), names
        ),
        nextn_blocks=blocks - layers,
        draft_kind=draft_kind_of(arch, blocks, names),
        chat_template=header.text("tokenizer.chat_template"),
        recommends_sampling=any(key.startswith("general.sampling.") for key in header.values),
        sampling=sampling_in(header.values),
        bytes_per_token_f16=attention.bytes_per_token_f16,
        window_k_values=sum(row.layers * row.k_values for row in attention.windowed),
        window_v_values=sum(row.layers * row.v_values for row in attention.windowed),
        width=header.number(f"{arch}.embedding_length_out")
        or header.number(f"{arch}.embedding_length"),
    )


def _layers(header: Header, arch: str) -> int:
    blocks = header.number(f"{arch}.block_count")
    if not 1 <= blocks <= MAX_LAYERS:
        raise GgufError(
            f"{shown_name(header.path)} has {blocks:,} layers by its header ({arch}); llama.cpp "
            f"runs language models of 1 to {MAX_LAYERS}. Choose another file."
        )
    # MTP layers stand behind the others and are counted with them.
    predictors = header.number(f"{arch}.nextn_predict_layers")
    return blocks - predictors if 0 <= predictors < blocks else blocks


def _experts(header: Header, arch: str) -> tuple[int, int]:
    experts = header.number(f"{arch}.expert_count")
    used = header.number(f"{arch}.expert_used_count")
    # llama.cpp aborts on these; some dense models say one expert.
    if experts <= 1 and used <= experts:
        return 0, 0
    if not 0 < used <= experts <= MAX_EXPERTS:
        raise GgufError(
            f"{shown_name(header.path)} is damaged: its header uses {used:,} of {experts:,} "
            "experts. Download it again."
        )
    return experts, used
