"""The rows of the rarer samplers, in llama.cpp's order; ``table`` takes them in."""

from __future__ import annotations

import re

from engine_bridge.settings import gbnf, json_schema
from engine_bridge.settings.domain import (
    Domain,
    DomainError,
    FlagDomain,
    FloatDomain,
    IntDomain,
    Value,
)
from engine_bridge.settings.items_domain import ItemsDomain
from engine_bridge.settings.row import Applies, Group, Setting
from engine_bridge.settings.text_domain import TextDomain, WordsDomain
from engine_bridge.typed_text import quoted

# Longer ones are for files; llama.cpp parses each with a recursion.
_LONGEST_TEXT = 65_536
# llama.cpp cuts longer breakers (MAX_CHAR_LEN in src/llama-sampler.cpp), counted in bytes.
_BREAKERS = WordsDomain(
    r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]{1,40}", "a text of 1 to 40 characters"
)
_BIAS = re.compile(r"\d{1,7}[+-](inf|\d{1,3}(\.\d{1,6})?)")


def _checked_bias(text: str) -> str:
    if _BIAS.fullmatch(text) is None:
        raise DomainError(
            f"{quoted(text)} is no token's number and its bias, as 15043+1 or 15043-inf are."
        )
    return text


def _row(
    key: str,
    label: str,
    domain: Domain | ItemsDomain | TextDomain | WordsDomain,
    default: Value,
    about: str,
) -> Setting:
    unit = "tok" if key.endswith("_tok") else ""
    return Setting(
        key, label, domain, default, Applies.LIVE, False, Group.MORE_SAMPLING, about, unit
    )


MORE_SAMPLING: tuple[Setting, ...] = (
    _row(
        "dry_multiplier",
        "DRY strength",
        FloatDomain(0.0, 5.0, 0.1),
        0.0,
        "Penalty on going on with a passage that was written before. Unlike a repeat penalty it "
        "leaves single words alone; 0.8 is usual, 0 switches it off.",
    ),
    _row(
        "dry_base",
        "DRY growth",
        FloatDomain(1.0, 4.0, 0.05),
        1.75,
        "How fast DRY's penalty grows. Each further token of the repeated passage multiplies it by "
        "this.",
    ),
    _row(
        "dry_allowed_tok",
        "DRY allowance",
        IntDomain(0, 65_536, (0, 1, 2, 3, 4, 6, 8, 12, 16, 32)),
        2,
        "Tokens that may be repeated before DRY begins to punish.",
    ),
    _row(
        "dry_last_n_tok",
        "DRY window",
        IntDomain(0, 65_536, (0, 16, 32, 64, 128, 256, 1024, 4096)),
        64,
        "Latest tokens in which DRY looks for a repeated passage. 0 switches DRY off.",
    ),
    _row(
        "dry_sequence_breakers",
        "DRY breakers",
        _BREAKERS,
        ("\n", ":", '"', "*"),
        "Texts at which a repeated passage ends for DRY. \\n is a line feed, \\s a space; none "
        "lets passages run through everything.",
    ),
    _row(
        "top_n_sigma",
        "Top-n-sigma",
        FloatDomain(-1.0, 5.0, 0.1),
        -1.0,
        "Draw among tokens with a score near the best one. Near is within n standard deviations "
        "of all scores: 1 is usual, 0 and less switch it off.",
    ),
    _row(
        "typical_p",
        "Typical-p",
        FloatDomain(0.0, 1.0, 0.01),
        1.0,
        "Draw among tokens that surprise as is usual here. Those nearest to the expected surprise "
        "are kept until their probabilities reach this sum; 1 switches it off.",
    ),
    _row(
        "xtc_probability",
        "XTC probability",
        FloatDomain(0.0, 1.0, 0.05),
        0.0,
        "How often the likeliest tokens are left out. The text then takes a less expected course; "
        "0.5 is usual for stories, 0 switches it off.",
    ),
    _row(
        "xtc_threshold",
        "XTC threshold",
        FloatDomain(0.0, 1.0, 0.01),
        0.1,
        "How likely tokens must be for XTC to leave them out. It keeps the least likely of them; "
        "above 0.5 there is never more than one, and it does nothing.",
    ),
    _row(
        "dynatemp_range",
        "Temperature range",
        FloatDomain(0.0, 2.0, 0.05),
        0.0,
        "Lets the temperature move up and down by this much. It is low where the model is sure "
        "and high where it is not; 0 keeps it fixed.",
    ),
    _row(
        "dynatemp_exponent",
        "Temperature curve",
        FloatDomain(0.1, 5.0, 0.1),
        1.0,
        "How uncertainty moves the temperature in its range. 1 is a straight line; more keeps it "
        "low for longer.",
    ),
    _row(
        "adaptive_target",
        "Adaptive-p target",
        FloatDomain(-1.0, 1.0, 0.05),
        -1.0,
        "Draw tokens about this likely. It makes up for likelier and rarer ones drawn before, and "
        "takes the place of the usual draw; below 0 it is off.",
    ),
    _row(
        "adaptive_decay",
        "Adaptive-p memory",
        FloatDomain(0.0, 0.99, 0.01),
        0.9,
        "How long adaptive-p remembers what was drawn. It is about 1 / (1 − this) tokens.",
    ),
    _row(
        "mirostat",
        "Mirostat",
        IntDomain(0, 2, (0, 1, 2)),
        0,
        "Steers how surprising the text is. It takes the place of all samplers but the "
        "temperature; 0 is off, 1 and 2 are its two versions.",
    ),
    _row(
        "mirostat_lr",
        "Mirostat rate",
        FloatDomain(0.0, 1.0, 0.01),
        0.1,
        "How fast Mirostat corrects itself (eta).",
    ),
    _row(
        "mirostat_ent",
        "Mirostat surprise",
        FloatDomain(0.0, 20.0, 0.1),
        5.0,
        "Surprise that Mirostat aims at, in bits a token (tau). Less makes a more predictable "
        "text.",
    ),
    _row(
        "logit_bias",
        "Token bias",
        ItemsDomain(
            "a token's number and its bias", _checked_bias, ("15043+1", "29871-2.5", "2-inf")
        ),
        (),
        "Added to the scores of single tokens at first. 15043+1 makes token 15043 likelier, "
        "15043-inf forbids it.",
    ),
    _row(
        "ignore_eos",
        "Ignore the end",
        FlagDomain(),
        False,
        "Never draw the token that ends an answer. It goes on until its limit, as measuring wants "
        "it.",
    ),
    _row(
        "grammar",
        "Grammar",
        TextDomain(
            _LONGEST_TEXT, "a grammar in GBNF", 'root ::= ("yes" | "no") "."', gbnf.fault_in
        ),
        "",
        "Form that answers take, in llama.cpp's notation (GBNF). They begin at the rule root; a "
        "running answer keeps the grammar it began with.",
    ),
    _row(
        "json_schema",
        "JSON schema",
        TextDomain(
            _LONGEST_TEXT,
            "a JSON schema",
            '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}',
            json_schema.fault_in,
        ),
        "",
        "Answers are JSON that fits this schema; {} is any object. A running answer keeps the one "
        "it began with.",
    ),
)
