"""The flags of llama.cpp's server for the rarer samplers, grammars and biases."""

from __future__ import annotations

import json
from collections.abc import Callable

from app.export.llama_flag import Flag, Situation, said_if_changed, switch
from app.export.llama_sampling import is_overruled, sampling
from app.quoting import Shell
from engine_bridge.settings import json_schema
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY

# The prompt of cmd.exe takes 8,191 characters, and quoting may nearly double a text.
_LONGEST_ON_WINDOWS = 3_500
# Where a text is looked for that the line cannot hold: in the folder where it runs.
_GRAMMAR_FILE, _SCHEMA_FILE = "grammar.gbnf", "schema.json"
_SAMPLERS = "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature"


def _while(is_on: Callable[[EngineConfig], bool], flag: str, key: str) -> Flag:
    """``flag VALUE`` where the value is not the default and has an effect."""
    changed = sampling(flag, key)
    return Flag((key,), lambda s: changed.words(s) if is_on(s.config) else ())


def _has_dry(config: EngineConfig) -> bool:
    return config.dry_multiplier > 0


def _has_mirostat(config: EngineConfig) -> bool:
    return config.mirostat != 0


def _breakers(s: Situation) -> tuple[str, ...]:
    breakers = s.config.dry_sequence_breakers
    if not _has_dry(s.config) or breakers == BY_KEY["dry_sequence_breakers"].default:
        return ()
    # The first one clears the program's own; the word none adds nothing. It reads \\n as C does.
    texts = [
        one.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") for one in breakers
    ]
    return tuple(word for text in texts or ["none"] for word in ("--dry-sequence-breaker", text))


def _adaptive(s: Situation) -> tuple[str, ...]:
    config = s.config
    if config.adaptive_target < 0:
        return ("--samplers", _SAMPLERS) if is_overruled(s) else ()
    # Only where it is named does adaptive-p take the place of the usual draw.
    written: tuple[str, ...] = ("--samplers", f"{_SAMPLERS};adaptive_p")
    written += ("--adaptive-target", str(config.adaptive_target))
    return (*written, "--adaptive-decay", str(config.adaptive_decay))


def _grammar(s: Situation) -> tuple[str, ...]:
    """In a file where the shell cannot be given the text: then the line says where."""
    text = s.config.grammar
    if not text:
        return ()
    if s.shell is not Shell.POSIX:
        text = text.strip()  # a line feed at the end says nothing
    if _can_be_given(text, s.shell):
        return ("--grammar", text)
    return ("--grammar-file", _GRAMMAR_FILE)


def _schema(s: Situation) -> tuple[str, ...]:
    """As a grammar: with ``--json-schema`` the program starts, and then refuses every chat.

    A grammar mostly has several lines, though, which not every shell can be given; a schema needs
    one.
    """
    text = s.config.json_schema
    if not text or s.config.grammar:  # which refuses to stand beside one, and is said itself
        return ()
    grammar = json_schema.grammar_of(text).rstrip()
    if _can_be_given(grammar, s.shell):
        return ("--grammar", grammar)
    short = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    if _can_be_given(short, s.shell):
        return ("--json-schema", short)
    return ("--json-schema-file", _SCHEMA_FILE)


def _can_be_given(text: str, shell: Shell) -> bool:
    if shell is Shell.POSIX:
        return True
    return "\n" not in text and "\t" not in text and len(text) <= _LONGEST_ON_WINDOWS


def _form_notes(s: Situation) -> tuple[str, ...]:
    said = []
    if "--grammar-file" in _grammar(s):
        said.append(
            "This shell cannot be given a text of several lines, or one so long: save the grammar "
            f"as {_GRAMMAR_FILE} in the folder where the line runs (Tune, Grammar, copy it)."
        )
    words = _schema(s)
    if "--grammar" in words:
        said.append(
            "The JSON schema is written as --grammar, as TuneDeck makes it of the schema: with "
            f"--json-schema {s.program} refuses each chat (error 400)."
        )
    elif words:
        said.append(
            f"With {words[0]} {s.program} refuses each chat (error 400) and follows the schema at "
            "/completion alone. Lines for POSIX sh say it as --grammar, which works for both; "
            "this shell cannot be given a text of several lines."
        )
    if "--json-schema-file" in words:
        said.append(
            "The schema is too long for a line of this shell: save it as "
            f"{_SCHEMA_FILE} in the folder where the line runs (Tune, JSON schema, copy it)."
        )
    return tuple(said)


def _biases(s: Situation) -> tuple[str, ...]:
    return tuple(word for bias in s.config.logit_bias for word in ("--logit-bias", bias))


def without_effect(s: Situation) -> dict[str, str]:
    """Settings that are changed but not said, since the sampler they belong to is off."""
    reasons = {
        key: f"It has no effect while {name} is off."
        for name, (is_on, keys) in _PARTS.items()
        for key in keys
        if not is_on(s.config) and getattr(s.config, key) != BY_KEY[key].default
    }
    if s.config.grammar and s.config.json_schema:
        reasons["json_schema"] = "An answer follows one form, and the line says the grammar."
    return reasons


def notes(s: Situation) -> tuple[str, ...]:
    """What the user should know about these flags before running the line."""
    repeated = [flag for flag, words in _REPEATED.items() if words(s).count(flag) > 1]
    if not repeated:
        return _form_notes(s)
    return (
        f"{s.program} warns that only the last {' and the last '.join(repeated)} would be used; "
        "it uses all of them.",
        *_form_notes(s),
    )


_PARTS: dict[str, tuple[Callable[[EngineConfig], bool], tuple[str, ...]]] = {
    "DRY": (
        _has_dry,
        ("dry_base", "dry_allowed_tok", "dry_last_n_tok", "dry_sequence_breakers"),
    ),
    "XTC": (lambda config: config.xtc_probability > 0, ("xtc_threshold",)),
    "the temperature's range": (lambda config: config.dynatemp_range > 0, ("dynatemp_exponent",)),
    "adaptive-p": (lambda config: config.adaptive_target >= 0, ("adaptive_decay",)),
    "Mirostat": (_has_mirostat, ("mirostat_lr", "mirostat_ent")),
}
_REPEATED = {"--dry-sequence-breaker": _breakers, "--logit-bias": _biases}
MORE_SAMPLING: tuple[Flag, ...] = (
    said_if_changed("--dry-multiplier", "dry_multiplier"),
    _while(_has_dry, "--dry-base", "dry_base"),
    _while(_has_dry, "--dry-allowed-length", "dry_allowed_tok"),
    _while(_has_dry, "--dry-penalty-last-n", "dry_last_n_tok"),
    Flag(("dry_sequence_breakers",), _breakers),
    said_if_changed("--top-n-sigma", "top_n_sigma"),
    said_if_changed("--typical-p", "typical_p"),
    sampling("--xtc-probability", "xtc_probability"),
    _while(lambda config: config.xtc_probability > 0, "--xtc-threshold", "xtc_threshold"),
    said_if_changed("--dynatemp-range", "dynatemp_range"),
    _while(lambda config: config.dynatemp_range > 0, "--dynatemp-exp", "dynatemp_exponent"),
    Flag(("adaptive_target", "adaptive_decay"), _adaptive),
    sampling("--mirostat", "mirostat"),
    _while(_has_mirostat, "--mirostat-lr", "mirostat_lr"),
    _while(_has_mirostat, "--mirostat-ent", "mirostat_ent"),
    Flag(("logit_bias",), _biases),
    switch("--ignore-eos", "ignore_eos", when=True),
    Flag(("grammar",), _grammar),
    Flag(("json_schema",), _schema),
)
