"""The rows of the settings table that choose the next token; ``table`` takes them in."""

from __future__ import annotations

from engine_bridge.settings.domain import FloatDomain, IntDomain
from engine_bridge.settings.row import MAX_CONTEXT_TOK, Applies, Group, Setting

SAMPLING: tuple[Setting, ...] = (
    Setting(
        "temperature",
        "Temperature",
        FloatDomain(0.0, 5.0, 0.05),
        0.8,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "How freely a token is drawn. 0 always takes the most likely one.",
    ),
    Setting(
        "top_k",
        "Top-k",
        IntDomain(0, 1_000_000, (0, 1, 5, 10, 20, 40, 64, 100, 200)),
        40,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Draw among the k most likely tokens; 0 considers all.",
    ),
    Setting(
        "top_p",
        "Top-p",
        FloatDomain(0.0, 1.0, 0.01),
        0.95,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Draw among the likeliest tokens that reach this sum. They are the fewest whose "
        "probabilities add up to it; 1 switches it off.",
    ),
    Setting(
        "min_p",
        "Min-p",
        FloatDomain(0.0, 1.0, 0.01),
        0.05,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Drop tokens below this share of the likeliest one. 0 switches it off.",
    ),
    Setting(
        "repeat_penalty",
        "Repeat penalty",
        FloatDomain(0.1, 3.0, 0.01),
        1.0,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Divides the score of tokens that occurred lately. 1 switches it off.",
    ),
    Setting(
        "repeat_last_n_tok",
        "Penalty window",
        IntDomain(0, 65_536, (0, 16, 32, 64, 128, 256, 1024)),
        64,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Latest tokens that the penalties look at. 0 switches them off.",
        "tok",
    ),
    Setting(
        "presence_penalty",
        "Presence penalty",
        FloatDomain(-2.0, 2.0, 0.05),
        0.0,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Subtracted once from each token that occurred lately. What is changed is the token's "
        "score before it is drawn; 0 switches it off.",
    ),
    Setting(
        "frequency_penalty",
        "Frequency penalty",
        FloatDomain(-2.0, 2.0, 0.05),
        0.0,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Subtracted each time that a token occurred lately. What is changed is the token's score "
        "before it is drawn; 0 switches it off.",
    ),
    Setting(
        "seed",
        "Seed",
        IntDomain(-1, 2**32 - 2, (-1, 0, 1, 2, 3, 42)),
        -1,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Start of the random numbers. −1 takes a new one for every answer.",
    ),
    Setting(
        "max_new_tok",
        "Longest answer",
        IntDomain(-1, MAX_CONTEXT_TOK, (-1, 0, 64, 128, 256, 512, 1024, 2048, 4096)),
        -1,
        Applies.LIVE,
        False,
        Group.SAMPLING,
        "Most tokens of one answer. −1 is no limit but the context; 0 only reads the prompt.",
        "tok",
    ),
)
