"""Starts a process of its own and says its number; ``orphan`` dies at once and leaves it."""

import os
import signal
import subprocess
import sys

from engine_bridge.protocol import Logged
from tests.bridge.children.talk import commands, greet, say

greet()
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
say(Logged("info", str(child.pid)))
if sys.argv[1] == "orphan":
    os.kill(os.getpid(), signal.SIGKILL)
for _ in commands():
    pass
child.kill()
child.wait()
