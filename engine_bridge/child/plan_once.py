"""One plan in a process that may die of it.

``python -m engine_bridge.child.plan_once`` reads a configuration, or a ``Request``, as JSON from
its input and writes one JSON object: ``{"plan": …, "model": …}`` or ``{"error": "a sentence"}``;
where it was only to look, ``{"said": …}``. A file from anywhere can make llama.cpp abort or eat
memory; here that harms nobody.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import BinaryIO

import msgspec

from engine_bridge.draft_kind import GUESSES
from engine_bridge.gguf_file import GgufError, read_model_facts
from engine_bridge.memory_fault import MemoryFault
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.placement_rules import without_placement

if sys.platform != "win32":  # which has no such limits; whoever asks watches the time
    import resource

# Beyond the first the process is told so by a signal that means nothing else; see own_failure.
_CPU_S, _MOST_CPU_S = 60, 65
# The largest pool that rules allow takes 0.9 GB, its output rows 0.3 GB; libraries the rest.
_MEMORY_BYTES = 6 * 2**30
# A file of this size is read in a second, and what was read is not read again by the load itself:
# up to it, a step is computed as well, on the processor alone and with next to no cache.
_RUN_BYTES = 2**30
_RUN: dict[str, object] = {
    "n_gpu_layers": 0, "load_mode": "mmap", "repack": False, "threads": 1, "threads_batch": 1,
    "slots": 1, "ctx_per_slot_tok": 256, "ctx_total_tok": "auto", "batch_tok": 32,
    "ubatch_tok": 32, "spec_types": (),
}  # fmt: skip


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration, and what a running engine would give back for it.

    Attributes:
        config: What to plan.
        running: What the engine occupies now.
        only_look: Plan nothing; read the file as a load does, vocabulary included.
        keeps_model: The weights that run stay where they are, as long as that fits.
        failed: The allocation that really failed with ``config``.
        with_ways: Tell of all changes with which it would fit.
    """

    config: EngineConfig
    running: MemoryPlan | None = None
    only_look: bool = False
    keeps_model: bool = False
    failed: MemoryFault | None = None
    with_ways: bool = False


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan and the model it is for."""

    plan: MemoryPlan
    model: ModelFacts


class Refusal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why there is no plan."""

    error: str


class Looked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file did no harm; ``said`` is why llama.cpp would refuse it, or the empty string."""

    said: str


def main() -> int:
    """Answer the configuration on standard input; 0 with a plan or a look, 1 with a refusal."""
    answers = _private_output()
    answer = answer_to(sys.stdin.buffer.read())
    answers.write(msgspec.json.encode(answer))
    answers.flush()
    return 1 if isinstance(answer, Refusal) else 0


def read_answer(answer: bytes) -> Answer | Refusal:
    """Read what this process wrote.

    Raises:
        msgspec.DecodeError: If it ended before it had written all of it.
    """
    try:
        return msgspec.json.decode(answer, type=Answer)
    except msgspec.ValidationError:
        return msgspec.json.decode(answer, type=Refusal)


def read_look(answer: bytes) -> Looked | Refusal:
    """Read what this process wrote where it was only to look.

    Raises:
        msgspec.DecodeError: If it ended before it had written all of it.
    """
    try:
        return msgspec.json.decode(answer, type=Looked)
    except msgspec.ValidationError:
        return msgspec.json.decode(answer, type=Refusal)


def answer_to(request: bytes) -> Answer | Looked | Refusal:
    """Plan, or look at, an encoded configuration or ``Request``."""
    try:
        asked = _request_in(request)
        facts = read_model_facts(asked.config.model_path)
    except (msgspec.DecodeError, GgufError) as error:
        return Refusal(str(error))
    # Only now llama.cpp is loaded: a file that is no model never gets near it.
    planning = importlib.import_module("engine_bridge.child.planner")
    if asked.only_look:
        _limit(has_boards=len(planning.memory_now()) > 1)
        return _look(without_placement(asked.config), facts)
    # Workers are devices too; what is wrong with them the planner says.
    planning.placement_problem(asked.config, planning.GGML)
    memory = planning.memory_now()
    _limit(has_boards=len(memory) > 1)
    # Counted before this process was limited, as the engine will find it.
    planner = planning.Planner(memory=lambda: memory)
    try:
        plan = planner.plan(
            asked.config,
            asked.running,
            keeps_model=asked.keeps_model,
            failed=asked.failed,
            with_ways=asked.with_ways,
        )
        return Answer(plan, facts)
    except planning.PlanRefusedError as refused:
        return Refusal(refused.problem.message)
    finally:
        planner.close()


def _look(config: EngineConfig, facts: ModelFacts) -> Looked:
    llama = importlib.import_module("engine_bridge.child.llama")
    is_run = facts.file_bytes <= _RUN_BYTES
    if is_run:
        config = config.with_values(_RUN)
    if facts.draft_kind == GUESSES:
        config = config.with_values({"spec_types": (GUESSES,), "draft_model_path": ""})
    try:
        model = llama.Model.load(config.model_path, config, no_alloc=not is_run, quiet=True)
    except llama.LlamaError as error:
        return Looked(str(error))
    # A vocabulary without a token for the line feed only harms who reads a text with it.
    if model.has_vocabulary:  # without one the load refuses it in words
        model.tokenize("\na", add_special=True, parse_special=True)
    try:
        # Some headers harm only where the graph is built, some weights only where it is computed.
        if facts.draft_kind == GUESSES:
            nextn = importlib.import_module("engine_bridge.child.nextn")
            nextn.try_guesses(model, config.mtp, is_run=is_run)
        else:
            context = llama.Context.create(model, config, quiet=True)
            if is_run:
                context.warm_up()
            context.close()
    except llama.LlamaError as error:
        return Looked(str(error))
    finally:
        model.close()
    return Looked("")


def _request_in(request: bytes) -> Request:
    try:
        return msgspec.json.decode(request, type=Request)
    except msgspec.ValidationError:
        return Request(msgspec.json.decode(request, type=EngineConfig))


def _private_output() -> BinaryIO:
    """Keep standard output for the answer; C code that prints to it reaches standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _limit(*, has_boards: bool) -> None:
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _MOST_CPU_S))
    if has_boards:
        return  # GPU drivers reserve address space many times the memory they use
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    except (ValueError, OSError) as error:  # macOS refuses; whoever asks watches the time
        sys.stderr.write(f"Planning without a memory limit: {error}\n")


if __name__ == "__main__":
    sys.exit(main())
