"""A model on a hub, as far as its header: enough to say what it takes, a hundredth of its bytes.

The header lies in a sparse file as long as the model; a dry run reads no weights. Blocks.
"""

from __future__ import annotations

import errno
from pathlib import Path

from app.library.hub import Hub
from app.library.hub_faults import HubError
from app.library.hub_shapes import HubFault, HubFile, HubRepository, Quantisation
from app.library.ranged_file import RangedFile
from engine_bridge.gguf_header import read_header_from

# What a header does not need is not loaded for it.
_WINDOW_BYTES = 64 << 10


def fetch_headers(
    hub: Hub, repository: HubRepository, model: Quantisation, folder: Path
) -> tuple[Path, int]:
    """Load the header of every part into sparse files, by their own names.

    Args:
        hub: Where it is.
        repository: What it is in.
        model: Which one.
        folder: Where the sparse files are made; empty, and on a disk that can hold sparse files.

    Returns:
        The first part, and how many bytes were loaded.

    Raises:
        HubError: If it cannot be had, in a sentence.
        GgufError: If it is no GGUF file, or a damaged one.
    """
    if model.missing_parts:
        raise HubError(
            HubFault.MISSING,
            f"{model.name} of {repository.repo} is not whole: {model.missing_parts} of its parts "
            "are not in the repository.",
        )
    loaded, paths = 0, []
    for file in model.files:
        path = folder / file.name
        loaded += _fetch(hub, repository, file, path)
        paths.append(path)
    return paths[0], loaded


def _fetch(hub: Hub, repository: HubRepository, file: HubFile, path: Path) -> int:
    def load(begin: int, end: int) -> bytes:
        return hub.part(repository.repo, repository.commit, file.path, begin, end)

    if file.size_bytes <= 0:
        raise HubError(HubFault.SERVER, f"The hub does not say how large {file.name} is.")
    try:
        with RangedFile(path, file.size_bytes, load) as ranged:
            read_header_from(ranged, file.size_bytes, str(path), _WINDOW_BYTES)
            return ranged.loaded_bytes
    except EOFError as error:
        raise HubError(
            HubFault.CHANGED, f"{file.name}: {error} Open its repository again."
        ) from None
    except OSError as error:
        full = "there is no room for its header" if error.errno == errno.ENOSPC else str(error)
        raise HubError(HubFault.DISK, f"{file.name} cannot be judged: {full}.") from None
