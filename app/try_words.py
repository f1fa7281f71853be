"""Whether there is memory for a server beside the desk's engine, and what both can be given. Pure.

Sentences alone; decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.experiments.lengths import Fixed
from app.experiments.planned import work_words
from app.experiments.presets import PRESETS
from app.experiments.workload import Material, Workload
from app.figures import bytes_text
from engine_bridge.memory_plan import MemoryPlan
from engine_bridge.metrics.snapshot import MemorySnapshot
from widgets.try_sheet import TryWork

NO_PROGRAM = "Neither llama-server nor llama is on this machine's PATH."
WAYS_TO_GET = "\n".join(
    (
        "To try the line, llama.cpp's own server is needed. Three ways to get it:",
        "1. Ready-made: the releases of ggml-org/llama.cpp on GitHub have archives for Windows, "
        "macOS and Linux. Unpack one, and choose the llama-server in it.",
        "2. A package manager: llama.cpp is the package's name in Homebrew, MacPorts and winget, "
        "llama-cpp in Nix.",
        "3. A build of your own: CMake in llama.cpp's source puts llama-server into build/bin.",
        "TuneDeck takes the program that was chosen here last, else llama-server of PATH, else "
        "llama, and looks again whenever this view is opened. It downloads and installs nothing.",
    )
)
"""What a person can do who has no such program; no address, since those change."""
SHORT = "short"
_HOST = "CPU"
_WORKER = "RPC"
# Short enough for a slow machine: it takes as long as a dozen answers of a chat.
_SHORT_WORK = Workload(
    name="try it",
    material=Material.PROSE,
    prompt_tok=Fixed(192),
    answer_tok=Fixed(48),
    requests=2,
)
_SHORTER_WORK = Workload(
    name="try it",
    material=Material.PROSE,
    prompt_tok=Fixed(64),
    answer_tok=Fixed(32),
    requests=2,
)
_UNKNOWN = "How much memory the server takes is not known before a model is loaded."
_INSTEAD = (
    "One after the other needs less: TuneDeck's engine gives its memory back while the server "
    "runs, and your model is loaded again after that."
)


@dataclass(frozen=True)
class MemoryOffer:
    """What is said of memory before anything is started.

    Attributes:
        sentence: Whether both have room.
        is_short: Whether they have not, as far as is known.
    """

    sentence: str
    is_short: bool = False


def memory_offer(
    plan: MemoryPlan | None, machine: Sequence[MemorySnapshot], *, is_loaded: bool
) -> MemoryOffer:
    """Whether a server with these bytes has room beside the desk's engine.

    Args:
        plan: What the settings take; None where nobody knows.
        machine: This machine's memories as they are now, main memory first.
        is_loaded: Whether the desk's engine has the same file mapped, whose pages are shared.
    """
    if plan is None or plan.effective is None or not machine:
        return MemoryOffer(_UNKNOWN)
    host = sum(device.needed for device in plan.devices if device.name == _HOST)
    if is_loaded:
        host -= plan.bytes.weights_mapped + plan.bytes.draft_mapped
    boards = sum(
        device.needed
        for device in plan.devices
        if device.name != _HOST and not device.name.startswith(_WORKER)
    )
    gpus = [memory for memory in machine if memory.kind == "gpu"]
    needs = [("RAM", max(0, host), _free(machine[:1]))]
    if boards and gpus:
        needs.append(("GPU memory", boards, _free(gpus)))
    parts = [f"{bytes_text(needed)} of {name}" for name, needed, _ in needs]
    free = " and ".join(f"{bytes_text(room)} of {name}" for name, _, room in needs)
    sentence = f"Beside TuneDeck's engine the server takes about {' and '.join(parts)}"
    if all(needed <= room for _, needed, room in needs):
        return MemoryOffer(f"{sentence}; {free} are free.")
    return MemoryOffer(f"{sentence}, and only {free} are free. {_INSTEAD}", is_short=True)


def works_for(ctx_per_slot_tok: int) -> dict[str, Workload]:
    """What fits into a slot, by key; the short one first."""
    works: dict[str, Workload] = {}
    for work in (_SHORT_WORK, _SHORTER_WORK):
        if work.needed_ctx_tok() <= ctx_per_slot_tok:
            works[SHORT] = work
            break
    for key, preset in PRESETS.items():
        if preset.workload.needed_ctx_tok() <= ctx_per_slot_tok:
            works[key] = preset.workload
    return works


def work_choices(works: dict[str, Workload]) -> tuple[TryWork, ...]:
    """The same for a person to choose from."""
    made = []
    for key, work in works.items():
        each = f"Each run: {work_words(work)}."
        if key == SHORT:
            made.append(TryWork(key, "Short", f"A few short questions, one at a time. {each}"))
        else:
            made.append(TryWork(key, PRESETS[key].title, f"{PRESETS[key].about} {each}"))
    return tuple(made)


# --- Inside -------------------------------------------------------------------------------------


def _free(memories: Sequence[MemorySnapshot]) -> int:
    return sum(max(0, memory.total_bytes - memory.used_bytes) for memory in memories)
