"""Whether memory suffices, and how much less would.

Pure arithmetic on bytes; knows neither models nor how bytes were found.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine_bridge.child.memory_shape import HOST, MemoryShape
from engine_bridge.memory_plan import DeviceBytes, MemoryPlan
from engine_bridge.protocol import DeviceFacts
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem, Severity

# Left free on every device for what no plan knows: the driver's own memory, other programs.
_MARGIN_SHARE = 0.05
_MARGIN_LEAST_BYTES = 256 * 2**20
_MARGIN_MOST_BYTES = 1024 * 2**20
_MIB, _GIB = 2**20, 2**30
# Of the margin: what other programs may take between an offer and the click that accepts it.
_SLACK_SHARE = 0.25
# llama-server's --fit-target.
FIT_MARGIN_MIB = 1024


class Room:
    """Free memory of every device once the running engine has given back its own.

    Attributes:
        memory: The devices; ``free`` counts what would be given back.
        fit_margin_bytes: What ``auto`` leaves free on every board.
    """

    def __init__(
        self,
        memory: tuple[DeviceFacts, ...],
        running: MemoryPlan | None,
        fit_margin_mib: int = FIT_MARGIN_MIB,
    ) -> None:
        """Add what ``running`` would give back to ``memory``."""
        self.memory = tuple(
            msgspec.structs.replace(
                device, free=min(device.total, device.free + _given_back(device.name, running))
            )
            for device in memory
        )
        self.fit_margin_bytes = fit_margin_mib * _MIB

    @property
    def boards(self) -> tuple[DeviceFacts, ...]:
        """The devices that are not host memory."""
        return tuple(device for device in self.memory if device.name != HOST)

    def limited_to(self, name: str, free: int) -> Room:
        """The same room where no more than ``free`` bytes of one device can be had.

        Of a device of which so much less can be had than it says the margin is that of a small one.
        """
        limited = Room(self.memory, None, self.fit_margin_bytes // _MIB)
        limited.memory = tuple(
            msgspec.structs.replace(
                device, free=min(device.free, free), total=min(device.total, free)
            )
            if device.name == name
            else device
            for device in self.memory
        )
        return limited

    def with_slack(self) -> Room:
        """The same room, a little smaller: what fits in there still fits a minute later."""
        room = Room(self.memory, None, self.fit_margin_bytes // _MIB)
        room.memory = tuple(
            msgspec.structs.replace(
                device, free=max(0, device.free - int(_SLACK_SHARE * margin_bytes(device.total)))
            )
            for device in self.memory
        )
        return room

    def missing_bytes(self, need: DeviceBytes) -> int:
        """How much more the device would have to have; 0 or less if it fits."""
        device = self._known(need.name)
        if device is None:
            return 0
        margin = margin_bytes(device.total)
        if device.name != HOST:
            margin = min(margin, self.fit_margin_bytes)
        return need.needed + margin - device.free

    def is_any_board_short(self, shape: MemoryShape) -> bool:
        """Whether a board in use has not what is needed; host memory aside."""
        return any(
            self.missing_bytes(need) > 0
            for need in shape.devices
            if need.name != HOST and need.needed
        )

    def excess_bytes(self, shape: MemoryShape) -> int:
        """By how much the worst board would miss the margin that ``auto`` leaves; 0 or less fits.

        Boards that do not say what they have are taken to have enough.
        """
        return max((-left for left in self._left_beside_margin(shape)), default=0)

    def left_bytes(self, shape: MemoryShape) -> int:
        """What stays free on the fullest board, the margin included."""
        return min(self._left_beside_margin(shape), default=0) + self.fit_margin_bytes

    def _left_beside_margin(self, shape: MemoryShape) -> list[int]:
        return [
            device.free - need.needed - self.fit_margin_bytes
            for need in shape.devices
            if need.name != HOST and need.needed and (device := self._known(need.name)) is not None
        ]

    def _known(self, name: str) -> DeviceFacts | None:
        """The device if it says what it has."""
        return next((d for d in self.memory if d.name == name and d.total > 0), None)

    def tokens_that_fit(self, tried: Sequence[tuple[int, MemoryShape]]) -> int:
        """The context at which every device would have room, taking its need as a straight line.

        Args:
            tried: Contexts and what they occupy; the last two draw the line. Of a single one
                everything but the weights is taken to grow with it, which promises too much where
                windows and states do not; trying the promise gives the second point.
        """
        tokens, shape = tried[-1]
        fits = tokens
        for index, need in enumerate(shape.devices):
            if self.missing_bytes(need) <= 0:
                continue
            growing = need.kv + need.compute + need.draft
            fixed, per_token = float(need.weights), growing / tokens
            if len(tried) > 1 and tried[-2][0] != tokens:
                before, other = tried[-2][0], tried[-2][1].devices[index]
                per_token = (other.needed - need.needed) / (before - tokens)
                fixed = need.needed - per_token * tokens
            if per_token <= 0:
                return 0
            room = need.needed - self.missing_bytes(need) - fixed
            fits = min(fits, int(room / per_token))
        return max(0, fits)

    def layers_that_fit(self, shape: MemoryShape, layers: int) -> int | None:
        """Layers the boards could hold, all taken as equal; None if no board is short."""
        boards = [need for need in shape.devices if need.name != HOST]
        missing = sum(max(0, self.missing_bytes(need)) for need in boards)
        held = sum(need.weights + need.kv for need in boards)
        if missing <= 0 or held <= 0:
            return None
        return max(0, int((layers + 1) * (1 - missing / held)))


def margin_bytes(total: int) -> int:
    """What to leave free on a device of ``total`` bytes: 5 %, 256 MiB at least, 1 GiB at most."""
    return int(min(max(total * _MARGIN_SHARE, _MARGIN_LEAST_BYTES), _MARGIN_MOST_BYTES))


def problem_of_room(shape: MemoryShape, room: Room, config: EngineConfig) -> Problem | None:
    """The sentence for the device that is shortest of memory, None if all have room."""
    worst = max(shape.devices, key=room.missing_bytes)
    missing = room.missing_bytes(worst)
    if missing <= 0:
        return None
    free = next(device.free for device in room.memory if device.name == worst.name)
    where = "System memory" if worst.name == HOST else worst.name
    need = f"{gib_text(worst.needed)} are needed ({_parts_of(worst)}) and {gib_text(free)} are free"
    keys = keys_to_move(worst.name, config)
    mapped = shape.bytes.weights_mapped + shape.bytes.draft_mapped
    if worst.name == HOST and missing <= mapped:
        return Problem(
            keys,
            f"{where} is short: {need}. The model would run, but its weights would be read from "
            "the drive again and again, which is very slow. Shorten the context, use a smaller "
            "quantisation or close other programs.",
            severity=Severity.WARNING,
        )
    return Problem(
        keys,
        f"{where} does not suffice: {need}, {_missing_words(missing, worst.needed - free)}. "
        "Shorten the context, use fewer slots or a q8_0 cache"
        + _fewer_drafts(worst, config)
        + (", or put fewer layers on it." if worst.name != HOST else ", or a smaller model."),
    )


def _fewer_drafts(worst: DeviceBytes, config: EngineConfig) -> str:
    if not worst.draft:
        return ""
    return ", no drafts" if config.draft is None else ", a smaller draft model or none"


def _missing_words(missing: int, excess: int) -> str:
    """How much is not there, and apart from it what is left free: as the memory bar counts."""
    if excess <= 0:
        return f"which leaves {gib_text(missing)} too little of what is kept free for the system"
    margin = gib_text(missing - excess)
    return f"so {gib_text(excess)} are missing, beside {margin} to be kept free for the system"


def _parts_of(need: DeviceBytes) -> str:
    """The parts of a need, the largest first: ``KV cache 3.1 GiB, weights 2.0 GiB``."""
    parts = {
        "weights": need.weights,
        "KV cache": need.kv,
        "compute buffers": need.compute,
        "drafts": need.draft,
    }
    told = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {gib_text(size)}" for name, size in told if size >= _GIB / 20)


def keys_to_move(device: str, config: EngineConfig) -> tuple[str, ...]:
    """Settings that make a configuration smaller on ``device``."""
    pool = "ctx_total_tok" if config.kv_unified else "ctx_per_slot_tok"
    keys = (pool, "slots", "cache_type_k", "cache_type_v")
    return keys if device == HOST else (*keys, "n_gpu_layers")


def _given_back(name: str, running: MemoryPlan | None) -> int:
    """Bytes of ``name`` that the running engine frees; mapped pages count as free already."""
    if running is None:
        return 0
    own = sum(device.needed for device in running.devices if device.name == name)
    if name != HOST:
        return own
    mapped = running.bytes.weights_mapped + running.bytes.draft_mapped
    return max(0, own + running.host_kept - mapped)


def gib_text(size: int) -> str:
    """``4.2 GiB``; ``52 MiB`` where that would be next to nothing."""
    if size < _GIB // 10:
        return f"{size / _MIB:.0f} MiB"
    return f"{size / _GIB:.1f} GiB"
