"""Readers of this machine, one source a file; None where a source is absent."""
