"""The process that speaks to a hub: one question on its input, answers on its output.

``python -m app.library.hub_job``. Whoever loses interest ends it: a stalled connection, a client
that hangs and a download that is paused are the same thing then. It ends with its input, so that
nothing goes on behind a window that died.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

import msgspec

from app.library.download import Download
from app.library.hub import Hub
from app.library.hub_drafts import DraftSearch
from app.library.hub_faults import HubError
from app.library.hub_judge import judge
from app.library.hub_questions import (
    Answer,
    DownloadDone,
    DownloadFiles,
    DownloadProgressed,
    DraftFound,
    DraftsDone,
    FindDrafts,
    HubFailed,
    JudgeModels,
    ModelJudged,
    ModelsFound,
    OpenRepository,
    Question,
    RepositoryOpened,
    SearchHub,
)
from app.library.hub_shapes import HubFault
from engine_bridge.gguf_window import GgufError

_TELL_EVERY_S = 0.2
Tell = Callable[[Answer], None]


def answer(question: Question, hub: Hub, tell: Tell) -> None:
    """Answer ``question``; blocks, and tells what is wrong as an answer."""
    try:
        match question:
            case SearchHub():
                _search(question, hub, tell)
            case OpenRepository():
                tell(RepositoryOpened(hub.repository(question.repo)))
            case JudgeModels():
                for model in question.models:
                    judged = judge(
                        hub, question.repository, model, question.config, question.running
                    )
                    tell(ModelJudged(judged))
            case DownloadFiles():
                tell(DownloadDone(_download(question, hub, tell)))
            case FindDrafts():
                search = DraftSearch(hub, os.fsdecode(question.target))
                tell(DraftsDone(search.run(lambda draft: tell(DraftFound(draft)))))
    except HubError as error:
        tell(HubFailed(error.kind, str(error), error.wait_s))
    except GgufError as error:
        tell(HubFailed(HubFault.DAMAGED, str(error)))


def _search(question: SearchHub, hub: Hub, tell: Tell) -> None:
    wanted = question.words, question.sort, question.filters
    for found in hub.look(*wanted, after=question.after):
        tell(ModelsFound(found))


def _download(question: DownloadFiles, hub: Hub, tell: Tell) -> tuple[str, ...]:
    size = sum(file.size_bytes for file in question.files)
    told_s, before = 0.0, 0
    paths = []
    for file in question.files:

        def told(here_bytes: int, is_checking: bool, before: int = before) -> None:
            nonlocal told_s
            now_s = time.monotonic()
            if is_checking or now_s - told_s >= _TELL_EVERY_S:
                told_s = now_s
                tell(DownloadProgressed(before + here_bytes, size, is_checking))

        job = Download(hub, question.repo, question.commit, file)
        told(job.here_bytes, False)
        paths.append(str(job.run(told)))
        before += file.size_bytes
    return tuple(paths)


def main() -> NoReturn:
    """Answer the first line of standard input; the end of the input ends the process."""
    question = msgspec.json.decode(sys.stdin.buffer.readline(), type=Question)
    threading.Thread(target=_end_with_input, daemon=True).start()
    answer(question, Hub(), _write)
    os._exit(0)  # the thread that waits for the end of the input would keep the interpreter


def _end_with_input() -> None:
    while sys.stdin.buffer.readline():
        pass
    os._exit(0)


def _write(said: Answer) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
