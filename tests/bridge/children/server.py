"""In place of llama-server: behaves as its first argument names, at the port behind ``--port``."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

how = sys.argv[1]
port = int(sys.argv[sys.argv.index("--port") + 1])


def say(words: str) -> None:
    sys.stderr.write(f"{words}\n")
    sys.stderr.flush()


class Handler(BaseHTTPRequestHandler):
    """Serves a health, and perhaps something else."""

    def do_GET(self) -> None:
        if self.path == "/health":
            status = {"loading": 503, "other": 404}.get(how, 200)
            self.answer(status, b"{}")
        else:
            self.answer(200, json.dumps({"data": [{"id": "toy", "object": "model"}]}).encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if how == "dies asked":
            say("GGML_ASSERT(asked) failed")
            os._exit(3)
        self.answer(200, b"<html>Welcome</html>", "text/html")

    def answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of it."""


say(f"variables: {sorted(name for name in os.environ if name.startswith('LLAMA'))}")
if how == "dies":
    say("error: no such model")
    sys.exit(1)
if how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "clings":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how in ("mute", "garbage"):
    with socket.create_server(("127.0.0.1", port)) as listening:
        say("listening")
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                if how == "garbage":
                    connection.sendall(b"220 mail.example ESMTP\r\n")
else:
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    say("listening")
    server.serve_forever()
