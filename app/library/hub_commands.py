"""What ``tunedeck hub`` does: asks, judges, downloads, and tells it to a terminal or as JSON."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping

from app.figures import bytes_text
from app.json_output import tell_error, write_json
from app.library.download import Download
from app.library.hub import Hub
from app.library.hub_draft_commands import tell_hub_drafts
from app.library.hub_faults import HubError
from app.library.hub_filters import HubFilters, HubFound
from app.library.hub_found_words import found_words
from app.library.hub_judge import judge
from app.library.hub_shapes import HubFault, HubModel, HubRepository, HubSort, Judged, Quantisation
from app.plain_output import printable
from engine_bridge.settings.assignments import parse_assignments
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.domain import Value
from engine_bridge.settings.table import BY_KEY

_TELL_EVERY_S = 0.5
_SILENT_S = 10.0
_MIB = 1 << 20


def run_action(arguments: argparse.Namespace) -> int:
    """Do what ``arguments.action`` says; gives the exit status."""
    try:
        return _ACTIONS[arguments.action](Hub(), arguments)
    except HubError as error:
        if arguments.json:
            write_json({"error": str(error), "kind": str(error.kind)}, sys.stdout)
        else:
            tell_error(str(error), as_json=False)
        return 1


# --- Actions ------------------------------------------------------------------------------


def _search(hub: Hub, arguments: argparse.Namespace) -> int:
    most = max(1, min(1_000, arguments.most))
    words, sort = " ".join(arguments.words), HubSort(arguments.sort)
    filters = HubFilters(
        arguments.architecture.strip(),
        arguments.quantisation.strip(),
        arguments.min_parameters,
        arguments.max_parameters,
    )
    found, fault = HubFound(), None
    try:
        for page in hub.look(words, sort, filters, most=most):
            found = page.first(most)
            _progress(found_words(found, filters, sort, words), is_done=found.is_done)
    except HubError as error:
        if not found.models or arguments.json:
            raise
        fault = error
    if arguments.json:
        told = {"looked_through": found.looked_through, "is_all": found.is_all}
        write_json({"models": found.models, **told}, sys.stdout)
        return 0
    for model in found.models:
        _say(_model_line(model))
    said = found_words(found, filters, sort, words)
    if not found.models:
        _say(said)
    elif filters.active or sort in {HubSort.SMALLEST, HubSort.LARGEST}:
        sys.stderr.write(f"{printable(said)}\n")
    if fault is not None:
        raise fault
    return 0


def _show(hub: Hub, arguments: argparse.Namespace) -> int:
    config = EngineConfig.from_values(parse_assignments(arguments.set))
    repository = hub.repository(arguments.repo)
    wanted = [_named(repository, name) for name in arguments.names]
    if arguments.fit:
        wanted = list(repository.quantisations)
    judged = {model.name: judge(hub, repository, model, config) for model in wanted}
    if arguments.json:
        write_json({"repository": repository, "judged": list(judged.values())}, sys.stdout)
        return 0
    _say(_repository_line(repository))
    for model in repository.quantisations:
        if not judged or model.name in judged:
            _say(_quantisation_line(model))
        if model.name in judged:
            for line in _judged_lines(judged[model.name]):
                _say(f"    {line}")
    if not judged:
        _say(f"tunedeck hub show {repository.repo} NAME says what one of them would take here.")
    return 0


def _download(hub: Hub, arguments: argparse.Namespace) -> int:
    repository = hub.repository(arguments.repo)
    model = _named(repository, arguments.name)
    if model.missing_parts:
        raise HubError(
            HubFault.MISSING,
            f"{model.name} of {repository.repo} is not whole: {model.missing_parts} of its parts "
            "are not in the repository.",
        )
    paths = []
    for number, file in enumerate(model.files, start=1):
        download = Download(hub, repository.repo, repository.commit, file)
        part = f" ({number} of {len(model.files)})" if len(model.files) > 1 else ""
        meter = _Meter(f"{file.name}{part}", file.size_bytes, download.here_bytes)
        paths.append(download.run(meter.told))
        meter.end()
    if arguments.json:
        write_json({"paths": [str(path) for path in paths]}, sys.stdout)
    else:
        _say(str(paths[0]))
    return 0


_ACTIONS = {
    "search": _search,
    "show": _show,
    "drafts": tell_hub_drafts,
    "download": _download,
}


def _named(repository: HubRepository, name: str) -> Quantisation:
    found = repository.quantisation(name)
    if found is None:
        names = ", ".join(model.name for model in repository.quantisations)
        raise HubError(HubFault.MISSING, f"{repository.repo} has no {name}. It has: {names}.")
    return found


# --- Words --------------------------------------------------------------------------------


class _Meter:
    """Tells a download on the error stream: the output is for its path."""

    def __init__(self, name: str, size_bytes: int, here_bytes: int) -> None:
        self._name, self._size = name, size_bytes
        self._begin_bytes, self._begin_s = here_bytes, time.monotonic()
        self._told_s, self._moved = 0.0, (here_bytes, self._begin_s)
        self._is_begun = False

    def told(self, here_bytes: int, is_checking: bool) -> None:
        """Say how far it is, not too often; a terminal's line is written over."""
        now_s = time.monotonic()
        if here_bytes != self._moved[0]:
            self._moved = (here_bytes, now_s)
        silent_s = now_s - self._moved[1]
        if now_s - self._told_s < _TELL_EVERY_S and not is_checking:
            return
        self._told_s = now_s
        speed = (here_bytes - self._begin_bytes) / max(1e-3, now_s - self._begin_s)
        left_s = (self._size - here_bytes) / speed if speed > 0 else None
        words = [self._name, f"{here_bytes / max(1, self._size):.0%}".replace("%", " %")]
        words.append(f"{bytes_text(here_bytes)} of {bytes_text(self._size)}")
        if is_checking:
            words.append("checking SHA-256")
        elif silent_s >= _SILENT_S:
            words.append(f"nothing has arrived for {silent_s:,.0f} s; still trying")
        elif left_s is not None and here_bytes > self._begin_bytes:
            words += [f"{bytes_text(round(speed))}/s", f"{left_s:,.0f} s left"]
        self._write(" · ".join(words))

    def end(self) -> None:
        """Go to the next line."""
        if self._is_begun and sys.stderr.isatty():
            sys.stderr.write("\n")

    def _write(self, line: str) -> None:
        self._is_begun = True
        end, start = ("", "\r\x1b[K") if sys.stderr.isatty() else ("\n", "")
        sys.stderr.write(f"{start}{printable(line)}{end}")
        sys.stderr.flush()


def _progress(words: str, *, is_done: bool) -> None:
    """Say on a terminal how far a search is; its line is written over, and gone at the end."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" if is_done else f"\r\x1b[K{printable(words)}")
        sys.stderr.flush()


def _say(line: str) -> None:
    sys.stdout.write(f"{printable(line)}\n")


def _model_line(model: HubModel) -> str:
    parts = [model.repo, f"{model.downloads:,} downloads", f"{model.likes:,} likes"]
    if model.architecture:
        parts.append(model.architecture)
    if model.parameters:
        parts.append(f"{model.parameters / 1e9:.2g} B")
    if model.updated:
        parts.append(model.updated)
    if model.is_gated:
        parts.append("terms to accept")
    return " · ".join(parts)


def _repository_line(repository: HubRepository) -> str:
    parts = [repository.repo]
    if repository.base_model:
        parts.append(f"made of {repository.base_model}")
    parts.append(f"licence {repository.licence}" if repository.licence else "no licence told")
    if repository.is_gated:
        parts.append("terms to accept")
    if repository.projectors:
        parts.append(f"with {len(repository.projectors)} projector files")
    if repository.drafts:
        parts.append(f"with {len(repository.drafts)} draft files")
    return " · ".join(parts)


def _quantisation_line(model: Quantisation) -> str:
    parts = [f"{model.name:<12}", f"{bytes_text(model.size_bytes):>10}"]
    if len(model.files) > 1:
        parts.append(f"{len(model.files)} parts")
    if model.missing_parts:
        parts.append(f"{model.missing_parts} parts missing")
    return "  ".join(parts)


def _judged_lines(judged: Judged) -> list[str]:
    if judged.problem:
        return [judged.problem]
    loaded = f"read {judged.loaded_bytes / _MIB:,.1f} MiB of it"
    lines = [
        f"takes {bytes_text(judged.total_bytes)} here: "
        f"{'fits' if judged.fits else 'does not fit'} ({loaded})"
    ]
    lines += [f"would do: {_way_words(way)}" for way in judged.ways]
    return lines


def _way_words(way: Mapping[str, Value]) -> str:
    return ", ".join(f"{key}={BY_KEY[key].domain.format(value)}" for key, value in way.items())
