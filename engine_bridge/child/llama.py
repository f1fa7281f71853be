"""llama.cpp, thinly: models, contexts and samplers as typed objects.

The only file of the project that imports llama_cpp. Knows what llama-server sets in every field of
the parameter structs; must not know requests, slots or messages.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# An abort inside ggml would start a debugger to print a trace, which takes seconds or hangs.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")

import llama_cpp as _binding
from llama_cpp import llama_cpp as _lib
from llama_cpp._ctypes_extensions import load_shared_library

from engine_bridge.child.abort_flag import SHALL_STOP, AbortFlag, UnderWay
from engine_bridge.child.batch import Batch
from engine_bridge.child.breakdown import Breakdown, BufferBytes
from engine_bridge.child.ggml import Ggml
from engine_bridge.child.llama_error import (
    LlamaError as LlamaError,  # noqa: PLC0414 - part of this facade
)
from engine_bridge.child.llama_error import (
    LoadCancelledError as LoadCancelledError,  # noqa: PLC0414
)
from engine_bridge.child.meta_buffers import JoinedDevices
from engine_bridge.child.native_log import CapturedLog, NativeLog
from engine_bridge.child.native_params import fill_context_params, flash_made
from engine_bridge.child.piece_reader import PieceReader
from engine_bridge.child.placement import ModelParams
from engine_bridge.settings.config import EngineConfig

BINDING_VERSION: str = _binding.__version__
LIB: Any = _lib  # the raw calls, for the other files of this facade

_CONTROL = LIB.LLAMA_TOKEN_ATTR_CONTROL | LIB.LLAMA_TOKEN_ATTR_UNKNOWN


def _find_libraries() -> tuple[ctypes.CDLL, ...]:
    folder = Path(_binding.__file__).parent / "lib"
    found = [LIB._lib]
    for name in ("ggml", "ggml-base", "ggml-rpc"):
        try:
            found.append(load_shared_library(name, folder))
        except FileNotFoundError:  # a build without shared parts, or without RPC
            continue
    return tuple(found)


LOG = NativeLog(LIB.llama_log_set, LIB.llama_log_callback)
GGML = Ggml(*_find_libraries())
_BREAKDOWN = Breakdown(LIB._lib, GGML)
_JOINED = JoinedDevices(LIB._lib, GGML)
LIB.llama_backend_init()

# A second binding of the same function that returns the bare address: no pointer object a step.
_get_logits = LIB._lib["llama_get_logits"]
_get_logits.argtypes, _get_logits.restype = [ctypes.c_void_p], ctypes.c_void_p
_SHALL_STOP = LIB.ggml_abort_callback(SHALL_STOP)
STEPS = UnderWay()


def has_rpc() -> bool:
    """Whether this build can use devices of other machines."""
    return bool(LIB.llama_supports_rpc())


def can_measure_memory() -> bool:
    """Whether ``Context.memory_breakdown`` works on this platform."""
    return _BREAKDOWN.is_supported


class Model:
    """Weights and vocabulary of one GGUF file. Close it after its contexts."""

    def __init__(self, handle: Any, native: ModelParams, log: list[str]) -> None:  # noqa: ANN401
        """Take over ``handle``; use ``load``."""
        self.handle = handle
        self.config = native.config
        self.native = native
        GGML.hold_workers(native.workers)
        self.log = log
        self._vocab = LIB.llama_model_get_vocab(handle)
        self.vocab: int = LIB.llama_vocab_n_tokens(self._vocab)
        self.has_vocabulary: bool = LIB.llama_vocab_type(self._vocab) != LIB.LLAMA_VOCAB_TYPE_NONE
        self.layers: int = LIB.llama_model_n_layer(handle)
        self.blocks: int = self.layers + LIB.llama_model_n_layer_nextn(handle)  # loaded or not
        self.ctx_train_tok: int = LIB.llama_model_n_ctx_train(handle)
        self.window_tok: int = LIB.llama_model_n_swa(handle)
        self.is_recurrent: bool = LIB.llama_model_is_recurrent(handle)
        self.is_hybrid: bool = LIB.llama_model_is_hybrid(handle)
        self.weight_bytes: int = LIB.llama_model_size(handle)
        self.bos: int = LIB.llama_vocab_bos(self._vocab)
        self.eos: int = LIB.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = LIB.llama_vocab_get_add_bos(self._vocab)
        self.suppressed = self._suppressed_tokens()
        self.adapters: dict[str, Any] = {}  # LoRA adapters by their path; they go with the model
        self._pieces = PieceReader(LIB, self._vocab)

    @classmethod
    def load(
        cls,
        path: str,
        config: EngineConfig,
        *,
        no_alloc: bool = False,
        fast_vocab: tuple[str, int] | None = None,
        on_progress: Callable[[float], bool] | None = None,
        quiet: bool = False,
    ) -> Self:
        """Load a GGUF file (of a split model: part 1).

        Args:
            path: The file.
            config: Placement and load mode are taken from it.
            no_alloc: Read metadata only and pretend to allocate (dry run).
            fast_vocab: Architecture and vocabulary size; skips building the vocabulary, which is
                nearly all the time of a dry run. The model then cannot tokenise.
            on_progress: Called with 0 to 1; returning False stops the load.
            quiet: Do not listen to the log (a dry run writes 1,000 lines); a failed load is then
                tried once more with the log on, for its reason.

        Raises:
            LoadCancelledError: If ``on_progress`` returned False.
            LlamaError: If llama.cpp cannot load it, with its words.
            PlacementError: If a device or buffer type is not there; check it before.
        """
        cancelled = False

        def progressed(fraction: float, _: object) -> bool:
            nonlocal cancelled
            goes_on = True if on_progress is None else on_progress(fraction)
            cancelled = cancelled or not goes_on
            return goes_on

        native = ModelParams(config, LIB, GGML, no_alloc=no_alloc, fast_vocab=fast_vocab)
        params = native.struct
        params.progress_callback = LIB.llama_progress_callback(progressed)
        handle = LIB.llama_model_load_from_file(os.fsencode(path), params) if quiet else None
        log = CapturedLog()
        if handle is None:
            with LOG.captured() as log:
                handle = LIB.llama_model_load_from_file(os.fsencode(path), params)
        if cancelled:
            if handle is not None:
                LIB.llama_model_free(handle)
            raise LoadCancelledError("The load was cancelled.")
        if handle is None:
            raise LlamaError(log.cause or "llama.cpp gave no reason.", log.errors)
        return cls(handle, native, log.lines)

    def close(self) -> None:
        """Free the weights."""
        if self.handle is not None:
            LIB.llama_model_free(self.handle)
            GGML.release_workers(self.native.workers)
            self.handle = None

    @property
    def n_gpu_layers(self) -> int:
        """Layers on a GPU, the output layer counted as one; 0 without a device for them."""
        wanted, most = self.config.n_gpu_layers, self.blocks + 1 if self.native.devices else 0
        return most if isinstance(wanted, str) else min(wanted, most)

    @property
    def chat_template(self) -> str:
        """The template's source, or the empty string."""
        raw = LIB.llama_model_chat_template(self.handle, None)
        return str(raw.decode(errors="replace")) if raw else ""

    @property
    def description(self) -> str:
        """Architecture, size and quantisation in llama.cpp's words."""
        buffer = ctypes.create_string_buffer(256)
        LIB.llama_model_desc(self.handle, buffer, 256)
        return buffer.value.decode(errors="replace")

    @cached_property
    def eog(self) -> frozenset[int]:
        """Tokens that end a generation; the first look takes up to a tenth of a second."""
        is_eog = LIB.llama_vocab_is_eog
        return frozenset(token for token in range(self.vocab) if is_eog(self._vocab, token))

    def special_tokens(self) -> tuple[int, ...]:
        """Control tokens; their text in a user's words must stay text.

        User-defined tokens are not among them: llama.cpp reads their text as the token always.
        """
        attributes = LIB.llama_vocab_get_attr
        every = range(self.vocab if self.has_vocabulary else 0)
        return tuple(token for token in every if attributes(self._vocab, token) & _CONTROL)

    def _suppressed_tokens(self) -> tuple[int, ...]:
        """Tokens that the model's file says must never be drawn."""
        count = ctypes.c_int32()
        tokens = LIB.llama_vocab_get_suppress_tokens(self._vocab, ctypes.byref(count))
        return tuple(tokens[: count.value]) if count.value else ()

    def text_of(self, token: int) -> str:
        """How ``token`` is written in the vocabulary, special ones included."""
        return str((LIB.llama_vocab_get_text(self._vocab, token) or b"").decode(errors="replace"))

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """Bytes that ``token`` adds to a text; special tokens add none unless ``special``.

        For one thread at a time.
        """
        return self._pieces.piece(token, special=special)

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        """Tokens of ``text``; safe on any thread.

        Args:
            text: Any text.
            add_special: Add BOS and EOS where the model wants them.
            parse_special: Read the text of special tokens as those tokens.
        """
        raw = text.encode("utf-8", errors="replace")
        room = len(raw) + 2
        tokens = (ctypes.c_int32 * room)()
        count = LIB.llama_tokenize(
            self._vocab, raw, len(raw), tokens, room, add_special, parse_special
        )
        if count < 0:  # never seen: a token has at least a byte
            tokens = (ctypes.c_int32 * -count)()
            count = LIB.llama_tokenize(
                self._vocab, raw, len(raw), tokens, -count, add_special, parse_special
            )
        return list(tokens[:count])


