"""Slots saved to files and restored from them, the disk's part on threads of their own.

Knows what a slot's file must fit to; its bytes are ``slot_file``'s. Only copies between the cache
and host memory are made on the loop's thread.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine_bridge.child.batcher import Batcher
from engine_bridge.child.engine import Engine
from engine_bridge.child.llama import LIB, Context
from engine_bridge.child.prompts import PromptSource
from engine_bridge.child.requests import Requests
from engine_bridge.child.sequence_state import state_bytes
from engine_bridge.child.slot import Slot, choose_slot
from engine_bridge.child.slot_file import (
    CacheMark,
    SlotContent,
    SlotFileError,
    model_mark,
    read_slot,
    write_slot,
)
from engine_bridge.child.state_outline import (
    WholeState,
    has_long_rope_factors,
    restreamed,
    streams_of,
)
from engine_bridge.hardware.memory_limit import host_memory
from engine_bridge.protocol import (
    Event,
    Refused,
    RestoreSlot,
    SaveSlot,
    SlotRestored,
    SlotSaved,
)
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.rules import Problem

_NO_MODEL = "No model is loaded, so there is no cache. Load the model first."
_NOTHING = (
    "The engine's cache holds nothing of this conversation: nothing was computed for it yet, or "
    "others needed the room. Send a message first."
)
_ALL_BUSY = "Every slot is answering. Load the cache once one of them is done."
_CHANGED = "The engine was changed while the file was read. Load it once more."
_NO_ROOM = (
    "The cache had no room for what the file holds: other conversations fill the shared pool. "
    "Try again when they are done."
)
_NO_MEMORY = "System memory has no room for a copy of this cache. Close other programs first."
# Of a cell the state holds its position and sequences as well.
_BYTES_ABOUT_A_CELL = 64
_SLACK_BYTES = 1 << 20


@dataclass(frozen=True)
class SlotRead:
    """What a thread hands back to the loop: a file's content, for the engine it was read for."""

    command: RestoreSlot
    at_ns: int
    source: PromptSource
    cache: CacheMark
    content: SlotContent


