"""The header of one GGUF file, read without trusting it.

Knows the layout of GGUF (docs/gguf.md of ggml, checks as in ggml/src/gguf.cpp); bounded reading is
``gguf_window``'s, meaning is ``gguf_file``'s.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from engine_bridge.gguf_types import REMOVED_TENSOR_TYPES, TENSOR_TYPES
from engine_bridge.gguf_unlike import what_it_is_instead
from engine_bridge.gguf_window import (
    WINDOW_BYTES,
    BoundedReader,
    GgufCutError,
    GgufError,
    Number,
    Readable,
    shown_name,
)
from engine_bridge.typed_text import without_long_words

# Fixed limits, far above any real model, low enough that the worst header takes under a second.
MAX_KEYS = 8_192
MAX_KEY_BYTES = 1_024
MAX_TENSORS = 65_536
MAX_KEPT_NUMBERS = 1_024
_MAX_KEPT_NUMBERS_ALL = 65_536
# ggml refuses tensor names of 64 bytes and more (GGML_MAX_NAME) and more than 4 dimensions.
_MAX_TENSOR_NAME_BYTES = 63
_MAX_DIMS = 4
_MAX_INT64 = 2**63 - 1
# A name of megabytes would be laid out on every button and stored with every answer.
MAX_LINE_CHARS = 120
_LINE_READ_CHARS = 1_000

# enum gguf_type: number -> struct code of one value.
_SCALARS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_TEXT = 8
_ARRAY = 9


@dataclass(frozen=True)
class ArrayFacts:
    """An array of the header.

    Attributes:
        count: Its length.
        numbers: Its values if they are numbers and few enough to be one a layer, else empty.
        texts_at: Where in the file its texts begin and end, if they are texts; each is a length
            (uint64) and its bytes.
        numbers_at: The same of numbers that were too many to be kept.
    """

    count: int
    numbers: tuple[Number, ...] = ()
    texts_at: tuple[int, int] = (0, 0)
    numbers_at: tuple[int, int] = (0, 0)


Value: TypeAlias = Number | str | ArrayFacts


@dataclass(frozen=True)
class TensorFacts:
    """One tensor of the table.

    Attributes:
        name: Its name, e.g. ``blk.0.attn_q.weight``.
        type_name: Storage format, e.g. ``Q4_K``.
        shape: Dimensions, fastest first; one to four.
        bytes: Size of its data.
        offset: Where its data begins, counted from the start of all tensor data of its file.
    """

    name: str
    type_name: str
    shape: tuple[int, ...]
    bytes: int
    offset: int

    @property
    def elements(self) -> int:
        """Number of weights."""
        product = 1
        for length in self.shape:
            product *= length
        return product


@dataclass(frozen=True)
class Header:
    """What one GGUF file says about itself.

    Attributes:
        path: The file.
        values: Metadata by key.
        tensors: The tensor table, in file order.
        file_bytes: Size of the file.
        data_end: Where the header says that the tensor data ends, last padding included.
        continues_with_gguf: Whether another GGUF file begins where this one ends.
    """

    path: str
    values: Mapping[str, Value]
    tensors: tuple[TensorFacts, ...]
    file_bytes: int
    data_end: int
    continues_with_gguf: bool

    def text(self, key: str) -> str:
        """The text under ``key``, empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def line(self, key: str) -> str:
        """The text under ``key`` as one short line for people, without invisible characters."""
        words = self.text(key)[:_LINE_READ_CHARS].split()
        said = " ".join("".join(filter(str.isprintable, word)) for word in words).strip()
        return said if len(said) <= MAX_LINE_CHARS else said[: MAX_LINE_CHARS - 1] + "…"

    @property
    def name(self) -> str:
        """What the model calls itself; where it says nothing, its file's name."""
        return self.line("general.name") or shown_name(self.path).removesuffix(".gguf")

    def number(self, key: str, default: int = 0) -> int:
        """The whole number under ``key``; of an array of numbers, the largest."""
        numbers = self.numbers(key)
        return max(numbers) if numbers else default

    def numbers(self, key: str) -> tuple[int, ...]:
        """The whole numbers under ``key``: one, those of an array, or none."""
        value = self.values.get(key)
        if isinstance(value, int):
            return (int(value),)
        if isinstance(value, ArrayFacts):
            return tuple(int(n) for n in value.numbers if isinstance(n, int))
        return ()

    def count(self, key: str) -> int:
        """Length of the array under ``key``, 0 if there is none."""
        value = self.values.get(key)
        return value.count if isinstance(value, ArrayFacts) else 0

    def texts_at(self, key: str) -> tuple[int, int]:
        """Where the texts of the array under ``key`` begin and end; (0, 0) if there are none."""
        value = self.values.get(key)
        return value.texts_at if isinstance(value, ArrayFacts) else (0, 0)


