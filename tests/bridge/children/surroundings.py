"""Reports the environment it was given."""

import json
import os
import sys
from pathlib import Path

from engine_bridge.protocol import Logged
from tests.bridge.children.talk import commands, greet, say

greet()
facts = {
    "environment": dict(os.environ),
    "folder": str(Path.cwd()),
    "path": sys.path,
    "session": os.getsid(0),
    "pid": os.getpid(),
    "json_file": json.__file__,
}
say(Logged("info", json.dumps(facts)))
for _ in commands():
    pass
