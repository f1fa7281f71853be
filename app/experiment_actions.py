"""Actions on experiments: show them, set one up, cancel the one under way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.actions import Actions
from app.experiments_wiring import KINDS
from widgets.experiments.kind_words import BY_KIND

if TYPE_CHECKING:
    from app.window import Window

EXPERIMENTS = "Experiments"
# After Ctrl+J, with Shift: letters that other parts of the window have without it.
_LETTERS = {
    "bench": "B",
    "sweep": "S",
    "compare": "C",
    "users": "N",
    "quality": "Q",
    "tune": "T",
    "probe": "P",
}
_WORDS = {
    "bench": "measure speed benchmark",
    "sweep": "grid combinations values best",
    "compare": "a b test difference faster",
    "users": "load slo capacity simulate concurrency",
    "quality": "kv cache kld perplexity quantisation",
    "probe": "server openai api llama-server ollama vllm lm studio",
    "tune": "optimise autotune best settings",
}


def add_experiment_actions(actions: Actions, window: Window) -> None:
    """Add what is done with the experiments of ``window``."""
    experiments = window.experiments
    actions.add(
        "experiments.show", "Experiments", "Ctrl+J, Y", partial(window.go_to, "experiments"),
        EXPERIMENTS, words="history results measure bench sweep compare users tune quality",
    )  # fmt: skip
    for kind in KINDS:
        actions.add(
            f"experiments.{kind}", f"New experiment: {BY_KIND[kind].name}…",
            f"Ctrl+J, Shift+{_LETTERS[kind]}", partial(experiments.set_up, kind), EXPERIMENTS,
            words=f"{_WORDS[kind]} {BY_KIND[kind].question}",
        )  # fmt: skip
    actions.add(
        "experiments.cancel", "Cancel the experiment", "Ctrl+J, Shift+X", experiments.cancel,
        EXPERIMENTS, why_not=experiments.why_no_cancel, words="stop end abort",
    )  # fmt: skip
