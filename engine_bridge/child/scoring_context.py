"""A context that gives logits for many tokens of a step; part of the facade.

A context for chatting has a row of logits a slot; perplexity needs one for each scored token, and
asking for more than a context was built for aborts the process.
"""

from __future__ import annotations

from engine_bridge.child.llama import LIB, LOG, Context, LlamaError, Model
from engine_bridge.child.native_params import fill_context_params
from engine_bridge.settings.config import EngineConfig


def scoring_context(model: Model, config: EngineConfig, rows: int) -> Context:
    """A context for ``config`` with room for ``rows`` rows of logits a step.

    Raises:
        LlamaError: If llama.cpp refuses, with its words.
    """
    params = LIB.llama_context_default_params()
    fill_context_params(params, config)
    params.n_outputs_max = params.n_outputs_max_per_seq = rows
    with LOG.captured() as log:
        handle = LIB.llama_init_from_model(model.handle, params)
    if handle is None:
        raise LlamaError(log.cause or "llama.cpp gave no reason.", log.errors)
    context = Context(handle, model, config, log.lines)
    context.outputs_max = rows
    return context
