"""Starts the stand-in server as a trial does, says its number, and waits to be killed."""

import signal
import sys

from app.experiments.started_server import StartedServer

words = (sys.executable, "-m", "tests.bridge.children.server", *sys.argv[1:])
server = StartedServer(words, lambda line: None)
sys.stdout.write(f"{server.pid}\n")
sys.stdout.flush()
while True:
    signal.pause()