class SlotFiles:
    """Carries out ``SaveSlot`` and ``RestoreSlot``. All but its threads belongs to the loop's.

    Args:
        requests: Who holds the engine.
        put: Brings a file's content to the loop; called on a thread.
        emit: Takes events; called on threads.
        clock: Time in nanoseconds.
    """

    def __init__(
        self,
        requests: Requests,
        put: Callable[[Any], None],
        emit: Callable[[Event], None],
        clock: Callable[[], int],
    ) -> None:
        """Nothing is under way."""
        self._requests = requests
        self._put = put
        self._emit = emit
        self._clock = clock
        self._threads: list[threading.Thread] = []

    def handle(self, item: SaveSlot | RestoreSlot | SlotRead, at_ns: int) -> None:
        """Do what ``item`` asks for.

        Args:
            item: A command, or what a thread read.
            at_ns: When it arrived.
        """
        engine = self._requests.engine
        command = item.command if isinstance(item, SlotRead) else item
        if engine is None:
            self._refuse(command, _NO_MODEL)
        else:
            try:
                self._handle(item, engine, at_ns)
            except MemoryError:  # by the copy of a cache; what else runs has all it needs
                self._refuse(command, _NO_MEMORY)

    def close(self) -> None:
        """Wait for files that are being written."""
        for thread in self._threads:
            thread.join()

    # --- On the loop's thread ----------------------------------------------------------------

    def _handle(self, item: SaveSlot | RestoreSlot | SlotRead, engine: Engine, at_ns: int) -> None:
        if isinstance(item, SaveSlot):
            self._save(item, engine, at_ns)
        elif isinstance(item, RestoreSlot):
            self._read(item, engine, at_ns)
        else:
            self._restore(item, engine)

    def _save(self, command: SaveSlot, engine: Engine, at_ns: int) -> None:
        batcher, facts = engine.batcher, engine.facts
        slot = _slot_of(batcher, command.conversation_id)
        if slot is None:
            self._refuse(command, _NOTHING)
            return
        size = state_bytes(batcher.context, slot.index)
        if 2 * size > host_memory().free:
            self._refuse(
                command,
                f"A copy of this cache takes {size / 2**20:,.0f} MiB of host memory, which is not "
                "free. Close other programs first.",
            )
            return
        cache = _cache_mark(batcher.context, engine.config)
        content = _content(batcher.context, engine.config, slot)

        def write() -> None:
            written = write_slot(command.path, model_mark(facts), cache, content)
            self._emit(
                SlotSaved(
                    command.request_id,
                    command.conversation_id,
                    command.path,
                    written,
                    len(content.tokens),
                    (self._clock() - at_ns) / 1e9,
                )
            )

        self._start(command, write)

    def _read(self, command: RestoreSlot, engine: Engine, at_ns: int) -> None:
        facts, source, context = engine.facts, engine.source, engine.batcher.context
        cache = _cache_mark(context, engine.config)
        cap_tok = engine.batcher.slots[0].cap_tok
        held = engine.memory.bytes
        most = held.kv + held.recurrent + _BYTES_ABOUT_A_CELL * context.ctx_tok + _SLACK_BYTES

        def read() -> None:
            content = read_slot(command.path, model_mark(facts), cache, cap_tok, most)
            self._put(SlotRead(command, at_ns, source, cache, content))

        self._start(command, read)

    def _restore(self, read: SlotRead, engine: Engine) -> None:
        batcher, command, tokens = engine.batcher, read.command, read.content.tokens
        context, config = batcher.context, engine.config
        cap_tok = batcher.slots[0].cap_tok
        if (
            read.source is not engine.source
            or read.cache != _cache_mark(context, config)
            or len(tokens) > cap_tok
        ):
            self._refuse(command, _CHANGED)
            return
        slot = choose_slot(batcher.slots, tokens, command.conversation_id)
        if slot is None:
            self._refuse(command, _ALL_BUSY)
            return
        if not batcher.reuse.fill(slot, tokens, _state(read.content, config)):
            self._refuse(command, _NO_ROOM)
            return
        slot.conversation_id = command.conversation_id
        self._emit(
            SlotRestored(
                command.request_id,
                command.conversation_id,
                command.path,
                read.content.file_bytes,
                len(tokens),
                (self._clock() - read.at_ns) / 1e9,
                slot.index,
            )
        )

    def _refuse(self, command: SaveSlot | RestoreSlot, sentence: str) -> None:
        name = "save_slot" if isinstance(command, SaveSlot) else "restore_slot"
        self._emit(Refused(name, command.request_id, Problem((), sentence)))

    # --- Threads -----------------------------------------------------------------------------

    def _start(self, command: SaveSlot | RestoreSlot, work: Callable[[], None]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(
            target=self._run, args=(command, work), name="slot-file", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _run(self, command: SaveSlot | RestoreSlot, work: Callable[[], None]) -> None:
        try:
            work()
        except SlotFileError as error:
            self._refuse(command, str(error))
        except (OSError, MemoryError) as error:
            self._refuse(command, f"That did not work: {error}.")
        except Exception as error:
            traceback.print_exc()
            self._refuse(
                command,
                f"That did not work by a fault of TuneDeck ({type(error).__name__}: {error}).",
            )


def _slot_of(batcher: Batcher, conversation_id: str) -> Slot | None:
    """The slot that holds most of a conversation; None if none holds any of it."""
    held = [s for s in batcher.slots if s.cached and s.conversation_id == conversation_id]
    return max(held, key=lambda slot: slot.cached, default=None)


def _content(context: Context, config: EngineConfig, slot: Slot) -> SlotContent:
    parts = WholeState.of(context, slot.index).parts(context.model)
    arrays = [np.ascontiguousarray(part) for part in (parts.head, *parts.caches, parts.rest)]
    tokens = slot.tokens[: slot.cached].copy()
    return SlotContent(tokens, arrays, streams_of(config), slot.index)


def _state(content: SlotContent, config: EngineConfig) -> NDArray[np.uint8]:
    """The state as the pool that ``config`` makes can take it."""
    head, *caches, rest = content.parts
    caches = [restreamed(cache, streams_of(config)) for cache in caches]
    return np.concatenate([head, *caches, rest])


def _cache_mark(context: Context, config: EngineConfig) -> CacheMark:
    changes = (*config.lora, *config.override_kv)
    if has_long_rope_factors(context):
        changes += ("LongRoPE's factors for long texts",)
    return CacheMark(
        config.cache_type_k,
        config.cache_type_v,
        context.flash_attn,
        "on" if config.swa_full else "off",
        ", ".join(changes) or "none",
        LIB.LLAMA_STATE_SEQ_VERSION,
    )
