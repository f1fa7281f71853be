"""Why a load does not come to its end, in sentences.

Knows what can be said of a failure; must not know how a load goes.
"""

from __future__ import annotations

from pathlib import Path

from engine_bridge.child.draft_model import as_draft_problem
from engine_bridge.child.llama import LlamaError
from engine_bridge.memory_fault import MemoryFault
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem


class CannotLoadError(Exception):
    """A load that does not come to its end.

    Attributes:
        problem: What is wrong, why and what to do.
        is_cancelled: Whether the user wanted it so.
        fault: The allocation that failed, None where memory was not the reason.
    """

    def __init__(
        self, problem: Problem, *, is_cancelled: bool = False, fault: MemoryFault | None = None
    ) -> None:
        """Give up for ``problem``."""
        super().__init__(problem.message)
        self.problem = problem
        self.is_cancelled = is_cancelled
        self.fault = fault


def of_the_draft(error: CannotLoadError, config: EngineConfig) -> CannotLoadError:
    """The same failure, said of the draft model that ``config`` names."""
    problem = as_draft_problem(error.problem, config)
    return CannotLoadError(problem, is_cancelled=error.is_cancelled, fault=error.fault)


def refused_model(facts: ModelFacts, error: LlamaError) -> Problem:
    """Why llama.cpp does not load a model whose header reads well."""
    name, said = Path(facts.path).name, str(error).rstrip(".")
    if "unknown model architecture" in said:
        text = (
            f"This build of llama.cpp does not know the architecture {facts.architecture!r} of "
            f"{name}. Choose another model, or update TuneDeck's llama-cpp-python."
        )
    else:
        text = (
            f"llama.cpp cannot load {name}: {said}. Download the file again, or choose another "
            "model."
        )
    return Problem(("model_path",), text)


def without_vocabulary(facts: ModelFacts) -> Problem:
    """Why weights alone are no model to talk to."""
    return Problem(
        ("model_path",),
        f"{Path(facts.path).name} holds no vocabulary, so text cannot be made into its tokens. It "
        "is part of another model, or was converted without its tokenizer: choose another file.",
    )


def cancelled() -> CannotLoadError:
    """What a load ends with that the user gave up."""
    return CannotLoadError(Problem(("model_path",), "The load was cancelled."), is_cancelled=True)


def own_fault(error: Exception) -> Problem:
    """A mistake of ours."""
    return Problem(
        ("model_path",),
        f"The load failed by a fault of TuneDeck ({type(error).__name__}: {error}). The engine's "
        "output has the details; please report them.",
    )
