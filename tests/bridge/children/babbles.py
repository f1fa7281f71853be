"""Says something that is no event, as its first argument names, and stays."""

import signal
import sys

from engine_bridge.protocol import encode
from tests.bridge.children.talk import greet, planned, say

NONSENSE = {
    "no json": b"llama_model_loader: loaded meta data\n",
    "empty line": b"\n",
    "unknown event": b'{"type":"weather","degrees":21}\n',
    "unknown field": b'{"type":"logged","level":"info","text":"x","colour":"red"}\n',
    "wrong type": b'{"type":"plan_ready","plan_id":"seven","plan":{}}\n',
    "no utf-8": b'{"type":"logged","level":"info","text":"\xff\xfe"}\n',
    "nul bytes": b"\0" * 4096 + b"\n",
    "deep nesting": b'{"type":"logged","level":"info","text":' + b"[" * 200_000 + b"\n",
}

kind = sys.argv[1]
if kind == "before greeting":
    say(planned(1))
else:
    greet()
    if kind == "endless line":
        for _ in range(100):
            sys.stdout.buffer.write(b"x" * (1 << 20))
    elif kind == "nonsense between events":
        good = encode(planned(1))
        sys.stdout.buffer.write(good + b"nonsense\n" + good)
    else:
        sys.stdout.buffer.write(NONSENSE[kind])
sys.stdout.buffer.flush()
signal.pause()