class Context:
    """KV cache, compute buffers and output rows on a model. Close it before its model.

    Attributes:
        flash_attn: ``on`` or ``off``; ``auto`` where the log was not listened to.
        outputs_max: Output rows a step may have.
        cache_type_k: Type of the K cache.
        ctx_tok: Cells of the pool.
        ctx_seq_tok: Tokens one sequence may have.
        batch_tok: Tokens a step may have.
        ubatch_tok: Tokens computed at once.
        sequences: Sequences.
        rollback_tok: Tokens by which a recurrent state goes back without help; right only within
            the step that was computed last.
        log: What llama.cpp said while it was made.
        mtp: Context of the guessing layers for this model, None without; see ``nextn``.
        is_guessing: Whether it is such a one itself; those read what ``keeps_thoughts`` keeps.
    """

    def __init__(self, handle: Any, model: Model, config: EngineConfig, log: list[str]) -> None:  # noqa: ANN401
        """Take over ``handle``; use ``create``."""
        self.handle = handle
        self.model = model
        self.log = log
        self.flash_attn = flash_made(config, log)
        self.outputs_max, self.cache_type_k = config.outputs_max, config.cache_type_k
        self.ctx_tok: int = LIB.llama_n_ctx(handle)
        self.ctx_seq_tok: int = LIB.llama_n_ctx_seq(handle)
        self.batch_tok: int = LIB.llama_n_batch(handle)
        self.ubatch_tok: int = LIB.llama_n_ubatch(handle)
        self.sequences: int = LIB.llama_n_seq_max(handle)
        self.rollback_tok: int = LIB.llama_n_rs_seq(handle)
        self.mtp: Self | None = None
        self._memory = LIB.llama_get_memory(handle)
        self.is_guessing = self.keeps_thoughts = False
        self._abort_flag = AbortFlag()
        LIB.llama_set_abort_callback(handle, _SHALL_STOP, self._abort_flag.address)
        self._logits_at, self._logits = 0, np.empty((0, model.vocab), np.float32)

    @classmethod
    def create(
        cls, model: Model, config: EngineConfig, *, quiet: bool = False, is_guessing: bool = False
    ) -> Self:
        """Build a context as llama-server would for ``config``. Check ``settings.rules`` first.

        Args:
            model: A loaded or dry model.
            config: What to build.
            quiet: Do not listen to the log; ``flash_attn`` then stays ``auto`` where it was.
            is_guessing: Run the model's guessing layers instead; see ``nextn``.

        Raises:
            LlamaError: If llama.cpp refuses, with its words.
        """
        params = LIB.llama_context_default_params()
        fill_context_params(params, config)
        params.ctx_type = LIB.LLAMA_CONTEXT_TYPE_MTP if is_guessing else 0
        if quiet and (handle := LIB.llama_init_from_model(model.handle, params)) is not None:
            return cls(handle, model, config, [])
        with LOG.captured() as log:
            handle = LIB.llama_init_from_model(model.handle, params)
        if handle is None:
            raise LlamaError(log.cause or "llama.cpp gave no reason.", log.errors)
        return cls(handle, model, config, log.lines)

    def close(self) -> None:
        """Free the buffers."""
        if self.mtp is not None:
            self.mtp.close()
        if self.handle is not None:
            LIB.llama_free(self.handle)
            self.handle = None

    def memory_breakdown(self, *, of_last_graph: bool = True) -> tuple[BufferBytes, ...]:
        """Bytes by buffer type, the output buffer missing; of a dry context by its last graph.

        Raises:
            NotSupportedError: On other platforms than Linux.
        """
        by_last = of_last_graph and self.model.native.is_dry
        return _JOINED.said_of_each(_BREAKDOWN.read(self.handle, of_last_graph=by_last), self)

    def set_threads(self, decode: int, batch: int) -> None:
        """Change the threads of the next step."""
        LIB.llama_set_n_threads(self.handle, decode, batch)

    @property
    def threads(self) -> tuple[int, int]:
        """Decode and prefill threads."""
        return LIB.llama_n_threads(self.handle), LIB.llama_n_threads_batch(self.handle)

    def request_abort(self, wanted: bool) -> None:
        """Set or clear the flag that ends a running ``decode`` (CPU only); from any thread."""
        self._abort_flag.request(wanted)

    def new_batch(self, capacity: int, width: int = 0) -> Batch:
        """An empty batch for ``capacity`` tokens; see ``Batch`` for the ``width``."""
        return Batch(capacity, LIB, width)

    def decode(self, batch: Batch, count: int) -> int:
        """Run the first ``count`` tokens of ``batch``.

        Returns:
            0, 1 where the KV pool has no room, 2 if aborted, negative for faults.
        """
        batch.struct.n_tokens = count
        STEPS.begin(self._abort_flag)
        code = int(LIB.llama_decode(self.handle, batch.struct))
        STEPS.end(self._abort_flag)
        return code

    def logits(self) -> NDArray[np.float32]:
        """Output rows of the last step in batch order, (outputs_max, vocab).

        A view, valid until the next step; only as many rows exist as that step asked for.
        """
        if (address := _get_logits(self.handle)) != self._logits_at:
            self._logits_at = address
            shape = (max(self.outputs_max, self.sequences), self.model.vocab)
            cells = (ctypes.c_float * (shape[0] * shape[1])).from_address(address)
            self._logits = np.ctypeslib.as_array(cells).reshape(shape)
        return self._logits

    def seq_rm(self, seq: int, begin: int, end: int = -1) -> bool:
        """Forget positions ``begin`` to ``end`` (exclusive, -1: all) of a sequence.

        Returns:
            False where the memory cannot (a recurrent state is not rewound).
        """
        return bool(LIB.llama_memory_seq_rm(self._memory, seq, begin, end))

    def seq_pos_min(self, seq: int) -> int:
        """Lowest position held in every part of the memory, -1 for none."""
        return int(LIB.llama_memory_seq_pos_min(self._memory, seq))

    def seq_pos_max(self, seq: int) -> int:
        """Highest position held, -1 for none."""
        return int(LIB.llama_memory_seq_pos_max(self._memory, seq))

    def clear(self) -> None:
        """Forget every sequence, buffers included."""
        LIB.llama_memory_clear(self._memory, True)

    def warm_up(self) -> None:
        """An empty run that pages the weights in, as llama-server does after a load."""
        tokens = [t for t in (self.model.bos, self.model.eos) if t >= 0] or [0]
        batch = self.new_batch(len(tokens))
        batch.token[:] = tokens
        batch.pos[:] = range(len(tokens))
        batch.wants_logits[-1] = 1
        LIB.llama_set_warmup(self.handle, True)
        self.decode(batch, min(len(tokens), self.batch_tok))
        self.clear()
        LIB.llama_synchronize(self.handle)
        LIB.llama_set_warmup(self.handle, False)
