"""Writes much to stderr, a line without end included, then behaves."""

import sys

from tests.bridge.children.talk import commands, greet

for number in range(5000):
    sys.stderr.write(f"line {number}\n")
sys.stderr.buffer.write(b"not utf-8: \xff\n")
sys.stderr.write("y" * 5_000_000 + "\n")
sys.stderr.write("the last line, unfinished")
sys.stderr.flush()
greet()
for _ in commands():
    pass
