"""Closes its ears after the greeting and stays."""

import os
import signal

from tests.bridge.children.talk import greet

os.close(0)
greet()
signal.pause()
