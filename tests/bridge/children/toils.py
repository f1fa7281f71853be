"""Computes for a while without a word, itself or (``descendant``) in a process of its own."""

import subprocess
import sys
import time

from engine_bridge.protocol import Generate
from tests.bridge.children.talk import commands, finished, greet, say, started

SECONDS = float(sys.argv[2])
TOIL = "import sys,time\nend=time.monotonic()+float(sys.argv[1])\nwhile time.monotonic()<end: pass"

greet()
for command in commands():
    if isinstance(command, Generate):
        say(started(command.request_id))
        if sys.argv[1] == "descendant":
            subprocess.run([sys.executable, "-c", TOIL, str(SECONDS)], check=True)
        else:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                pass
        say(finished(command.request_id))
