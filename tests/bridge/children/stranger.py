"""Speaks another version of the protocol; ``other fields`` introduces itself differently, too."""

import sys

from tests.bridge.children.talk import commands, greet

if "other fields" in sys.argv:
    sys.stdout.write('{"type":"hello","protocol_version":99,"name":"the future"}\n')
    sys.stdout.flush()
else:
    greet(version=99)
for _ in commands():
    pass
