"""What one engine is told, collected together with what becomes of each setting.

The dialects of engines that are not llama.cpp write their words here: a word and the answer for its
settings are said in one breath, so that neither is forgotten. Must not know any engine.
"""

from __future__ import annotations

from collections.abc import Iterable

from app.export.carried import Carried, not_carried, said, translated
from app.export.llama_flag import Situation
from engine_bridge.settings.config import EngineConfig
from engine_bridge.settings.table import BY_KEY


class Sheet:
    """The words of a command line, the settings they carry, and what to know of them.

    Attributes:
        situation: What is written: the configuration, what became of it, the model.
        words: The command line so far, without the program.
        answers: What becomes of the settings that were answered for so far.
        notes: What the user should know before running it, sentences.
    """

    def __init__(self, situation: Situation) -> None:
        """Start an empty sheet for ``situation``."""
        self.situation = situation
        self.words: list[str] = []
        self.answers: dict[str, Carried] = {}
        self.notes: list[str] = []

    @property
    def config(self) -> EngineConfig:
        """The configuration that is written."""
        return self.situation.config

    def is_moved(self, key: str) -> bool:
        """Whether the setting ``key`` has another value than a new desk's."""
        return bool(getattr(self.config, key) != BY_KEY[key].default)

    def flag(self, keys: str | Iterable[str], flag: str, *values: object) -> None:
        """``flag`` with its values goes onto the line and says ``keys``."""
        self.words += [flag, *map(str, values)]
        self.say(keys, flag)

    def bridging_flag(
        self, keys: str | Iterable[str], how: str, flag: str, *values: object
    ) -> None:
        """``flag`` with its values goes onto the line; ``how``, a sentence, begins with it."""
        self.words += [flag, *map(str, values)]
        self.bridge(keys, how)

    def say(self, keys: str | Iterable[str], word: str) -> None:
        """``word`` means the same as ``keys``, wherever it stands."""
        self._answer(keys, said(word))

    def bridge(self, keys: str | Iterable[str], how: str) -> None:
        """``how`` the engine is told of ``keys`` by a word that means something else."""
        self._answer(keys, translated(how))

    def leave(self, keys: str | Iterable[str], reason: str) -> None:
        """The engine is not told of ``keys``, for ``reason``."""
        self._answer(keys, not_carried(reason))

    def _answer(self, keys: str | Iterable[str], answer: Carried) -> None:
        for key in (keys,) if isinstance(keys, str) else keys:
            self.answers[key] = answer
