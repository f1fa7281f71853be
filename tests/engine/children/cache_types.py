"""Tries every pair of cache types with every flash attention; llama.cpp may abort this process.

Arguments: the model's file, and the number of the first combination to try. Writes a line for each
before it is tried (its number) and one after it (what llama.cpp said, empty where it ran).
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from engine_bridge.child.llama import Context, LlamaError, Model
from engine_bridge.settings.cache_type import CACHE_TYPES
from engine_bridge.settings.config import EngineConfig

COMBINATIONS = tuple(product(CACHE_TYPES, CACHE_TYPES, ("auto", "on", "off")))


def config_of(path: str, combination: tuple[str, str, str]) -> EngineConfig:
    """The smallest context with these types."""
    type_k, type_v, flash_attn = combination
    return EngineConfig.from_values(
        {
            "model_path": path,
            "ctx_per_slot_tok": 256,
            "slots": 1,
            "batch_tok": 32,
            "ubatch_tok": 32,
            "threads": 1,
            "threads_batch": 1,
            "cache_type_k": type_k,
            "cache_type_v": type_v,
            "flash_attn": flash_attn,
        }
    )


def outcome(model: Model, config: EngineConfig) -> str:
    """Words of the refusal; empty where a few tokens are computed."""
    try:
        context = Context.create(model, config, quiet=True)
    except LlamaError as error:
        return str(error) or "refused"
    try:
        batch = context.new_batch(4)
        batch.token[:], batch.pos[:] = (1, 300, 301, 302), range(4)
        batch.wants_logits[-1] = 1
        first = context.decode(batch, 4)
        batch.token[0], batch.pos[0], batch.wants_logits[0] = 303, 4, 1
        second = context.decode(batch, 1)
        if first or second or not np.isfinite(context.logits()[0]).all():
            return f"computed nothing ({first}, {second})"
    finally:
        context.close()
    return ""


def main(path: str, first: int) -> None:
    """Try all from ``first`` on."""
    model = Model.load(path, config_of(path, COMBINATIONS[0]))
    for number in range(first, len(COMBINATIONS)):
        print(number, flush=True)  # noqa: T201
        said = outcome(model, config_of(path, COMBINATIONS[number]))
        print(said.replace("\n", " "), flush=True)  # noqa: T201
    model.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
