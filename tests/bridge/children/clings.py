"""Refuses to leave: ``eof`` ignores the word, ``term`` the closed pipe too, ``kill`` all but that.

With ``slow`` it leaves when told, but takes its time.
"""

import signal
import sys
import time

from engine_bridge.protocol import Shutdown
from tests.bridge.children.talk import commands, greet

how = sys.argv[1]
if how == "kill":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
greet()
for command in commands():
    if how == "slow" and isinstance(command, Shutdown):
        time.sleep(0.3)
        sys.exit(0)
while how in ("term", "kill"):
    signal.pause()
