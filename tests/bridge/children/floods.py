"""Sends as many events as its argument says, as fast as the pipe takes them."""

import sys

from engine_bridge.protocol import encode
from tests.bridge.children.talk import commands, finished, greet, tokens

greet()
for number in range(int(sys.argv[1])):
    sys.stdout.buffer.write(encode(tokens(1, f"{number} ")))
sys.stdout.buffer.write(encode(finished(1)))
sys.stdout.buffer.flush()
for _ in commands():
    pass
