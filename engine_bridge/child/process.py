"""The engine as a process: pipes, the end of the window, good order at the end.

Knows file descriptors and what ends the process. Imported only once fd 1 is out of the way of C
code; see ``__main__``.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading

from engine_bridge.child import llama
from engine_bridge.child.inbox import Inbox, PipeReader
from engine_bridge.child.loop import EngineLoop
from engine_bridge.child.outbox import Outbox
from engine_bridge.child.planner_thread import PlannerThread
from engine_bridge.child.pulse import Pulse
from engine_bridge.child.template import TemplateError, TemplateRenderer
from engine_bridge.child.thread_deaths import end_with_any_thread
from engine_bridge.hardware.read_bandwidth import measure_peak_read


def serve(commands_fd: int, events_fd: int) -> None:
    """Run the engine between two pipes until it is told to shut down.

    Args:
        commands_fd: Where commands come from; its end is the end of this process, at once.
        events_fd: Where events go.
    """
    end_with_any_thread()
    renderer = TemplateRenderer()

    def leave() -> None:
        # The window is gone, and the main thread may be deep inside a load or a step: whatever is
        # in memory is of no use to anyone any more. Helpers end when their pipes do.
        os._exit(0)

    outbox = Outbox(events_fd, on_broken=leave)
    inbox = Inbox()
    loop = EngineLoop(inbox, outbox.put, renderer, measure_peak_read)
    planner = PlannerThread(outbox.put, is_busy=loop.is_busy, running=loop.running)
    loop.planner = planner

    pulse = Pulse(llama.STEPS.computed, outbox.put)
    pulse.start()
    reader = PipeReader(commands_fd, inbox.put, leave, outbox.put)
    loop.greet()
    reader.start()
    threading.Thread(target=_start_early, args=(renderer,), name="template", daemon=True).start()
    threading.current_thread().name = "loop"
    # What was imported stays for good: looking through it for garbage would hold a step up by as
    # long as twenty tokens take.
    gc.freeze()
    loop.run()
    planner.stop()
    pulse.stop()
    loop.close()
    renderer.close()
    outbox.close()


def _start_early(renderer: TemplateRenderer) -> None:
    """Have templates ready before the first conversation; what fails is said with that one."""
    with contextlib.suppress(TemplateError):
        renderer.start()
