"""Says nothing and never ends, as a process on a drive that does not answer."""

from __future__ import annotations

import threading

if __name__ == "__main__":
    threading.Event().wait()
