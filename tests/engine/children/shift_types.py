"""Shifts a full slot with every type of the K cache; llama.cpp may end this process.

Argument: the model's file. Writes a line for each type: its name, how the answer ended, and how
many tokens were dropped.
"""

from __future__ import annotations

import sys

from engine_bridge.settings.cache_type import CACHE_TYPES
from tests.engine.harness import InProcess, random_tokens, tiny_config


def main(path: str) -> None:
    """Try all types."""
    for cache_type in CACHE_TYPES:
        with InProcess() as desk:
            desk.load(
                tiny_config(path, ctx_per_slot_tok=256, context_shift=True, cache_type_k=cache_type)
            )
            _, finished = desk.answer(random_tokens(200), max_new_tok=100, ignore_eog=True)
        print(cache_type, finished.reason, finished.timing.dropped_tok, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
