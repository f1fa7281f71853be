"""The engine process, which at its end writes down what its caches still hold.

``python -m tests.chaos.watched_child FILE``: the program itself but for the file, a JSON object:
``{"seq_pos_max": [highest position of every sequence, −1 for none], "slots": [tokens by the
books]}``; absent where no model was loaded at the end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from engine_bridge.child import __main__ as program


def main() -> None:
    """Serve as the engine does."""
    commands_fd, events_fd = program.take_pipes()

    from engine_bridge.child import loop, process  # noqa: PLC0415 - loads the library

    close = loop.EngineLoop.close

    def close_and_tell(self: loop.EngineLoop) -> None:
        engine = self._requests.engine
        if engine is not None:
            context, slots = engine.batcher.context, engine.batcher.slots
            told = {
                "seq_pos_max": [context.seq_pos_max(seq) for seq in range(context.sequences)],
                "slots": [slot.cached for slot in slots],
            }
            Path(sys.argv[1]).write_text(json.dumps(told))
        close(self)

    loop.EngineLoop.close = close_and_tell  # type: ignore[method-assign]
    process.serve(commands_fd, events_fd)


if __name__ == "__main__":
    main()
