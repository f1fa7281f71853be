"""From a text to what can be taken over from it.

Nothing is executed, no path is opened and nobody is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from app.importing import (
    koboldcpp_words,
    launcher_words,
    llama_cpp_python_words,
    llama_words,
    lmstudio_words,
    ollama_words,
    sglang_words,
    tensorrt_words,
    vllm_words,
)
from app.importing.dialect_choice import (
    KOBOLD,
    LLAMA,
    LM_STUDIO,
    OLLAMA,
    PYTHON,
    SGLANG,
    TENSORRT,
    VLLM,
    engine_of,
)
from app.importing.expansion import bounded
from app.importing.found import Found
from app.importing.found_settings import Usable, settings_for
from app.importing.idle_variables import without_idle_variables
from app.importing.invocation import Invocation
from app.importing.launcher_words import JAN, WEBUI
from app.importing.look_alikes import look_alikes
from app.importing.named_variables import named_variables
from app.importing.other_engines import KNOWN, other_engine
from app.importing.readers import read
from app.importing.text_error import TextError

__all__ = ["Found", "TextError", "Usable", "import_text", "settings_for"]

_NO_ENGINE = (
    "No engine that can be imported from is called in this text. "
    f"{KNOWN} are known: paste the command with its flags, or the file that they are told by."
)
_LONGEST_NOTE = 20_000
"""Characters in which variables are looked for that a note names."""
MOST_CALLS = 200
"""Commands of one text that are read; nobody chooses among more."""
_DIALECTS: Mapping[str, Callable[[Invocation], Found]] = {
    LLAMA: llama_words.understand,
    PYTHON: llama_cpp_python_words.understand,
    OLLAMA: ollama_words.understand,
    VLLM: vllm_words.understand,
    SGLANG: sglang_words.understand,
    KOBOLD: koboldcpp_words.understand,
    TENSORRT: tensorrt_words.understand,
    LM_STUDIO: lmstudio_words.understand,
    WEBUI: launcher_words.understand_webui,
    JAN: launcher_words.understand_jan,
}


def import_text(text: str, hint: str = "") -> tuple[Found, ...]:
    """Everything in ``text`` that an engine is started or told by, in its order.

    Args:
        text: As pasted, or the content of a file.
        hint: The name of that file, where there is one.

    Raises:
        TextError: If nothing of the kind is in it; a sentence for the person.
    """
    with bounded():
        calls = _calls(text, hint)
    found = [
        _DIALECTS[engine_of(call)](without_idle_variables(call)) for call in calls[:MOST_CALLS]
    ]
    if len(calls) > MOST_CALLS:
        more = f"{len(calls) - MOST_CALLS:,} more commands of the text were not read."
        found[-1] = msgspec.structs.replace(found[-1], notes=(*found[-1].notes, more))
    return tuple(found)


def _calls(text: str, hint: str) -> list[Invocation]:
    """What the text calls of engines that are known."""
    sure = other_engine(text, is_sure=True)
    if sure:
        raise TextError(sure)
    other = other_engine(text)
    try:
        read_calls = read(text, hint)
    except TextError as error:
        noted = named_variables(text[:_LONGEST_NOTE])
        if noted:
            return list(noted)
        if other:
            raise TextError(other) from error
        raise
    calls = [call for call in read_calls if engine_of(call) in _DIALECTS]
    calls = calls or list(named_variables(text[:_LONGEST_NOTE]))
    calls = calls or ([] if other else look_alikes(read_calls))
    if not calls:
        raise TextError(other or _NO_ENGINE)
    return calls
