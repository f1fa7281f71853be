"""What is being recovered from a call of llama.cpp: settings, the rest, and what leaves again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import msgspec

from app.export.engine_words import engine_words
from app.importing.found import Found
from app.importing.gathering import Gathering
from app.importing.invocation import Invocation
from app.importing.llama_meanings import ADDED_UP, key_of, name_of, reader_of
from app.importing.llama_said import Said
from app.importing.llama_scan import shown_words
from app.importing.llama_values import text
from app.importing.secret_words import (
    HIDDEN,
    hidden,
    is_secret_name,
    value_without_secrets,
)
from app.importing.typed_numbers import is_placeholder, is_variable
from engine_bridge.settings.domain import Value
from engine_bridge.settings.extra_flag import flag_item, flag_words
from engine_bridge.settings.table import BY_KEY
from engine_bridge.typed_text import quoted

# Each stands for a model and settings that the program looks up itself.
PRESETS = frozenset(
    {
        "--embd-gemma-default", "--fim-qwen-1.5b-default", "--fim-qwen-3b-default",
        "--fim-qwen-7b-default", "--fim-qwen-7b-spec", "--fim-qwen-14b-spec",
        "--fim-qwen-30b-default", "--gpt-oss-20b-default", "--gpt-oss-120b-default",
        "--vision-gemma-4b-default", "--vision-gemma-12b-default",
    }
)  # fmt: skip
# With these the program says something and ends.
_ENDING = ("--help", "--version", "--cache-list", "--completion-bash", "--list-devices")
# The desk writes it itself, since it plans memory before.
_OF_THE_DESK = ("--fit", "--fit-ctx")
# What people say several times on purpose.
_USUALLY_REPEATED = ("--override-tensor", "--spec-type", "--logit-bias", "--dry-sequence-breaker")
_ADDING = ("--lora", "--lora-scaled", "--override-kv", "--control-vector",
           "--control-vector-scaled")  # fmt: skip
# Free text, in which signs that look like a placeholder are meant.
_FREE_TEXT = frozenset(
    {"grammar", "json_schema", "override_tensor", "override_kv", "dry_sequence_breakers", "lora"}
)
_OPEN_TEXT = re.compile(
    r"<[A-Za-z][\w .-]*>"
    r"|^\{[A-Za-z][\w -]*\}$|^\[[A-Za-z][\w .-]*\]$|^\.{3}$|^…$|^your[_ -][\w .-]+$"
    r"|^YOUR_\w+$",
    re.IGNORECASE,
)
_SAMPLERS = ("penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc",
             "temperature")  # fmt: skip
_LETTERS = "edskypmxt"
# What --spec-default stands for.
_SPEC_DEFAULT: dict[str, Value] = {
    "ngram_mod_n_match": 24,
    "ngram_mod_n_min": 48,
    "ngram_mod_n_max": 64,
}


class LlamaGathering(Gathering):
    """Takes flags of llama.cpp, one after another.

    Attributes:
        env: The environment that is no flag.
        flags: Every flag that was taken, in order.
    """

    def __init__(self, target: str, invocation: Invocation) -> None:
        """Begin with what the reader of the text had to say."""
        super().__init__(target, invocation)
        self._note_containers()
        self.env: Mapping[str, str] = {}
        self.flags: list[Said] = []
        self._extra: list[tuple[str, str]] = []  # which flag, and its item
        self._said_by: dict[str, str] = {}
        self._last: dict[str, Said] = {}

    def _note_containers(self) -> None:
        """A path of a container is no fault of the line: the desk takes that of the host."""
        told = [problem for problem in self._problems if problem.startswith("container_path:")]
        self._problems = dict.fromkeys(p for p in self._problems if p not in told)
        for problem in told:
            self.note(f"The path is a container's: {problem.partition(': ')[2]}.")

    def take(self, said: Said) -> None:
        """Take one flag: as a setting, as what is no setting, or to be handed on."""
        self._tell_repeated(said)
        self.flags.append(said)
        if said.word is None:
            self._take_unknown(said)
        elif said.word.deprecated:
            self.problem("deprecated", f"{said.written} has no effect any more")
        elif said.is_called(*PRESETS):
            self._take_preset(said)
        elif said.is_called("--spec-default"):
            self._take_spec_default()
        elif said.is_called("--samplers", "--sampler-seq") and _is_usual_chain(said.value):
            return
        elif key := key_of(said.word):
            self._take_setting(key, said)
        else:
            self._take_other(said)

    def has(self, *names: str) -> bool:
        """Whether a flag with one of these names was taken."""
        return any(said.is_called(*names) for said in self.flags)

    def derive(self, key: str, value: Value) -> None:
        """Take what follows from the engine's rules, where the text does not say it."""
        if key not in self.settings:
            self.settings[key] = value
            self._derived.append(key)

    def hand_on_instead(self, flag: str, *instead: tuple[str, ...]) -> None:
        """Let flags leave in place of one that was to leave as it came."""
        kept = [(one, item) for one, item in self._extra if flag_words(item)[0] != flag]
        if len(kept) != len(self._extra):
            self._extra = [*kept, *((words[0], flag_item(words)) for words in instead)]

    def found(self) -> Found:
        """Everything, without any secret."""
        env = {name: value_without_secrets(name, value) for name, value in self.env.items()}
        return msgspec.structs.replace(
            super().found(),
            env=env,
            extra_flags=tuple(item for _, item in self._extra),
            mounts=tuple(self.invocation.mounts),
        )

    # --- What the desk does not know ----------------------------------------------------------

    def _take_unknown(self, said: Said) -> None:
        self.keep_words(shown_words(said))
        if shown_words(said) == said.words:
            self._hand_on(said)
        elif is_secret_name(said.spelling.partition("=")[0]):
            self._secrets.update(value for value in said.values if hidden(value) == HIDDEN)

    def _take_preset(self, said: Said) -> None:
        self.problem(
            "preset_flag",
            f"{said.written} stands for a model and its settings, which llama.cpp looks up when "
            "it starts; it may download them",
        )
        self.keep_words(said.words)
        self._hand_on(said)

    def _take_spec_default(self) -> None:
        kinds = self.settings.get("spec_types")
        already = kinds if isinstance(kinds, tuple) else ()
        if "ngram-mod" not in already:
            self.settings["spec_types"] = (*already, "ngram-mod")
        for key, value in _SPEC_DEFAULT.items():
            self.derive(key, value)

    def _take_other(self, said: Said) -> None:
        assert said.word is not None
        name = name_of(said.word)
        if said.is_called("--api-key", "--hf-token"):
            self._take_secret(name, said)
            return
        self.other[name] = self._meant(said)
        if said.is_called(*_OF_THE_DESK):
            if said.value.lower() not in ("off", "0", "false", "disabled"):
                self.note(
                    f"{said.written} is left out: TuneDeck plans memory itself, and its lines say "
                    "-fit off."
                )
        elif not said.is_called(*_ENDING):
            self._hand_on(said)

    def _take_secret(self, name: str, said: Said) -> None:
        if _is_placeholder(said):
            self.open_other(name, said)
            return
        self.secret(name, said.value)
        self.note(
            f"The value of {said.written} is not taken over: add it to the command line yourself, "
            "or name a file with --api-key-file."
            if said.is_called("--api-key")
            else f"The value of {said.written} is not taken over: log in to the hub once instead."
        )

    def open_other(self, name: str, said: Said) -> None:
        """Leave what is no setting for a person to say."""
        self.other[name] = None
        if _is_placeholder(said):
            self.problem("placeholder", f"{said.written} {said.value} waits for a value of yours")
        elif is_variable(said.value):
            self._tell_variable(said)

    def _meant(self, said: Said) -> object:
        """What a flag says that no setting stands for."""
        assert said.word is not None
        if said.word.arity == 0:
            return not said.is_off
        if said.word.kind == "json":
            return self._parsed(said)
        is_text = reader_of(said.word) is text
        if not said.values:  # told of where the words were taken apart
            return None
        if _is_placeholder(said) or (is_variable(said.value) and not is_text):
            self.open_other(name_of(said.word), said)
            return None
        if len(said.values) > 1:
            return list(said.values)
        value, fault = reader_of(said.word)(said.value)
        if fault:
            self.problem("bad_value", f"{said.written} {quoted(said.value)}: {fault}")
        return list(value) if isinstance(value, tuple) else value

    def _parsed(self, said: Said) -> object:
        try:
            return json.loads(said.value)
        except (ValueError, RecursionError):
            if not self.has_problem("shell_quoting"):
                self.problem("bad_value", f"the value of {said.written} is no JSON")
            return said.value

    def _hand_on(self, said: Said) -> None:
        """Keep the words for command lines of llama.cpp; nothing that waits for a value."""
        is_open = _is_placeholder(said) or any(map(is_variable, said.values))
        is_empty = said.word is not None and said.word.arity != 0 and not said.values
        if is_open or is_empty or is_secret_name(said.spelling) or not self._is_server_s(said):
            return
        if any(self._told(value) != value or HIDDEN in value for value in said.words):
            self.note(f"The value of {said.written} looks like a key and is not taken over.")
            return
        words = said.words if said.word is None or said.word.arity else _switch(said)
        if not words:
            return
        if said.word is not None and not said.word.repeats and not said.is_called(*_ADDING):
            self._extra = [(one, item) for one, item in self._extra if one != said.id]
        self._extra.append((said.id, flag_item(words)))

    def _is_server_s(self, said: Said) -> bool:
        if said.word is None:
            return self._target not in ("llama-bench", "llama-cpp-python")
        known = engine_words("llama_cpp").flag(said.spelling)
        return known is not None and not known.removed

    # --- Settings -----------------------------------------------------------------------------

    def _take_setting(self, key: str, said: Said) -> None:
        assert said.word is not None
        if said.word.arity == 0:
            self._set(key, not said.is_off)
            return
        if not said.values:  # told of where the words were taken apart
            self._set(key, None)
            return
        if self._waits(key, said):
            self._set(key, None)
            return
        value, fault = reader_of(said.word)(said.value)
        if key == "fit_margin_mib" and isinstance(value, tuple):
            self._take_margin(said, value)
            return
        if key == "ctx_total_tok" and isinstance(value, int) and value < 0:
            value, fault = 0, "taken as 0, the context that the model was trained for"
        if key == "spec_types" and isinstance(value, tuple):
            value, fault = self._known_kinds(said, value, fault)
        if said.is_called("--lora") and isinstance(value, tuple):
            value = tuple(map(_whole_path, value))
        if fault:
            self.problem("bad_value", f"{said.written} {quoted(said.value)}: {fault}")
        self._tell_one_for_all(key, said, value)
        self._set(key, value)

    def _tell_one_for_all(self, key: str, said: Said, value: Value | None) -> None:
        """Some flags have one setting together, and may say different things."""
        before = self._said_by.setdefault(key, said.id)
        self._said_by[key] = said.id
        is_other = before != said.id and key not in ADDED_UP
        if is_other and self.settings.get(key) != value:
            self.note(
                f"TuneDeck has one setting “{BY_KEY[key].label}” for all kinds of drafts; "
                f"{said.written} was taken, {before} {self.settings.get(key)} was not."
            )

    def _known_kinds(self, said: Said, kinds: tuple[str, ...], fault: str) -> tuple[Value, str]:
        known = said.word.choices if said.word is not None else ()
        unknown = [kind for kind in kinds if kind not in known]
        if unknown:
            fault = f"{quoted(unknown[0])} is no kind of drafts in 0.5.0"
        return tuple(kind for kind in kinds if kind in known), fault

    def _take_margin(self, said: Said, value: tuple[str, ...]) -> None:
        margins = {float(one) for one in value}
        if len(margins) == 1:
            self._set("fit_margin_mib", int(margins.pop()))
            return
        self._hand_on(said)
        self.note(
            f"{said.written} {said.value} leaves another margin on each device; TuneDeck has one "
            "for all, so the words leave as they came."
        )

    def _set(self, key: str, value: Value | None) -> None:
        before = self.settings.get(key)
        if key in ADDED_UP and isinstance(before, tuple) and isinstance(value, tuple):
            value = tuple(dict.fromkeys((*before, *value)))
        self.settings[key] = value
        if key in self._derived:
            self._derived.remove(key)

    def _waits(self, key: str, said: Said) -> bool:
        """Whether the value is left to a person; a variable can still be a path."""
        if key in _FREE_TEXT:
            return False
        if is_variable(said.value):
            self._tell_variable(said)
            return said.word is None or reader_of(said.word) is not text
        if _is_placeholder(said):
            self.problem("placeholder", f"{said.written} {said.value} waits for a value of yours")
            return True
        return False

    def _tell_variable(self, said: Said) -> None:
        if not (self.has_problem("unresolved_variable") or self.has_problem("macro")):
            self.problem(
                "unresolved_variable", f"{said.written} {said.value}: its value is not in the text"
            )

    # --- Said again ---------------------------------------------------------------------------

    def _tell_repeated(self, said: Said) -> None:
        if said.origin != "words" or said.word is None or said.is_called(*_USUALLY_REPEATED):
            return
        before = self._last.get(said.id)
        self._last[said.id] = said
        is_same_switch = (
            said.word.arity == 0 and before is not None and before.is_off == said.is_off
        )
        if before is None or is_same_switch:
            return
        is_secret = any(map(is_secret_name, said.word.names))
        dropped = "" if is_secret or not before.value else f", not {before.value}"
        what = "all are kept" if said.is_called(*_ADDING) else f"the last is taken{dropped}"
        self.problem("duplicate_option", f"{said.written} stands more than once; {what}")