def read_header(path: str | os.PathLike[str]) -> Header:
    """Read the header of one file (of a split model: of this part).

    Raises:
        GgufError: If the file cannot be read, is no GGUF, is damaged or lies; in a sentence.
    """
    name = shown_name(path)
    if not os.fspath(path):
        raise GgufError("No model is chosen. Choose a GGUF file.")
    try:
        _refuse_what_is_no_file(Path(path).stat().st_mode, name)
        with Path(path).open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            return _HeaderReader(file, size, os.fspath(path)).read()
    except GgufError:
        raise
    except FileNotFoundError:
        raise GgufError(
            f"There is no file {name}, or its drive is not connected. Choose the model again."
        ) from None
    except PermissionError:
        raise GgufError(
            f"{name} may not be read by this user. Change the file's permissions or copy it."
        ) from None
    except (OSError, ValueError) as error:
        reason = without_long_words(str(error))
        raise GgufError(f"{name} cannot be read: {reason}. Check the drive it is on.") from None


def read_header_from(
    file: Readable, size: int, path: str, window_bytes: int = WINDOW_BYTES
) -> Header:
    """Read a header from whatever can be read and sought like a file.

    Args:
        file: Unbuffered; bytes are asked for as they are needed, in the order of the file but for
            the four behind the tensor data.
        size: Bytes of the whole file.
        path: What the header is said to be of, its name in sentences.
        window_bytes: How much is asked for at once, at least.

    Raises:
        GgufError: If it is no GGUF, is damaged or lies; in a sentence.
        OSError: Whatever ``file`` raises.
    """
    return _HeaderReader(file, size, path, window_bytes).read()


