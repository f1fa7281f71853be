"""What Ollama's Modelfiles and requests say: instructions, parameters, options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from app.export.engine_words import EngineWords
from app.importing.draft_words import derive_kind
from app.importing.gathering import Gathering
from app.importing.go_template import builtin_like
from app.importing.model_words import DRAFT, is_path, place_file
from app.importing.programs import base_name
from app.importing.sampling_words import take_sampler
from app.importing.typed_numbers import is_placeholder, is_variable, truth, whole
from engine_bridge.typed_text import quoted

_OPTIONS = "options."
_OF_CREATE = "parameters."
_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)*(?::[\w.-]+)?")
# What a request says beside its options, and what a Modelfile says beside its parameters.
_SHOWN = {"keep_alive": "keep_alive", "system": "system_prompt", "SYSTEM": "system_prompt"}
_NOT_SETTINGS = (
    "prompt", "messages", "suffix", "context", "stream", "raw", "format", "images", "think",
    "truncate", "shift", "tools", "logprobs", "top_logprobs", "input", "dimensions",
)  # fmt: skip
_PROJECTOR = re.compile(
    r"mmproj|projector|clip|vision[-_.]?(?:adapter|tower|encoder)|[-_.]vit[-_.]", re.IGNORECASE
)
# Of a model in parts the first is named, and stands for all.
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)
_ABOUT = ("LICENSE", "MESSAGE", "REQUIRES", "RENDERER", "PARSER")


def take(gathering: Gathering, engine: EngineWords) -> None:
    """Take what the file or the request says, where the text is one."""
    values = gathering.invocation.values
    if not values:
        return
    if gathering.invocation.kind == "json" or any(key.startswith(_OPTIONS) for key in values):
        _request(gathering, values, engine)
    else:
        _modelfile(gathering, values, engine)


def take_name(gathering: Gathering, text: str, written: str = "the model") -> None:
    """Take a model by what Ollama calls it: a file, a repository, or a name of its library."""
    if is_path(text) or not _NAME.fullmatch(text) or is_variable(text) or is_placeholder(text):
        place_file(gathering, text, written)
        return
    if text.startswith(("hf.co/", "huggingface.co/")):
        place_file(gathering, text, written)
        return
    gathering.understood("source_model", text)
    gathering.problem(
        "no_model",
        f"{text} is a name of Ollama's library, which tells no file; choose the GGUF of that model",
    )


# --- Modelfile ----------------------------------------------------------------------------------


def _modelfile(
    gathering: Gathering, values: Mapping[str, tuple[str, ...]], engine: EngineWords
) -> None:
    _from(gathering, values.get("FROM", ()))
    about = []
    for key, items in values.items():
        if key == "TEMPLATE":
            _template(gathering, items[-1])
        elif key == "ADAPTER":
            gathering.setting("lora", items)
        elif key == "DRAFT":
            _draft(gathering, items[-1])
        elif key in _SHOWN:
            gathering.understood(_SHOWN[key], items[-1])
        elif key in _ABOUT:
            about.append(key)
        elif key != "FROM":
            _parameter(gathering, key, items, engine, "PARAMETER")
    if about:
        gathering.note(f"{', '.join(about)} of the Modelfile is no setting and is left out.")
    _settle_drafts(gathering)


def _from(gathering: Gathering, models: tuple[str, ...]) -> None:
    if not models:
        if not gathering.has_problem("fragment"):
            gathering.problem("no_model", "the line FROM is missing, which names the model")
        return
    model, projector = _model_and_projector(gathering, models)
    take_name(gathering, model, "FROM")
    if model.startswith("~") and not gathering.has_problem("home_path"):
        gathering.problem(
            "home_path", "~ is not expanded by every engine; write the whole path of the model"
        )
    if projector:
        gathering.setting("mmproj_path", projector)


def _model_and_projector(gathering: Gathering, models: tuple[str, ...]) -> tuple[str, str]:
    """Which of several ``FROM`` is the model, and which is what it sees with, if any is.

    Ollama tells files apart by what they hold, whatever their order is; here their names tell. Of
    names of its library it takes the last.
    """
    files = [each for each in models if is_path(each)]
    if len(models) == 1 or not files:
        if len(models) > 1:
            gathering.problem(
                "duplicate_option",
                f"FROM stands {len(models)} times; the last one is taken, {models[-1]}",
            )
        return models[-1], ""
    shards = [each for each in files if not _LATER_PART.search(each)]
    projectors = [each for each in shards if _PROJECTOR.search(base_name(each))]
    others = [each for each in shards if each not in projectors]
    if len(projectors) == 1 and len(others) == 1:
        return others[0], projectors[0]
    if len(shards) == 1:
        return shards[0], ""
    gathering.problem(
        "ambiguous_model",
        "FROM stands several times, and Ollama sees by what the files hold which one is the "
        "projector; their names do not tell, so the first is read as the model and the second as "
        "the projector",
    )
    left = [f"FROM {each}" for each in models if each not in shards[:2]]
    gathering.keep_words(left)
    return (shards or files)[0], shards[1] if len(shards) > 1 else ""


def _template(gathering: Gathering, text: str) -> None:
    builtin = builtin_like(text)
    if builtin:
        gathering.understood("chat_template", builtin)
        gathering.problem(
            "go_template",
            f"TEMPLATE is Go text, not Jinja; it looks like {builtin}, which llama.cpp has built "
            "in",
        )
        return
    gathering.problem(
        "go_template", "TEMPLATE is Go text, not Jinja; use the template inside the GGUF"
    )
    gathering.problem(
        "template_override",
        "a home-made template replaces the one of the model, which may expect other marks",
    )


def _draft(gathering: Gathering, text: str) -> None:
    place_file(gathering, text, "DRAFT", DRAFT)


def _settle_drafts(gathering: Gathering) -> None:
    """Ollama sees by the file how it drafts; without one the model's own layers guess ahead."""
    name = gathering.settings.get("draft_model_path") or gathering.settings.get("draft_hf_repo")
    if isinstance(name, str):
        derive_kind(gathering, name)
    elif "draft_n_max" in gathering.settings and "spec_types" not in gathering.settings:
        gathering.setting("spec_types", ("draft-mtp",), derived=True)


