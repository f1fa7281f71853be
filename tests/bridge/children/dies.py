"""Dies in the way its first argument names: at the start, or in the middle of an answer."""

import ctypes
import os
import signal
import sys

from engine_bridge.protocol import Generate, Load, LoadProgressed
from tests.bridge.children.talk import commands, greet, say, started, tokens

how = sys.argv[1]
if how == "at start":
    sys.stderr.write("loading libraries\n")
    raise ImportError("libllama.so: cannot open shared object file")
greet()
for command in commands():
    if isinstance(command, Load):
        say(LoadProgressed(command.request_id, 0.25, "weights"))
    elif isinstance(command, Generate):
        say(started(command.request_id))
        say(tokens(command.request_id, "so far"))
    else:
        continue
    sys.stderr.write("ggml.c:1: GGML_ASSERT(n > 0) failed\n")
    sys.stderr.flush()
    # A message that death cuts short is no breach of the protocol.
    os.write(1, b'{"type":"tokens_del')
    if how == "segmentation fault":
        ctypes.string_at(0)
    elif how == "abort":
        os.abort()
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        os._exit(int(how))
