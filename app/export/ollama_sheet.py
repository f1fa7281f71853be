"""What Ollama is told: variables of its server, and the lines of a Modelfile."""

from __future__ import annotations

from collections.abc import Iterable

from app.export.llama_flag import Situation
from app.export.modelfile import parameter
from app.export.sheet import Sheet

ENGINE = "Ollama"


class OllamaSheet(Sheet):
    """A sheet whose words are variables, instructions and parameters.

    Attributes:
        variables: Of the server, in the order in which they were said.
        instructions: Of the Modelfile, each with its value.
        parameters: Lines of the Modelfile behind the instructions.
    """

    def __init__(self, situation: Situation) -> None:
        """Start an empty sheet for ``situation``."""
        super().__init__(situation)
        self.variables: dict[str, str] = {}
        self.instructions: list[tuple[str, str]] = []
        self.parameters: list[str] = []

    def variable(self, keys: str | Iterable[str], name: str, value: object) -> None:
        """The variable ``name`` of the server says ``keys``."""
        self.variables[name] = str(value)
        self.say(keys, name)

    def bridging_variable(
        self, keys: str | Iterable[str], how: str, name: str, value: object
    ) -> None:
        """The same by a variable that means something else; ``how`` begins with it."""
        self.variables[name] = str(value)
        self.bridge(keys, how)

    def instruct(self, keys: str | Iterable[str], name: str, value: str) -> None:
        """The instruction ``name`` of the Modelfile says ``keys``."""
        self.instructions.append((name, value))
        self.say(keys, name)

    def parameter(self, keys: str | Iterable[str], name: str, value: object) -> None:
        """``PARAMETER name`` of the Modelfile says ``keys``."""
        self.parameters.append(parameter(name, value))
        self.say(keys, f"PARAMETER {name}")
