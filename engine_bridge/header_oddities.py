"""What in a header is odd: what a person should know before trusting the file, in sentences. Pure.

Only what is really seen is told: counts that disagree, names that are missing, types that are not
what the file calls itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from engine_bridge.gguf_header import ArrayFacts, Header, TensorFacts
from engine_bridge.gguf_types import TENSOR_TYPES
from engine_bridge.model_facts import ModelFacts

_TOKENS = "tokenizer.ggml.tokens"
_FOR_CHATS = re.compile(r"(?:^|[-_ .])(?:instruct|chat|it)(?:[-_ .]|$)", re.IGNORECASE)
# Embeddings that take more than this of a file whose other tensors are quantised were left out.
_MUCH = 0.3
_UNQUANTISED = frozenset({"F32", "F16", "BF16"})
# A mix that has less than this of the type it is named by is none of that name.
_LITTLE = 0.25
_MIX = re.compile(r"(Q\d_K)_[SML]")
_BLOCKS = {kind.name: kind.block_values for kind in TENSOR_TYPES.values()}
_LAYER = re.compile(r"blk\.(\d+)\.")
_EXPERTS = re.compile(r"\.ffn_(?:up|down|gate)_exps\.weight$")
# RoPE scalings that work from the context before them.
_FROM_ORIGINAL = frozenset({"yarn", "longrope"})


def oddities(header: Header, facts: ModelFacts, tensors: Sequence[TensorFacts]) -> tuple[str, ...]:
    """What a person should know before trusting the file, a sentence each."""
    named = {tensor.name: tensor for tensor in tensors}
    return (
        *_of_context(header, facts),
        *_of_template(header, facts),
        *_of_tokens(header, facts),
        *_of_embeddings(header, facts, named),
        *_of_layers(header, facts, tensors),
        *_of_mix(header, facts, tensors),
    )


def embeddings_words(tensors: Sequence[TensorFacts]) -> str:
    """How the first and the last table are stored: ``Q6_K, also the output``; may be empty."""
    named = {tensor.name: tensor for tensor in tensors}
    table, output = named.get("token_embd.weight"), named.get("output.weight")
    if table is None:
        return ""
    if output is None:
        return f"{table.type_name}, also the output (tied)"
    return f"{table.type_name}, output {output.type_name}"


def _of_context(header: Header, facts: ModelFacts) -> Iterator[str]:
    arch = facts.architecture
    if not facts.ctx_train_tok:
        yield "It does not say what context it was trained for."
    kind = header.values.get(f"{arch}.rope.scaling.type")
    original = header.number(f"{arch}.rope.scaling.original_context_length")
    if kind in _FROM_ORIGINAL and not original and facts.ctx_train_tok:
        yield (
            f"Its RoPE is scaled ({kind}), but it does not say from which context: llama.cpp takes "
            f"the {facts.ctx_train_tok:,} tokens it was trained for."
        )


def _of_template(header: Header, facts: ModelFacts) -> Iterator[str]:
    names = (facts.name, header.line("general.finetune"))
    if not facts.chat_template and any(map(_FOR_CHATS.search, names)):
        yield (
            "Its name says that it is for chats, but it brings no chat template: llama.cpp takes "
            "ChatML, which it may not know."
        )


def _of_tokens(header: Header, facts: ModelFacts) -> Iterator[str]:
    size = header.count(_TOKENS)
    if not size:
        return
    for key, word in (("bos", "BOS"), ("eos", "EOS")):
        number = header.number(f"tokenizer.ggml.{key}_token_id", -1)
        if number >= size:
            yield (
                f"Its {word} token is number {number:,}, and it has {size:,} tokens: answers may "
                "not end."
            )
    is_bpe = header.text("tokenizer.ggml.model") == "gpt2"
    if is_bpe and "tokenizer.ggml.eos_token_id" not in header.values:
        yield (
            "It names no EOS token: llama.cpp takes number 11, whatever that is here, and tokens "
            "that it knows as ends by their text. Answers may not end."
        )
    said = header.number(f"{facts.architecture}.vocab_size")
    if said and said != size:
        yield f"Its header counts a vocabulary of {said:,}, and lists {size:,} tokens."
    for key, word in (("token_type", "types"), ("scores", "scores")):
        value = header.values.get(f"tokenizer.ggml.{key}")
        if isinstance(value, ArrayFacts) and value.count != size:
            yield f"It lists {size:,} tokens and {value.count:,} {word} of tokens."


def _of_embeddings(
    header: Header, facts: ModelFacts, named: Mapping[str, TensorFacts]
) -> Iterator[str]:
    table, size = named.get("token_embd.weight"), header.count(_TOKENS)
    if table is None:
        return
    rows = table.shape[1] if len(table.shape) > 1 else 0
    if size and rows and rows != size:
        yield f"Its table of embeddings has {rows:,} rows for {size:,} tokens."
    width = header.number(f"{facts.architecture}.embedding_length")
    if width and table.shape[0] != width:
        yield (
            f"Its header counts {width:,} values in a row, and its embeddings have "
            f"{table.shape[0]:,}."
        )
    others = {t.type_name for t in named.values() if len(t.shape) > 1} - {table.type_name}
    is_left_out = table.type_name in _UNQUANTISED and bool(others - _UNQUANTISED)
    total = sum(tensor.bytes for tensor in named.values())
    if is_left_out and table.bytes > _MUCH * total:
        yield (
            f"Its embeddings were left as {table.type_name} and take {_share(table.bytes, total)} "
            "of the file; a file with quantised ones would be smaller."
        )


def _of_layers(header: Header, facts: ModelFacts, tensors: Sequence[TensorFacts]) -> Iterator[str]:
    arch = facts.architecture
    numbers = {int(found[1]) for t in tensors if (found := _LAYER.match(t.name))}
    blocks = header.number(f"{arch}.block_count")
    # Layers that only guess ahead may be left out of a file, and stand behind the others.
    missing = sum(number not in numbers for number in range(facts.layers))
    further = sum(number >= blocks for number in numbers)
    if numbers and missing:
        yield (
            f"Its header counts {facts.layers:,} layers, and {missing:,} of them have no tensors: "
            "llama.cpp refuses such a file. Download it again."
        )
    if blocks and further:
        yield (
            f"Its header counts {blocks:,} layers, and its tensors {further:,} more, which "
            "llama.cpp leaves out or refuses."
        )
    held = {t.shape[-1] for t in tensors if _EXPERTS.search(t.name)}
    if facts.experts and held and held != {facts.experts}:
        counts = " and ".join(f"{count:,}" for count in sorted(held))
        yield f"Its header counts {facts.experts:,} experts a layer, and its tensors hold {counts}."


def _of_mix(header: Header, facts: ModelFacts, tensors: Sequence[TensorFacts]) -> Iterator[str]:
    """A file named after a type that its layers hardly have."""
    match = _MIX.fullmatch(facts.quantisation)
    kind = match[1] if match else facts.quantisation
    sizes: Counter[str] = Counter()
    for tensor in tensors:
        if _LAYER.match(tensor.name) and len(tensor.shape) > 1:
            sizes[tensor.type_name] += tensor.bytes
    total = sum(sizes.values())
    if kind not in _BLOCKS or not total or sizes[kind] >= _LITTLE * total:
        return
    most = sizes.most_common(1)[0][0]
    width = header.number(f"{facts.architecture}.embedding_length")
    block = _BLOCKS[kind]
    why = (
        f": rows of {width:,} values do not divide into its blocks of {block}, so other types "
        "stand in"
        if width % block
        else ""
    )
    yield (
        f"It is named {facts.quantisation}, but {_share(sizes[kind], total)} of its layers' bytes "
        f"are {kind} and most are {most}{why}."
    )


def _share(part: int, total: int) -> str:
    return f"{part / total:.0%}".replace("%", "\u202f%")
