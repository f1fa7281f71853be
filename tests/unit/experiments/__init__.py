"""Experiments on an engine that is made up, with a clock of its own."""