# --- Parameters ---------------------------------------------------------------------------------

_Taker = Callable[[Gathering, str, str], None]


def _parameter(
    gathering: Gathering, key: str, items: tuple[str, ...], engine: EngineWords, section: str
) -> None:
    name = key.lower()
    if not items:
        return
    if name == "stop":
        gathering.understood("stop", [_unquoted(item) for item in items])
        return
    word = engine.key(section, name) or engine.key("PARAMETER", name)
    if word is None:
        gathering.problem("unknown_flag", f"{key} is no parameter of {engine.engine}; it is kept")
        gathering.keep_words(f"PARAMETER {key} {item}" for item in items)
        return
    value = items[-1].strip()
    taker = _PARAMETERS.get(name)
    if taker is not None:
        taker(gathering, name, value)
    known = taker is not None or take_sampler(gathering, name, value)
    if word.removed:
        _removed(gathering, name, engine, taken_over=known)
    elif not known:
        gathering.leave(engine.engine, [f"PARAMETER {key} {value}"])


def _removed(gathering: Gathering, name: str, engine: EngineWords, *, taken_over: bool) -> None:
    gathering.heal(name, "")
    what = "; here it works, and it was taken over" if taken_over else ", and nothing says it today"
    gathering.problem(
        "removed_key", f"{engine.engine} {engine.version} ignores {name} or refuses it{what}"
    )


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _whole(key: str) -> _Taker:
    def take_whole(gathering: Gathering, name: str, value: str) -> None:
        gathering.whole(key, value, name)

    return take_whole


def _batch(gathering: Gathering, name: str, value: str) -> None:
    gathering.whole("batch_tok", value, name)
    gathering.whole("ubatch_tok", value, name)


def _layers(gathering: Gathering, name: str, value: str) -> None:
    if whole(value) == -1:
        gathering.setting("n_gpu_layers", "auto")
    else:
        gathering.whole("n_gpu_layers", value, name)


def _main_board(gathering: Gathering, name: str, value: str) -> None:
    gathering.whole("main_gpu", value, name)
    gathering.setting("split_mode", "none", derived=True)


def _mapped(gathering: Gathering, name: str, value: str) -> None:
    on = truth(value)
    if on is None:
        gathering.open("load_mode", value, name)
    else:
        gathering.setting("load_mode", "mmap" if on else "none")


def _locked(gathering: Gathering, name: str, value: str) -> None:
    if truth(value):
        gathering.setting("load_mode", "mlock")


def _threads(gathering: Gathering, name: str, value: str) -> None:
    if whole(value) == 0:
        gathering.setting("threads", "auto")
    else:
        gathering.whole("threads", value, name)


def _drafted(gathering: Gathering, name: str, value: str) -> None:
    if whole(value) == 0:
        gathering.setting("spec_types", ())
    else:
        gathering.whole("draft_n_max", value, name)


def _context(gathering: Gathering, name: str, value: str) -> None:
    gathering.whole("ctx_per_slot_tok", value, name)


_PARAMETERS: dict[str, _Taker] = {
    "num_ctx": _context,
    "num_keep": _whole("keep_tok"),
    "num_batch": _batch,
    "num_gpu": _layers,
    "main_gpu": _main_board,
    "use_mmap": _mapped,
    "use_mlock": _locked,
    "num_thread": _threads,
    "draft_num_predict": _drafted,
}


# --- Requests -----------------------------------------------------------------------------------


def _request(
    gathering: Gathering, values: Mapping[str, tuple[str, ...]], engine: EngineWords
) -> None:
    about: list[str] = []
    for key, items in values.items():
        base = key.split(".", 1)[0]
        if not items:
            continue
        if key.startswith(_OPTIONS):
            _parameter(gathering, key.removeprefix(_OPTIONS), items, engine, "options")
        elif key.startswith(_OF_CREATE):
            _parameter(gathering, key.removeprefix(_OF_CREATE), items, engine, "PARAMETER")
        elif base in _NOT_SETTINGS:
            about.append(base)
        elif not _is_asked(gathering, key, items[-1], is_made="from" in values):
            gathering.problem("unknown_key", f"{quoted(key)} is no key of a request to Ollama")
            gathering.keep_words((f"{key}: {', '.join(items)}",))
    if about:
        named = ", ".join(dict.fromkeys(about))
        gathering.note(f"What is asked is no setting and is left out: {named}.")
    _settle_drafts(gathering)


def _is_asked(gathering: Gathering, key: str, text: str, *, is_made: bool) -> bool:
    """Take what a request says of the model; whether that is what the key is for."""
    if key == "model" and is_made:
        gathering.understood("alias", text)
    elif key in ("model", "from"):
        take_name(gathering, text)
    elif key == "template":
        _template(gathering, text)
    elif key in _SHOWN:
        gathering.understood(_SHOWN[key], text)
    else:
        return False
    return True
