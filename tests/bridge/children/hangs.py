"""Takes work and then waits for something that never comes; with ``start`` even before that."""

import signal
import sys

from engine_bridge.protocol import Generate, Logged
from tests.bridge.children.talk import commands, greet, say, started

if "start" in sys.argv:
    signal.pause()
greet()
for command in commands():
    if isinstance(command, Generate):
        say(started(command.request_id))
        # One signal wakes it, and it sleeps again.
        signal.signal(signal.SIGUSR1, lambda *_: say(Logged("info", "woken")))
        while True:
            signal.pause()
