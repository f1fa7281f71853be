"""The engine process, but for one thing: it believes that memory suffices, whatever is asked for.

As where another program takes the memory between the question and the load: that it does not
suffice is found out by llama.cpp.
"""

from __future__ import annotations

from engine_bridge.child import __main__ as program


def main() -> None:
    """Serve as the engine does."""
    commands_fd, events_fd = program.take_pipes()

    from engine_bridge.child import engine, loader, process  # noqa: PLC0415 - loads the library
    from engine_bridge.child.memory_check import Checked  # noqa: PLC0415

    for module in (loader, engine):
        setattr(module, "check_memory", lambda *_, **__: Checked())  # noqa: B010
    process.serve(commands_fd, events_fd)


if __name__ == "__main__":
    main()