def _whole_path(path: str) -> str:
    """An adapter's path as an item of the setting, which ends in a strength where it seems to."""
    _, colon, tail = path.rpartition(":")
    try:
        float(tail)
    except ValueError:
        return path
    return f"{path}:1" if colon else path


def _is_usual_chain(value: str) -> bool:
    """Whether samplers stand in the order in which the desk always has them."""
    if value in (_LETTERS, f"{_LETTERS}a"):
        return True
    chain = tuple(part.strip() for part in value.split(";") if part.strip())
    return chain in (_SAMPLERS, (*_SAMPLERS, "adaptive_p"))


def _switch(said: Said) -> tuple[str, ...]:
    """The spelling that says what a switch is set to; nothing where its absence says that."""
    assert said.word is not None
    known = said.word.names
    fitting = [n for n in known if (n in said.word.negated) == said.is_off]
    if said.spelling in fitting:
        return (said.spelling,)
    return (max(fitting, key=len),) if fitting else ()


def _is_placeholder(said: Said) -> bool:
    """Whether the value only says that something has to be put in; texts may look odd."""
    if said.word is not None and said.word.kind in ("str", "list", "json"):
        return _OPEN_TEXT.search(said.value) is not None and said.word.kind != "json"
    return said.word is not None and is_placeholder(said.value)
