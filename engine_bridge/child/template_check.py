"""The thread on which chat templates are tried out for their reader.

It and its sandbox process start with the first check and are nobody else's, so that a template that
somebody is still writing never holds up an answer. Must not know what is tried.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable

from engine_bridge.child.loaded_source import LoadedSource
from engine_bridge.child.prompts import PromptSource
from engine_bridge.child.template import TemplateRenderer
from engine_bridge.child.template_trial import tried
from engine_bridge.protocol import CheckTemplate, Event, TemplateChecked


class TemplateChecker:
    """Answers the newest ``CheckTemplate``; those that it overtook get no answer.

    Args:
        lock: Held while a model's vocabulary is used.
        emit: Takes the answers; called on the checker's thread.
        make_renderer: Makes what renders; called once, with the first check.
    """

    def __init__(
        self,
        lock: threading.Lock,
        emit: Callable[[Event], None],
        make_renderer: Callable[[], TemplateRenderer] = TemplateRenderer,
    ) -> None:
        """Start nothing yet."""
        self._lock = lock
        self._emit = emit
        self._make_renderer = make_renderer
        self._changed = threading.Condition()
        self._next: tuple[CheckTemplate, PromptSource] | None = None
        self._is_closing = False
        self._thread: threading.Thread | None = None

    def check(self, command: CheckTemplate, source: PromptSource | None) -> None:
        """Try a template with the vocabulary of ``source``; None says that there is no model."""
        if source is None:
            sentence = "No model is loaded. Load one to try its chat template."
            self._emit(TemplateChecked(command.check_id, error=sentence))
            return
        with self._changed:
            self._next = (command, source)
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="template-check", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread and its process; waits for the renderings of one check at most."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _is_overtaken(self) -> bool:
        return self._is_closing or self._next is not None

    def _run(self) -> None:
        renderer = self._make_renderer()
        while (job := self._wait()) is not None:
            command, source = job
            try:
                loaded = LoadedSource(source, self._lock)
                answer = tried(command, loaded, renderer, self._is_overtaken)
            except Exception as error:
                traceback.print_exc()
                answer = TemplateChecked(command.check_id, error=_own_fault(error))
            if answer is not None:
                self._emit(answer)
        renderer.close()

    def _wait(self) -> tuple[CheckTemplate, PromptSource] | None:
        with self._changed:
            while self._next is None and not self._is_closing:
                self._changed.wait()
            job, self._next = self._next, None
            return None if self._is_closing else job


def _own_fault(error: Exception) -> str:
    return (
        f"The template could not be tried by a fault of TuneDeck ({type(error).__name__}: {error})."
        " The engine's output has the details; please report them."
    )
