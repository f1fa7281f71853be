"""What KoboldCpp gives requests that bring no values of their own: the JSON of ``--gendefaults``.

Its own values are others than llama.cpp's, so what both have is always said.
"""

from __future__ import annotations

import json

from app.export.koboldcpp_flags import ENGINE, KoboldSheet
from app.quoting import Shell
from engine_bridge.settings.domain import Value
from engine_bridge.settings.json_schema import grammar_of

_FLAG = "--gendefaults"
_MOST_SEED = 2**31 - 1
_MOST_BIAS = 100.0
_LONGEST_LINE_CMD = 8_000
_ALWAYS = {
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "repeat_penalty": "rep_pen",
    "repeat_last_n_tok": "rep_pen_range",
}
_WHERE_MOVED = {
    "presence_penalty": "presence_penalty",
    "typical_p": "typical",
    "xtc_probability": "xtc_probability",
    "dynatemp_range": "dynatemp_range",
    "dynatemp_exponent": "dynatemp_exponent",
    "adaptive_target": "adaptive_target",
    "mirostat": "mirostat",
    "mirostat_lr": "mirostat_eta",
    "mirostat_ent": "mirostat_tau",
}
# Where these are off in both, what belongs to them need not be said.
_DRY: dict[str, str] = {
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_tok": "dry_allowed_length",
    "dry_last_n_tok": "dry_penalty_last_n",
    "dry_sequence_breakers": "dry_sequence_breakers",
}


def say_sampling(sheet: KoboldSheet) -> None:
    """Writes the samplers as defaults of requests."""
    said: dict[str, object] = {}
    for key, name in _ALWAYS.items():
        _say(sheet, said, key, name)
    for key, name in _WHERE_MOVED.items():
        if sheet.is_moved(key):
            _say(sheet, said, key, name)
        else:
            sheet.say(key, f"{_FLAG} {name}, the same unless told")
    _dry(sheet, said)
    _xtc_and_adaptive(sheet, said)
    _answers(sheet, said)
    _forms(sheet, said)
    sheet.leave("frequency_penalty", f"{ENGINE} has a presence penalty and none by frequency.")
    text = json.dumps(said, ensure_ascii=False)
    sheet.words += [_FLAG, text]
    sheet.kcpps["gendefaults"] = text
    if sheet.situation.shell is Shell.CMD and len(text) > _LONGEST_LINE_CMD:
        sheet.notes.append(
            "The line is longer than cmd.exe takes; the .kcpps file has no such limit."
        )


def _say(sheet: KoboldSheet, said: dict[str, object], key: str, name: str) -> None:
    value: Value = getattr(sheet.config, key)
    said[name] = list(value) if isinstance(value, tuple) else value
    sheet.say(key, f"{_FLAG} {name}")


def _dry(sheet: KoboldSheet, said: dict[str, object]) -> None:
    for key, name in _DRY.items():
        if sheet.config.dry_multiplier > 0:
            _say(sheet, said, key, name)
        else:
            sheet.say(key, f"{_FLAG} {name}, off unless told")
    if sheet.config.dry_multiplier > 0 and not sheet.config.dry_sequence_breakers:
        reason = f"{_FLAG} dry_sequence_breakers: an empty list there is the same as none."
        sheet.leave("dry_sequence_breakers", reason)


def _xtc_and_adaptive(sheet: KoboldSheet, said: dict[str, object]) -> None:
    config = sheet.config
    if config.xtc_probability > 0:
        _say(sheet, said, "xtc_threshold", "xtc_threshold")
    else:
        sheet.say("xtc_threshold", f"{_FLAG} xtc_threshold, off unless told")
    if config.adaptive_target >= 0:
        # It takes 0.01 to 0.99.
        said["adaptive_decay"] = min(max(config.adaptive_decay, 0.01), 0.99)
    if config.adaptive_target >= 0 and said["adaptive_decay"] != config.adaptive_decay:
        sheet.bridge("adaptive_decay", "It takes 0.01 at the least.")
    else:
        sheet.say("adaptive_decay", f"{_FLAG} adaptive_decay")
    if config.top_n_sigma > 0:
        _say(sheet, said, "top_n_sigma", "nsigma")
    else:
        sheet.say("top_n_sigma", f"{_FLAG} nsigma, off unless told")


def _answers(sheet: KoboldSheet, said: dict[str, object]) -> None:
    config = sheet.config
    if config.max_new_tok > 0:
        _say(sheet, said, "max_new_tok", "max_length")
    else:
        sheet.leave(
            "max_new_tok",
            f"{ENGINE} always has a limit, 2,048 tokens unless a request or --defaultgenamt says "
            "another.",
        )
    if config.seed > _MOST_SEED:
        sheet.leave("seed", f"{ENGINE} takes seeds up to {_MOST_SEED:,}.")
    elif config.seed >= 0:
        _say(sheet, said, "seed", "sampler_seed")
    else:
        sheet.say("seed", f"{_FLAG} sampler_seed, a new one unless told")
    if config.ignore_eos:
        _say(sheet, said, "ignore_eos", "ban_eos_token")
    else:
        sheet.say("ignore_eos", f"{_FLAG} ban_eos_token, off unless told")
    _biases(sheet, said)


def _biases(sheet: KoboldSheet, said: dict[str, object]) -> None:
    """``15043+1`` and ``2-inf`` as an object; beyond 100 it takes 100."""
    biases = dict(map(_bias, sheet.config.logit_bias))
    if biases:
        said["logit_bias"] = {t: max(-_MOST_BIAS, min(_MOST_BIAS, b)) for t, b in biases.items()}
    if any(abs(bias) > _MOST_BIAS for bias in biases.values()):
        sheet.bridge("logit_bias", f"{_FLAG} logit_bias: at most {_MOST_BIAS:g} either way.")
    else:
        sheet.say("logit_bias", f"{_FLAG} logit_bias")


def _bias(item: str) -> tuple[str, float]:
    sign = "+" if "+" in item else "-"
    token, _, amount = item.partition(sign)
    return token, float(f"{sign}{amount}")


def _forms(sheet: KoboldSheet, said: dict[str, object]) -> None:
    config = sheet.config
    if config.grammar:
        _say(sheet, said, "grammar", "grammar")
        if config.json_schema:
            sheet.leave("json_schema", "An answer follows one form, and the line says the grammar.")
        else:
            sheet.say("json_schema", f"{_FLAG} grammar, none unless told")
        return
    sheet.say("grammar", f"{_FLAG} grammar, none unless told")
    if config.json_schema:
        said["grammar"] = grammar_of(config.json_schema)
        how = f"{_FLAG} grammar: the schema as the grammar that it becomes here."
        sheet.bridge("json_schema", how)
    else:
        sheet.say("json_schema", f"{_FLAG} grammar, none unless told")
