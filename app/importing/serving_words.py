"""What servers of many sequences say alike: vLLM, SGLang and TensorRT-LLM.

One sequence has a limit, all share one pool that is as large as memory allows, and the model is
mostly no GGUF file. Must not know how any of them spells its flags.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.importing.flag_handlers import Handler, untranslatable
from app.importing.flag_reader import Said
from app.importing.gathering import Gathering
from app.importing.loose_json import Json, LooseJsonError, read_json
from app.importing.model_words import place_model
from app.importing.sampling_words import take_sampler
from app.importing.typed_numbers import whole_with_suffix
from engine_bridge.typed_text import quoted

_REMOTE_CODE = "trust_remote_code"

lora_folders = untranslatable(
    "not_transferable",
    "{}: adapters there are folders of the hub; llama.cpp takes LoRA adapters as GGUF files",
)


def take_models(gathering: Gathering, alone: tuple[str, ...]) -> None:
    """Take the model from the words that belong to no flag; tell where there is none."""
    for word in alone[:1]:
        place_model(gathering, word)
    if alone[1:]:
        gathering.keep_words(alone[1:])
        gathering.problem("unknown_word", f"“{' '.join(alone[1:4])}” belongs to no flag")
    named = bool({"model_path", "hf_repo"} & gathering.settings.keys())
    _tell_remote_code(gathering, is_gguf=named)
    if not named and "source_model" not in gathering.other and not _is_part(gathering):
        gathering.problem("no_model", "no model is named; it comes from elsewhere")


def _is_part(gathering: Gathering) -> bool:
    invocation = gathering.invocation
    return gathering.has_problem("fragment") or not (invocation.program or invocation.words)


def note_shared_pool(gathering: Gathering, engine: str) -> None:
    """Tell that slots and context are not multiplied by ``engine``."""
    context, slots = (gathering.settings.get(key) for key in ("ctx_per_slot_tok", "slots"))
    if not isinstance(context, int) or not isinstance(slots, int) or slots < 2:
        return
    gathering.note(
        f"{engine} lets {slots} sequences share one pool: {context:,} tok is what one of them may "
        f"reach, and nobody reserves {slots} times that. Here that is a shared pool, at first as "
        "large as one of them; a larger one lets several be long at once."
    )


def model(gathering: Gathering, said: Said) -> None:
    """The model by a flag."""
    place_model(gathering, said.value)


def sized(key: str, suffixes: Mapping[str, int], with_decimals: str) -> Handler:
    """A number of tokens that may end in one of ``suffixes``."""

    def handle(gathering: Gathering, said: Said) -> None:
        number = whole_with_suffix(said.value, suffixes, with_decimals)
        if number is None:
            gathering.open(key, said.value, said.written)
        else:
            gathering.setting(key, number)

    return handle


def memory_share(of_what: str) -> Handler:
    """A share of a GPU's memory, which is shown.

    Args:
        of_what: What it is the share of and for, in a sentence behind "is".
    """

    def handle(gathering: Gathering, said: Said) -> None:
        gathering.understood_decimal("gpu_mem_fraction", said.value, said.written)
        gathering.note(
            f"{said.written} is {of_what}; the margin here is what is left free, so it is shown "
            "and not taken over."
        )

    return handle


def over_boards(name: str, what: str) -> Handler:
    """A number of GPUs that a model is cut for, which is shown."""

    def handle(gathering: Gathering, said: Said) -> None:
        number = gathering.understood_whole(name, said.value, said.written)
        if number is not None and number > 1:
            gathering.note(
                f"{what} over {number} GPUs is not how llama.cpp splits a model: look at the split "
                "mode and the tensor split."
            )

    return handle


def data_parallel(gathering: Gathering, said: Said) -> None:
    """A number of copies of the model."""
    number = gathering.understood_whole("data_parallel", said.value, said.written)
    if number is not None and number > 1:
        gathering.problem(
            "not_transferable", f"data parallel {number} would be {number} servers of llama.cpp"
        )


def remote_code(gathering: Gathering, said: Said) -> None:
    """Leave to run code that a repository brings; ``take_models`` tells what it means."""
    gathering.understood(_REMOTE_CODE, not said.off)


def _tell_remote_code(gathering: Gathering, *, is_gguf: bool) -> None:
    if not gathering.other.get(_REMOTE_CODE):
        return
    sentence = "code that a repository brings is never run by llama.cpp, so leave for it is dropped"
    if is_gguf:
        gathering.problem("security", sentence)
    else:  # it belongs to weights that are not taken over
        gathering.note(f"{sentence[0].upper()}{sentence[1:]}.")


def tool_parser(gathering: Gathering, said: Said) -> None:
    """Whose calls of tools are read; llama.cpp reads them itself once the template is used."""
    gathering.understood("jinja", True)
    gathering.understood("tool_parser", said.value)


def json_object(gathering: Gathering, said: Said) -> dict[str, Json]:
    """The value of a JSON flag; empty and told of where it is none."""
    if said.part:
        return {said.part: said.value}
    try:
        value = read_json(said.value)
    except LooseJsonError:
        value = ""
    if isinstance(value, dict):
        return value
    gathering.problem("bad_value", f"{said.written} {quoted(said.value)} cannot be read as JSON")
    return {}


def samplers(gathering: Gathering, said: Said) -> None:
    """Defaults of sampling as JSON, by the names of the Transformers library."""
    unknown = [
        name
        for name, value in json_object(gathering, said).items()
        if not isinstance(value, str) or not take_sampler(gathering, name, value)
    ]
    if unknown:
        gathering.problem(
            "unknown_key", f"{said.written}: {', '.join(unknown)} is no sampler that TuneDeck has"
        )
