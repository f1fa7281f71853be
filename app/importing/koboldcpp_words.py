"""KoboldCpp's words as settings: its flags and its ``.kcpps`` files.

It runs one conversation at a time unless told otherwise, and many of its flags share their spelling
with llama.cpp's and not their values.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.export.engine_words import engine_words
from app.importing import koboldcpp_placement as placement
from app.importing.contradictions import tell_contradictions
from app.importing.draft_words import derive_kind
from app.importing.flag_handlers import (
    Handler,
    chosen,
    fixed,
    named_file,
    path,
    secret,
    shown,
    shown_fixed,
    shown_whole,
    understand_flags,
    untranslatable,
    whole,
)
from app.importing.flag_reader import Said, read_flags
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.koboldcpp_file import alone_in_file, flags_of_file
from app.importing.loose_json import Json, LooseJsonError, read_json
from app.importing.model_words import DRAFT, place_file
from app.importing.sampling_words import take_sampler
from app.importing.typed_numbers import decimal
from app.importing.typed_numbers import whole as whole_number
from app.importing.unwrapping import read_posix_words
from app.importing.variable_words import look_at_variables
from engine_bridge.typed_text import quoted

TARGET = "koboldcpp"
_SHOWN_CHARACTERS = 40
# Its image takes words from two, and others tell it what to do before it starts.
_OWN_VARIABLES = "KCPP_(?!MODEL$|ARGS$|DONT_)"
# Digits are how it was written once.
_CACHE_TYPES = {"0": "f16", "1": "q8_0", "2": "q4_0", "3": "bf16"}


def understand(invocation: Invocation) -> Found:
    """What the words of KoboldCpp mean to the desk."""
    gathering = Gathering(TARGET, invocation)
    engine = engine_words("koboldcpp")
    words = (*_words(invocation), *flags_of_file(invocation.values, engine, _HANDLERS))
    alone = understand_flags(gathering, read_flags(words, engine), engine, _HANDLERS)
    if invocation.values:  # a value that its own key cannot take is not the model
        _leave_out(gathering, alone)
        alone = alone_in_file(invocation.values)
    _take_alone(gathering, tuple(alone))
    placement.settle(gathering)
    _settle_room(gathering)
    _settle_drafts(gathering)
    look_at_variables(gathering, engine, _OWN_VARIABLES)
    tell_contradictions(gathering)
    return gathering.found()


def _words(invocation: Invocation) -> tuple[str, ...]:
    """Its words; those that its image takes from variables where it gets no others."""
    env = invocation.env
    words = invocation.words
    if not words and not invocation.values:
        words = read_posix_words(env.get("KCPP_ARGS", ""))
    file = env.get("KCPP_MODEL", "").partition(",")[0]
    return (*words, "--model", file) if file and "--model" not in words else words


# --- Words without a flag, and files ------------------------------------------------------------


def _leave_out(gathering: Gathering, words: Sequence[str]) -> None:
    for word in words:
        shown = word if len(word) <= _SHOWN_CHARACTERS else f"{word[: _SHOWN_CHARACTERS - 1]}…"
        gathering.problem("bad_value", f"{quoted(shown)} fits no key of the file; left out")


def _take_alone(gathering: Gathering, alone: tuple[str, ...]) -> None:
    """The model, and the port behind it."""
    has_model = bool({"model_path", "hf_repo"} & gathering.settings.keys())
    left = []
    for word in alone:
        if gathering.invocation.values and word == gathering.settings.get("model_path"):
            continue  # the file names it twice
        is_number = whole_number(word) is not None
        if is_number and has_model and "port" not in gathering.other:
            gathering.understood_whole("port", word, "the port")
        elif is_number and gathering.invocation.values:
            continue  # the file says its port twice, and the flag's is what counts
        elif is_number or has_model:
            left.append(word)
        else:
            place_file(gathering, word, "the model")
            has_model = True
    if left:
        gathering.keep_words(left)
        gathering.problem("unknown_word", f"“{' '.join(left[:3])}” belongs to no flag")
    named = {"model_path", "hf_repo"} & gathering.settings.keys()
    if not named and gathering.invocation.program and not _is_without_model(gathering):
        gathering.problem("no_model", "no model is named; KoboldCpp asks for one in its window")


def _is_without_model(gathering: Gathering) -> bool:
    return "config_file" in gathering.other or gathering.has_problem("fragment")


# --- Context and caches -------------------------------------------------------------------------


def _settle_room(gathering: Gathering) -> None:
    """One conversation with the whole context, unless several are asked for."""
    slots = gathering.settings.get("slots")
    context = gathering.settings.get("ctx_total_tok")
    if isinstance(slots, int) and slots > 1:
        gathering.problem(
            "unknown_context",
            f"how KoboldCpp shares its context among {slots} requests is not known; say what each "
            "may use",
        )
        return
    if slots is None and "slots" in gathering.settings:
        return
    gathering.setting("slots", 1, derived="slots" not in gathering.settings)
    gathering.setting("kv_unified", False, derived=True)
    if isinstance(context, int):
        gathering.setting("ctx_per_slot_tok", context, derived=True)


def _requests(gathering: Gathering, said: Said) -> None:
    number = gathering.whole("slots", said.value, said.written)
    if number is not None and number < 1:
        gathering.settings.pop("slots")


def _cache_type(gathering: Gathering, said: Said) -> None:
    name = _CACHE_TYPES.get(said.value, said.value.lower())
    gathering.setting("cache_type_k", name)
    gathering.setting("cache_type_v", name)


def _no_fast_forward(gathering: Gathering, said: Said) -> None:
    gathering.setting("cache_prompt", False)
    if "context_shift" not in gathering.settings:  # --noshift says it by itself
        gathering.setting("context_shift", False, derived=True)
    gathering.note(f"{said.written} reads every prompt anew and shifts no context.")


def _batch(gathering: Gathering, said: Said) -> None:
    number = whole_number(said.value)
    if number == -1:
        gathering.note(f"{said.written} -1 switches batches off; the batch here stays as it is.")
        return
    gathering.whole("batch_tok", said.value, said.written)
    if "ubatch_tok" not in gathering.settings:
        gathering.whole("ubatch_tok", said.value, said.written)


def _micro_batch(gathering: Gathering, said: Said) -> None:
    if whole_number(said.value) != -1:  # as the batch
        gathering.whole("ubatch_tok", said.value, said.written)


# --- Drafts, sampling ---------------------------------------------------------------------------


def _draft_model(gathering: Gathering, said: Said) -> None:
    place_file(gathering, said.value, said.written, DRAFT)


def _settle_drafts(gathering: Gathering) -> None:
    name = gathering.settings.get("draft_model_path") or gathering.settings.get("draft_hf_repo")
    if isinstance(name, str):
        derive_kind(gathering, name)


def _defaults(gathering: Gathering, said: Said) -> None:
    try:
        values = read_json(said.value)
    except LooseJsonError:
        values = ""
    if not isinstance(values, dict):
        gathering.problem(
            "bad_value", f"{said.written} {quoted(said.value)} cannot be read as JSON"
        )
        return
    unknown = [name for name, value in values.items() if not _default(gathering, name, value)]
    if unknown:
        gathering.problem("unknown_key", f"{said.written}: {', '.join(unknown)} is no sampler here")


def _default(gathering: Gathering, name: str, value: Json) -> bool:
    if name == "dry_sequence_breakers" and isinstance(value, list):
        gathering.setting(name, tuple(item for item in value if isinstance(item, str)))
    elif name == "logit_bias" and isinstance(value, dict):
        gathering.setting(name, tuple(f"{token}{_signed(bias)}" for token, bias in value.items()))
    elif name == "grammar" and isinstance(value, str):
        gathering.setting(name, value)
    else:
        return isinstance(value, str) and take_sampler(gathering, name, value)
    return True


def _signed(bias: Json) -> str:
    number = decimal(bias) if isinstance(bias, str) else None
    return f"{number:+g}" if number is not None else f"+{bias}"


# --- The rest -----------------------------------------------------------------------------------


def _model(gathering: Gathering, said: Said) -> None:
    place_file(gathering, said.values[0], said.written)
    if said.values[1:]:
        gathering.keep_words(said.values[1:])
        gathering.problem(
            "unknown_word", f"of several models the first is taken: {', '.join(said.values[1:])}"
        )


def _flash(gathering: Gathering, said: Said) -> None:
    gathering.setting("flash_attn", "off" if said.name == "--noflashattention" else "on")


def _benchmark(gathering: Gathering, said: Said) -> None:
    gathering.problem("not_transferable", f"{said.written} measures once and starts no server")


def _clblast(gathering: Gathering, said: Said) -> None:
    gathering.problem("removed_backend", "CLBlast is gone from KoboldCpp; choose Vulkan")


def _backend(gathering: Gathering, said: Said) -> None:
    gathering.understood("backend", said.written.lstrip("-"))


def _queue(gathering: Gathering, said: Said) -> None:
    if said.value:
        gathering.understood_whole("queue", said.value, said.written)
    else:
        gathering.note(f"{said.written} lets requests wait for each other, as they do here.")


def _rope(gathering: Gathering, said: Said) -> None:
    """A scale, and the base that goes with it; 0 leaves both to the engine."""
    numbers = [decimal(value) for value in said.values]
    scale = numbers[0] if numbers else None
    if scale is None or None in numbers[:2]:
        gathering.open("rope_freq_scale", " ".join(said.values), said.written)
    elif scale > 0:
        gathering.setting("rope_freq_scale", scale)
        if len(numbers) > 1 and isinstance(numbers[1], float):
            gathering.setting("rope_freq_base", numbers[1])
    else:
        gathering.note(f"{said.written} {said.values[0]} leaves RoPE to the engine.")


def _active_experts(gathering: Gathering, said: Said) -> None:
    if whole_number(said.value) != -1:  # as many as the model says
        _EXPERTS(gathering, said)


def _window(gathering: Gathering, said: Said) -> None:
    gathering.note(f"{said.written} is about KoboldCpp's own window.")


_EXPERTS = untranslatable(
    "not_transferable",
    "{}: llama.cpp takes the number of experts as a metadata override, whose key is named after "
    "the model's architecture",
)
_HANDLERS: dict[str, Handler] = {
    "--model": _model,
    "--contextsize": whole("ctx_total_tok"),
    "--parallelrequests": _requests,
    "--quantkv": _cache_type,
    "--batchsize": _batch,
    "--ubatchsize": _micro_batch,
    "--flashattention": _flash,
    "--noflashattention": _flash,
    "--noshift": fixed("context_shift", False),
    "--nofastforward": _no_fast_forward,
    "--noswa": fixed("swa_full", True),
    **placement.HANDLERS,
    "--draftmodel": _draft_model,
    "--draftamount": whole("draft_n_max"),
    "--draftgpulayers": whole("draft_n_gpu_layers"),
    "--usemtp": fixed("spec_types", ("draft-mtp",)),
    "--defaultgenamt": whole("max_new_tok"),
    "--gendefaults": _defaults,
    "--mmproj": path("mmproj_path"),
    "--autofit": shown_fixed("fit", "on"),
    "--autofitpadding": whole("fit_margin_mib"),
    "--highpriority": shown_fixed("prio", 2),
    "--jinja": shown_fixed("jinja", True),
    "--jinjatemplate": shown("chat_template_file"),
    "--host": shown("host"),
    "--port": shown_whole("port"),
    "--prompt": shown("prompt"),
    "--password": secret("password"),
    "--adminpassword": secret("adminpassword"),
    "--hordekey": secret("hordekey"),
    "--multiuser": _queue,
    "--benchmark": _benchmark,
    "--useclblast": _clblast,
    "--usevulkan": _backend,
    "--usecpu": _backend,
    "--noblas": _backend,
    "--skiplauncher": _window,
    "--showgui": _window,
    "--launch": _window,
    "--quiet": _window,
    "--config": named_file,
    "--ropeconfig": _rope,
    "--moeexperts": _active_experts,
    "--splitmode": chosen("split_mode"),
}