def _refuse_what_is_no_file(mode: int, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise GgufError(f"{name} is a folder, not a model. Choose a .gguf file inside it.")
    if not stat.S_ISREG(mode):
        raise GgufError(f"{name} is a device or a pipe, not a file. Choose a .gguf file.")


class _HeaderReader:
    """Reads one header front to back."""

    def __init__(
        self, file: Readable, size: int, path: str, window_bytes: int = WINDOW_BYTES
    ) -> None:
        self._path = path
        self._name = shown_name(path)
        self._bytes = BoundedReader(file, size, self._name, window_bytes)
        self._numbers_left = _MAX_KEPT_NUMBERS_ALL

    def read(self) -> Header:
        """Read it all."""
        self._check_magic()
        tensor_count, key_count = self._read_counts()
        values = self._read_values(key_count)
        alignment = self._alignment(values)
        tensors = self._read_tensors(tensor_count)
        data_start = _padded(self._bytes.position, alignment) if tensors else self._bytes.position
        data_end = self._check_data(tensors, data_start, alignment)
        return Header(
            self._path,
            values,
            tensors,
            self._bytes.size,
            data_end,
            self._bytes.peek(data_end, 4) == b"GGUF",
        )

    # --- Pieces of the file -------------------------------------------------------------

    def _check_magic(self) -> None:
        if self._bytes.size == 0:
            raise GgufCutError(f"{self._name} is empty: nothing was downloaded. Download it again.")
        start = self._bytes.peek(0, 4_096)
        if not start.startswith(b"GGUF"):
            raise GgufError(f"{self._name} is no GGUF file: {what_it_is_instead(start)}")
        self._bytes.position = 4

    def _read_counts(self) -> tuple[int, int]:
        version = int(self._bytes.scalar("I"))
        if version == 0:
            raise self._bytes.lies("claims version 0, which GGUF never had")
        if version & 0xFFFF == 0:
            raise GgufError(
                f"{self._name} was written for big-endian machines, which llama.cpp cannot read "
                "here. Get the usual (little-endian) file of this model."
            )
        if version not in (2, 3):
            advice = "Convert the model anew" if version < 2 else "Get a version 3 file"
            raise GgufError(
                f"{self._name} is GGUF version {version}; this engine reads 2 and 3. {advice}."
            )
        tensor_count, key_count = int(self._bytes.scalar("q")), int(self._bytes.scalar("q"))
        if not 0 <= tensor_count <= MAX_TENSORS:
            raise self._bytes.lies(f"claims {tensor_count:,} tensors")
        if not 0 <= key_count <= MAX_KEYS:
            raise self._bytes.lies(f"claims {key_count:,} metadata entries")
        return tensor_count, key_count

    def _read_values(self, count: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for _ in range(count):
            key = self._bytes.text(MAX_KEY_BYTES, "a metadata key")
            if not key or key in values:
                raise self._bytes.lies(
                    f"has the metadata key {key!r} twice" if key else "has a key of no text"
                )
            values[key] = self._value(int(self._bytes.scalar("I")), key)
        return values

    def _value(self, kind: int, key: str) -> Value:
        if kind == _ARRAY:
            return self._array(key)
        if kind == _TEXT:
            return self._bytes.kept_text()
        code = _SCALARS.get(kind)
        if code is None:
            raise self._bytes.lies(f"gives {key} the unknown value type {kind}")
        return self._bytes.scalar(code)

    def _array(self, key: str) -> ArrayFacts:
        kind, count = int(self._bytes.scalar("I")), int(self._bytes.scalar("Q"))
        if kind == _TEXT:
            begin = self._bytes.position
            self._bytes.skip_texts(count, key)
            return ArrayFacts(count, texts_at=(begin, self._bytes.position))
        code = _SCALARS.get(kind)
        if code is None:
            raise self._bytes.lies(f"gives {key} an array of the type {kind}, which GGUF has not")
        size = count * struct.calcsize(code)
        if count > min(MAX_KEPT_NUMBERS, self._numbers_left):
            begin = self._bytes.position
            self._bytes.skip(size)
            return ArrayFacts(count, numbers_at=(begin, begin + size))
        self._numbers_left -= count
        return ArrayFacts(count, struct.unpack(f"<{count}{code}", self._bytes.take(size)))

    def _alignment(self, values: Mapping[str, Value]) -> int:
        value = values.get("general.alignment", 32)
        # A power of two, as gguf.cpp demands; larger ones than 1 MiB serve nobody.
        if not isinstance(value, int) or not 1 <= value <= 2**20 or value & (value - 1):
            raise self._bytes.lies(f"asks for an alignment of {value}, which is no power of two")
        return int(value)

    def _read_tensors(self, count: int) -> tuple[TensorFacts, ...]:
        tensors: dict[str, TensorFacts] = {}
        for _ in range(count):
            name = self._bytes.text(_MAX_TENSOR_NAME_BYTES, "a tensor name")
            if name in tensors:
                raise self._bytes.lies(f"has the tensor {name!r} twice")
            dims = int(self._bytes.scalar("I"))
            if dims > _MAX_DIMS:
                raise self._bytes.lies(f"gives the tensor {name!r} {dims:,} dimensions")
            shape = struct.unpack(f"<{dims}q", self._bytes.take(8 * dims))
            kind, offset = int(self._bytes.scalar("I")), int(self._bytes.scalar("Q"))
            tensors[name] = self._tensor(name, shape or (1,), kind, offset)
        return tuple(tensors.values())

    def _tensor(self, name: str, shape: tuple[int, ...], kind: int, offset: int) -> TensorFacts:
        if kind in REMOVED_TENSOR_TYPES:
            old, new = REMOVED_TENSOR_TYPES[kind]
            raise GgufError(
                f"{self._name} uses {old}, a format that llama.cpp no longer reads. "
                f"Get the {new} file of this model."
            )
        tensor_type = TENSOR_TYPES.get(kind)
        if tensor_type is None:
            raise GgufError(
                f"{self._name} uses tensor type {kind}, which this engine does not know: the file "
                "is newer than the engine, or damaged. Try another quantisation of this model."
            )
        elements = 1
        for length in shape:
            elements *= length
            if length < 0 or elements > _MAX_INT64:
                raise self._bytes.lies(f"gives the tensor {name!r} an impossible shape")
        if shape[0] % tensor_type.block_values:
            raise self._bytes.lies(f"has broken rows in the tensor {name!r}")
        size = elements // tensor_type.block_values * tensor_type.block_bytes
        return TensorFacts(name, tensor_type.name, shape, size, offset)

    def _check_data(self, tensors: tuple[TensorFacts, ...], data_start: int, alignment: int) -> int:
        """Check that the tensors lie one behind the other inside the file; return their end."""
        end = last_byte = 0
        for tensor in tensors:
            if tensor.offset != end:
                raise self._bytes.lies(f"places the tensor {tensor.name!r} where it cannot be")
            last_byte = tensor.offset + tensor.bytes
            end = _padded(last_byte, alignment)
        last_byte += data_start
        if last_byte > self._bytes.size:
            raise GgufCutError(
                f"{self._name} is cut short: it has {self._bytes.size:,} of {last_byte:,} bytes. "
                "The download did not finish; download it again."
            )
        return data_start + end


def _padded(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment
