"""What the actions of ``tunedeck history`` do. Prints for a person, or one JSON object."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path

from app.experiments.cli_history import ORDERS
from app.experiments.difference import difference
from app.experiments.experiment import Experiment, Kind, State
from app.experiments.history_export import ENDINGS, KINDS, exported
from app.experiments.history_lines import difference_lines, list_lines, when_text, whole_lines
from app.experiments.history_query import Filter, Order
from app.experiments.history_store import HistoryStore
from app.json_output import tell_error, writable_json, write_json
from app.plain_output import printable
from app.storage.atomic_file import write_whole
from app.storage.conversation_search import folded, search_words
from app.storage.folders import own_folders
from app.storage.storage_error import StorageError
from engine_bridge.settings.home_path import home_path

# A screen of them, where nothing else is asked for.
_USUAL_LIMIT = 20
_PICTURE_ENDING = ".png"
_KINDS = {str(kind): kind for kind in KINDS}


def run_action(arguments: argparse.Namespace) -> int:
    """Do what ``arguments`` ask for.

    Returns:
        The exit status: 0 done, 1 a problem, said in a sentence.
    """
    store = HistoryStore(own_folders().history)
    try:
        _ACTIONS[arguments.action or "list"](store, arguments)
    except StorageError as error:
        tell_error(str(error), as_json=arguments.json)
        return 1
    finally:
        store.close()
        for sentence in store.take_sentences():
            sys.stderr.write(f"{sentence}\n")
    return 0


# --- Inside -----------------------------------------------------------------------------


def _list(store: HistoryStore, arguments: argparse.Namespace) -> None:
    wanted = _filter_of(store, arguments)
    rows = () if wanted is None else store.listing(wanted)
    limit = arguments.limit
    if limit is None:
        limit = 0 if arguments.json else _USUAL_LIMIT
    more = max(0, len(rows) - limit) if limit else 0
    rows = rows[: len(rows) - more]
    if arguments.json:
        write_json({"experiments": rows}, sys.stdout)
        return
    _print(list_lines(rows))
    if more:
        sys.stderr.write(f"{more:,} more; --limit 0 shows all.\n")


def _filter_of(store: HistoryStore, arguments: argparse.Namespace) -> Filter | None:
    """What the options ask for; None where no model has such a name."""
    models: tuple[str, ...] = ()
    if arguments.model:
        models = tuple(
            name
            for name in store.models()
            if any(
                all(word in folded(name) for word in search_words(words))
                for words in arguments.model
            )
        )
        if not models:
            return None
    return Filter(
        text=" ".join(arguments.words),
        kinds=tuple(map(Kind, arguments.kind or ())),
        states=tuple(map(State, arguments.state or ())),
        models=models,
        tag=arguments.tag or "",
        since=_midnight(arguments.since),
        until=_midnight(arguments.until and arguments.until + timedelta(days=1)),
        order=Order(ORDERS[arguments.order]),
        is_descending=not arguments.ascending,
        is_of_bin=arguments.deleted,
    )


def _midnight(day: date | None) -> datetime | None:
    """The beginning of a day where this program runs."""
    return None if day is None else datetime.combine(day, time()).astimezone()


def _show(store: HistoryStore, arguments: argparse.Namespace) -> None:
    experiment = store.experiment(store.resolve(arguments.key))
    if arguments.json:
        write_json(experiment, sys.stdout)
        return
    head = f"{experiment.key} · {experiment.kind} · {experiment.state}"
    _print([f"{head} · {when_text(experiment.begun_at)}", ""])
    _print(whole_lines(experiment, explain=arguments.explain))


def _compare(store: HistoryStore, arguments: argparse.Namespace) -> None:
    first = store.experiment(store.resolve(arguments.first))
    second = store.experiment(store.resolve(arguments.second))
    found = difference(first, second)
    if arguments.json:
        write_json(found, sys.stdout)
    else:
        _print(difference_lines(first, second, found))


def _export(store: HistoryStore, arguments: argparse.Namespace) -> None:
    experiment = store.experiment(store.resolve(arguments.key))
    form = arguments.form or _form_of(arguments.out)
    out = home_path(arguments.out) if arguments.out is not None else None
    if out is not None and not arguments.force and _is_file(out):
        raise StorageError(f"There is a file {out} already; --force replaces it.")
    if form == "card":
        if out is None:
            raise StorageError("A picture needs a file: add --out card.png.")
        content = _picture(experiment, arguments.theme)
    else:
        content = exported(experiment, _KINDS[form])
    if out is None:
        # The terminal has line ends of its own.
        text = content.decode()
        if form == "json":
            sys.stdout.write(writable_json(text, sys.stdout.encoding))
        else:
            sys.stdout.write(printable(text.replace("\r\n", "\n")))
        return
    write_whole(out, content, "The experiment could not be exported")
    if arguments.json:
        write_json({"key": experiment.key, "as": form, "file": str(out)}, sys.stdout)


def _is_file(out: Path) -> bool:
    """Whether a file would be replaced; what cannot be looked at is told when it is written."""
    try:
        return out.is_file()
    except OSError:
        return False


def _form_of(out: Path | None) -> str:
    """Which export a file's ending asks for."""
    ending = out.suffix.lower() if out is not None else ""
    return "card" if ending == _PICTURE_ENDING else ENDINGS.get(ending, "markdown")


def _picture(experiment: Experiment, theme: str) -> bytes:
    # Qt takes half a second to import; nothing else here needs it.
    if sys.platform.startswith("linux"):  # others paint without a display as they are
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        from PySide6.QtGui import QGuiApplication  # noqa: PLC0415

        from app.experiments.history_card import card_png  # noqa: PLC0415
    except ImportError as error:
        raise StorageError(f"A picture needs Qt, which cannot be loaded: {error}.") from error
    from resources.tokens import DARK, LIGHT  # noqa: PLC0415

    # Held until the picture is painted.
    application = QGuiApplication.instance() or QGuiApplication(["tunedeck"])
    content = card_png(experiment, LIGHT if theme == "light" else DARK)
    del application
    return content


def _tag(store: HistoryStore, arguments: argparse.Namespace) -> None:
    key = store.resolve(arguments.key)
    tags = store.experiment(key).tags
    if arguments.tags:
        named = {folded(" ".join(tag.split())) for tag in arguments.tags}
        kept = [tag for tag in tags if not (arguments.remove and folded(tag) in named)]
        tags = store.set_tags(key, kept if arguments.remove else [*kept, *arguments.tags])
    if arguments.json:
        write_json({"key": key, "tags": tags}, sys.stdout)
    else:
        _print([", ".join(tags) or "No tags."])


def _note(store: HistoryStore, arguments: argparse.Namespace) -> None:
    key = store.resolve(arguments.key)
    text = arguments.text
    if text is not None:
        store.set_note(key, sys.stdin.read().rstrip("\n") if text == "-" else text)
    note = store.experiment(key).note
    if arguments.json:
        write_json({"key": key, "note": note}, sys.stdout)
    else:
        _print([note or "No note."])


def _delete(store: HistoryStore, arguments: argparse.Namespace) -> None:
    keys = _resolved(store, arguments.keys)
    for key in keys:
        store.delete(key)
        if not arguments.json:
            _print([
                f"Deleted {key}. For 30 days `tunedeck history restore {key}` brings it back."
            ])  # fmt: skip
    if arguments.json:
        write_json({"deleted": keys}, sys.stdout)


def _restore(store: HistoryStore, arguments: argparse.Namespace) -> None:
    keys = _resolved(store, arguments.keys)
    for key in keys:
        store.restore(key)
    if arguments.json:
        write_json({"restored": keys}, sys.stdout)
    else:
        _print([f"Brought back {key}." for key in keys])


def _resolved(store: HistoryStore, keys: list[str]) -> list[str]:
    """Whole keys, each once."""
    return list(dict.fromkeys(store.resolve(key) for key in keys))


def _print(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


_ACTIONS: Mapping[str, Callable[[HistoryStore, argparse.Namespace], None]] = {
    "list": _list,
    "show": _show,
    "compare": _compare,
    "export": _export,
    "tag": _tag,
    "note": _note,
    "delete": _delete,
    "restore": _restore,
}
