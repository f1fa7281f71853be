"""Contexts of a loaded model and of its draft model, and what is said where there is none.

Knows llama.cpp's refusals; whether memory suffices is ``memory_check``'s.
"""

from __future__ import annotations

from engine_bridge.child.draft_model import DraftModel
from engine_bridge.child.llama import Context, LlamaError, Model
from engine_bridge.child.load_faults import CannotLoadError
from engine_bridge.child.lora import LoraError, apply_adapters, drop_adapters, load_adapters
from engine_bridge.child.nextn import attach_mtp
from engine_bridge.lora_facts import refused_lora
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem


def make_context(model: Model, config: EngineConfig, guesses: Model | None = None) -> Context:
    """A context for ``config``, whose rules were checked.

    Args:
        model: The model.
        config: What to build.
        guesses: The file of the layers that guess ahead; None where the model's own holds them, or
            none do.

    Raises:
        CannotLoadError: If llama.cpp refuses; with its words.
    """
    context: Context | None = None
    try:
        load_adapters(model, config)  # before the context: its graph is sized for them
        context = Context.create(model, config)
        attach_mtp(context, config, guesses)
        drop_adapters(model, config)
        apply_adapters(context, config)
    except LoraError as error:
        raise CannotLoadError(refused_lora(config, error.path, str(error))) from None
    except LlamaError as error:
        if context is not None:
            context.close()
        raise CannotLoadError(
            Problem(
                ("ctx_per_slot_tok", "slots", "cache_type_k", "cache_type_v", "flash_attn"),
                f"llama.cpp could not make this context: {error} Choose a smaller context, fewer "
                "slots or a smaller cache type.",
            ),
            fault=error.fault,
        ) from None
    return context


def make_contexts(model: Model, config: EngineConfig, draft: DraftModel | None) -> Context:
    """The context of ``model``, and that of its draft model, which keeps it.

    The context of guessing layers belongs to the model's: it must end before ``draft`` does.

    Raises:
        CannotLoadError: If llama.cpp refuses one of them; then there is neither.
    """
    if config.uses_mtp:
        return make_context(model, config, None if draft is None else draft.model)
    context = make_context(model, config)
    if draft is not None and config.draft is not None:
        try:
            make_draft_context(draft, config.draft)
        except CannotLoadError:
            context.close()
            raise
    return context


def make_draft_context(draft: DraftModel, config: EngineConfig) -> None:
    """Give ``draft`` a context for ``config``, its own.

    Raises:
        CannotLoadError: If llama.cpp refuses it; with its words.
    """
    try:
        draft.build(config)
    except LlamaError as error:
        raise CannotLoadError(
            Problem(
                ("draft_model_path", "draft_cache_type_k", "draft_cache_type_v"),
                f"llama.cpp could not make the context of the draft model: {error} Choose a "
                "smaller context, fewer slots, another draft model or none.",
            ),
            fault=error.fault,
        ) from None
