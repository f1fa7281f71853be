"""Where the layers of a model go when nobody has said it: all on the boards, or as many as fit.

The order is llama.cpp's (``common/fit.cpp``): everything on the boards; of a mixture of experts the
experts of some layers in host memory before any whole layer; else fewer layers. Every answer is a
dry run's, the draft model with its context included. Knows rooms and shapes; how a dry run is made
is ``planner``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from engine_bridge.child.memory_shape import HOST, MemoryShape
from engine_bridge.child.room import Room, gib_text
from engine_bridge.memory_plan import EffectiveConfig
from engine_bridge.model_facts import ModelFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value

# What a configuration would occupy; raises what the planner's dry runs raise.
TryOut: TypeAlias = Callable[[EngineConfig], MemoryShape]
# Guesses on a straight line before the range is halved instead.
_STRAIGHT_GUESSES = 3
# Steps of the shares of several boards: free memory flickers, a placement must not.
_SHARE_BYTES = 256 * 2**20
_DRAFT_KEY = "draft_n_gpu_layers"


@dataclass(frozen=True)
class Placed:
    """What became of ``auto``.

    Attributes:
        values: The settings chosen; empty where there was nothing to choose.
        sentence: What was chosen and why, for the user; empty where there was nothing to choose.
    """

    values: dict[str, Value] = field(default_factory=dict)
    sentence: str = ""

    def applied_to(self, config: EngineConfig) -> EngineConfig:
        """``config`` with what was chosen."""
        return config.with_values(dict(self.values)) if self.values else config

    def with_more(self, more: Placed) -> Placed:
        """This, and what was chosen besides."""
        sentence = " ".join(filter(None, (self.sentence, more.sentence)))
        return Placed(self.values | more.values, sentence)


def told_of(effective: EffectiveConfig, placed: Placed) -> EffectiveConfig:
    """``effective`` with what became of ``auto``."""
    return msgspec.structs.replace(effective, placed=dict(placed.values), placement=placed.sentence)


def placed_in(effective: EffectiveConfig) -> Placed:
    """What became of ``auto`` there."""
    return Placed(dict(effective.placed), effective.placement)


def kept_placement(effective: EffectiveConfig, config: EngineConfig) -> Placed:
    """What was chosen for the weights that are loaded, as far as it says something of ``config``.

    A draft model that is to come is not placed yet.
    """
    values = dict(effective.placed)
    if not _leaves_draft_open(config):
        values.pop(_DRAFT_KEY, None)
    return Placed(values, effective.placement)


def leaves_placement_open(config: EngineConfig) -> bool:
    """Whether something of where layers lie is left to the search."""
    return config.n_gpu_layers == "auto" or _leaves_draft_open(config)


def place(config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut) -> Placed:
    """Choose what ``config`` leaves to ``auto``, so that every board keeps its margin.

    A handful of dry models: everything on the boards, nothing, and guesses in between.

    Args:
        config: What is to run, its rules checked.
        facts: The model.
        room: Free memory of every device; without a board there is nothing to choose.
        try_out: Makes dry runs.
    """
    if not room.boards or not leaves_placement_open(config):
        return Placed()
    search = _Search(config, facts, room, try_out)
    return search.over_layers() if config.n_gpu_layers == "auto" else search.over_the_draft()


class _Search:
    """The search for one configuration; what was tried is known."""

    def __init__(
        self, config: EngineConfig, facts: ModelFacts, room: Room, try_out: TryOut
    ) -> None:
        self._config = config
        self._layers = facts.layers
        self._most = facts.gpu_layers_max
        self._room = room
        self._try_out = try_out
        self._has_open_draft = _leaves_draft_open(config)
        # A person who says where tensors go has the say in it.
        has_own_word = config.n_cpu_moe or config.cpu_moe or config.override_tensor
        self._can_move_experts = facts.experts > 0 and not has_own_word
        self._split = _split_of(config, room)
        self._tried: dict[tuple[tuple[str, Value], ...], MemoryShape] = {}

    def over_layers(self) -> Placed:
        whole = self._values(self._most)
        if not self._boards(whole):
            return Placed()  # the devices chosen hold no layer
        if self._excess(whole) <= 0:
            left = gib_text(self._room.left_bytes(self._shape(whole)))
            return Placed(
                whole, f"All {self._most} layers on {self._boards(whole)}: {left} stay free."
            )
        placed = self._experts_on_cpu() or self._fewer_layers()
        if placed is None and self._has_open_draft:
            placed = self._fewer_layers(draft_layers=0)
        if placed is not None:
            return placed
        why = self._why_not(self._values(1, 0), "even one")
        return Placed(self._values(0, 0), f"No layer on {self._boards(whole)}: {why}.")

    def over_the_draft(self) -> Placed:
        """The layers of the target are given; the draft model goes along or stays off."""
        along: dict[str, Value] = {_DRAFT_KEY: "all"}
        if self._excess(along) <= 0:
            return Placed(along)
        why = self._why_not(along, "on a board it")
        return Placed({_DRAFT_KEY: 0}, f"The draft model runs on the CPU: {why}.")

    def _experts_on_cpu(self) -> Placed | None:
        """All layers on the boards but the experts of the first ones, as few as do."""
        if not self._can_move_experts:
            return None

        def values(on_boards: int) -> dict[str, Value]:
            return self._values(self._most, n_cpu_moe=self._layers - on_boards)

        on_boards = most_that_fit(self._layers, lambda count: self._excess(values(count)))
        if on_boards < 0:
            return None
        chosen, count = values(on_boards), self._layers - on_boards
        why = self._why_not(values(on_boards + 1), f"of {count - 1}" if count > 1 else "of none")
        return Placed(
            chosen,
            f"All {self._most} layers on {self._boards(chosen)}, the experts of the first {count} "
            f"in system memory: {why}.",
        )

    def _fewer_layers(self, draft_layers: Value = "all") -> Placed | None:
        """As many layers as fit, at least one; None where none does."""

        def values(layers: int) -> dict[str, Value]:
            chosen = self._values(layers, draft_layers)
            # One pattern for all layers, where a pattern for each would take a second.
            return chosen | ({"cpu_moe": True} if self._can_move_experts else {})

        layers = most_that_fit(self._most, lambda layers: self._excess(values(layers)))
        if layers < 1:
            return None
        sentence = f"{layers} of {self._most} layers on {self._boards(values(layers))}"
        if layers < self._most:
            sentence += f": {self._why_not(values(layers + 1), str(layers + 1))}"
        sentence += "."
        if self._can_move_experts:
            sentence += " All experts are in system memory."
        if draft_layers == 0:
            sentence += " The draft model runs on the CPU."
        return Placed(values(layers), sentence)

    def _values(
        self, layers: int, draft_layers: Value = "all", n_cpu_moe: int = 0
    ) -> dict[str, Value]:
        values: dict[str, Value] = {"n_gpu_layers": "all" if layers == self._most else layers}
        if self._split:
            values["tensor_split"] = self._split
        if n_cpu_moe:
            values["n_cpu_moe"] = n_cpu_moe
        if self._has_open_draft:
            values[_DRAFT_KEY] = draft_layers
        return values

    def _shape(self, values: dict[str, Value]) -> MemoryShape:
        key = tuple(values.items())
        if key not in self._tried:
            self._tried[key] = self._try_out(self._config.with_values(dict(values)))
        return self._tried[key]

    def _excess(self, values: dict[str, Value]) -> int:
        return self._room.excess_bytes(self._shape(values))

    def _why_not(self, values: dict[str, Value], subject: str) -> str:
        """Why ``values`` do not do: ``25 would leave 0.3 GiB of the 1.0 GiB margin``."""
        excess, margin = self._excess(values), self._room.fit_margin_bytes
        if excess > margin:
            return f"{subject} would need {gib_text(excess - margin)} more than is free"
        rest, whole = gib_text(margin - excess), gib_text(margin)
        if rest == whole:
            return f"{subject} would miss the {whole} margin by {gib_text(excess)}"
        return f"{subject} would leave {rest} of the {whole} margin"

    def _boards(self, values: dict[str, Value]) -> str:
        """The boards that hold layers, in words."""
        names = [d.name for d in self._shape(values).devices if d.name != HOST and d.weights]
        return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def most_that_fit(most: int, excess: Callable[[int], int]) -> int:
    """The largest number up to ``most`` that fits, -1 if not even 0 does.

    A straight line through the ends guesses, as bytes grow nearly evenly with layers: four tries
    where they do, never more than the guesses and a bisection.

    Args:
        most: The largest number there is.
        excess: Bytes by which a number does not fit, 0 or less where it does; grows with it.
    """
    low, high = 0, most
    above = excess(high)
    if above <= 0:
        return most
    below = excess(low)
    if below > 0:
        return -1
    guesses = 0
    while high - low > 1:
        step = (high - low) // 2
        if guesses < _STRAIGHT_GUESSES:
            step = (high - low) * -below // (above - below)
        number = low + min(max(step, 1), high - low - 1)
        guesses += 1
        found = excess(number)
        if found <= 0:
            low, below = number, found
        else:
            high, above = number, found
    return low


def _split_of(config: EngineConfig, room: Room) -> tuple[str, ...]:
    """Shares of several boards by what each has to give; empty where they are not to be chosen.

    llama.cpp would go by what is free at the moment it loads, which another program or the model
    that is replaced may hold for a while: then the plan would not come true, nor an export.
    """
    is_given = bool(config.tensor_split) or config.split_mode not in ("layer", "row")
    known = {board.name: board for board in room.boards if board.total > 0}
    # llama.cpp leaves integrated boards alone where there is another one.
    whole = [board.name for board in room.boards if board.kind == "gpu"]
    names = config.devices or tuple(whole or (board.name for board in room.boards))
    if is_given or len(names) < 2 or not set(names) <= known.keys():
        return ()
    given = [max(0, known[name].free - room.fit_margin_bytes) for name in names]
    shares = [round(size / _SHARE_BYTES) for size in given]
    return tuple(str(share) for share in shares) if any(shares) else ()


def _leaves_draft_open(config: EngineConfig) -> bool:
    return config.draft is not None and config.draft_n_gpu_layers == "auto"
