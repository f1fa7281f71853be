"""What a file is that is no GGUF, told from its first bytes.

Knows signatures of files that people mistake for models; must not open anything.
"""

from __future__ import annotations

# First bytes -> what it is and what to do. Old llama.cpp magics are the words ggml, ggmf, ggjt and
# ggla as little-endian numbers.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (
        b"version https://git-lfs",
        "it is a Git LFS pointer, a note of where the model is. Run `git lfs pull` in its folder "
        "or download the file itself.",
    ),
    (
        b"PK\x03\x04",
        "it is a ZIP archive, perhaps a PyTorch checkpoint. Get the model's GGUF file.",
    ),
    (b"\x80\x02", "it is a PyTorch checkpoint (pickle). Get the model's GGUF file."),
    (b"\x1f\x8b", "it is a gzip archive. Unpack it first."),
    (b"\xfd7zXZ", "it is an xz archive. Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "it is a zstd archive. Unpack it first."),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7-Zip archive. Unpack it first."),
    (b"lmgg", "it is a GGML file of before August 2023. Get the model's GGUF file."),
    (b"fmgg", "it is a GGMF file of before August 2023. Get the model's GGUF file."),
    (b"tjgg", "it is a GGJT file of before August 2023. Get the model's GGUF file."),
    (b"algg", "it is an old GGLA LoRA adapter, not a model. Get the model's GGUF file."),
    (b"\x89HDF\r\n", "it is an HDF5 file (Keras). Get the model's GGUF file."),
    (b"\x7fELF", "it is a program, not a model. Choose a .gguf file."),
    (b"%PDF", "it is a PDF document. Choose a .gguf file."),
)
_PAGES = (b"<!doctype", b"<html", b"<?xml", b"<head")


def what_it_is_instead(start: bytes) -> str:
    """Describe a file by its first bytes (a few hundred suffice) and say what to do.

    Returns:
        The rest of a sentence after "is no GGUF file: ".
    """
    for signature, sentence in _SIGNATURES:
        if start.startswith(signature):
            return sentence
    if _is_safetensors(start):
        return "it is a safetensors file, for PyTorch engines. Get the model's GGUF file."
    words = start.lstrip()
    if words[:10].lower().startswith(_PAGES):
        return "it is a web page, perhaps an error or a sign-in page. Download the file again."
    if words.startswith((b"{", b"[")):
        return "it is a JSON text, perhaps an error message. Download the file again."
    if not start.strip(b"\0"):
        return "it begins with zeros, as an unfinished download does. Download it again."
    return "its first bytes are not GGUF's. Choose a .gguf file."


def _is_safetensors(start: bytes) -> bool:
    """Eight bytes of length, then a JSON object."""
    length = int.from_bytes(start[:8], "little")
    return len(start) > 9 and 2 <= length < 2**32 and start[8:9] == b"{"
