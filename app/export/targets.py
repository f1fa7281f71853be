"""The engines that a configuration can be written for."""

from __future__ import annotations

from app.export import llama_serve, llama_server
from app.export.dialect import Dialect

# The first one is what the window shows unasked.
TARGETS: dict[str, Dialect] = {
    llama_serve.TARGET: llama_serve.export,
    llama_server.TARGET: llama_server.export,
}
