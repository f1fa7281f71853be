"""Sampling values as the engines take them that call them as the Transformers library does.

Knows the bounds that those engines refuse values beyond; must not know a flag.
"""

from __future__ import annotations

import math

from app.export.sheet import Sheet


def sampling_defaults(sheet: Sheet, word: str, *, all_tokens: int) -> dict[str, float | int]:
    """What a request without values of its own is to get, by the names of Transformers.

    Args:
        sheet: Where the answers for the settings go.
        word: The flag that takes the values, for the answers.
        all_tokens: What the engine takes for top-k to consider every token.
    """
    config = sheet.config
    values: dict[str, float | int] = {
        "temperature": config.temperature,
        "top_k": config.top_k or all_tokens,
        "min_p": config.min_p,
    }
    sheet.say(("temperature", "min_p"), word)
    if config.top_k:
        sheet.say("top_k", word)
    else:
        sheet.bridge("top_k", f"{word}: {all_tokens} stands for every token, as 0 does here.")
    if config.top_p > 0:
        values["top_p"] = config.top_p
        sheet.say("top_p", word)
    else:
        values |= {"top_p": 1.0, "top_k": 1}
        sheet.bridge("top_p", f"{word}: a top_p of 0 is refused; top_k 1 takes the likeliest too.")
    return values


def repetition(
    sheet: Sheet, word: str, values: dict[str, float | int], *, most: float = math.inf
) -> None:
    """Adds the repetition penalty to ``values``, which is over the whole text there.

    Args:
        sheet: Where the answer for the setting goes.
        word: The flag that takes the values.
        values: The values so far.
        most: Largest penalty that is taken.
    """
    penalty = sheet.config.repeat_penalty
    said = min(penalty, most)
    values["repetition_penalty"] = said
    how = f"{word}: over the whole text, prompt and answer, not over the latest tokens alone."
    if said != penalty:
        how += f" {said:g} is the most it takes."
    if penalty == 1.0:
        sheet.say("repeat_penalty", word)
    else:
        sheet.bridge("repeat_penalty", how)


def answer_limit(sheet: Sheet, word: str, values: dict[str, float | int]) -> None:
    """Adds the longest answer to ``values``, where there is a limit that can be said."""
    most = sheet.config.max_new_tok
    if most > 0:
        values["max_new_tokens"] = most
        sheet.say("max_new_tok", word)
    elif most == 0:
        sheet.leave("max_new_tok", "An answer has at least one token there.")
    else:
        sheet.say("max_new_tok", "no limit but the context")
