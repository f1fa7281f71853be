"""Tests of the two processes and the wire between them."""
