"""Tests that need neither the engine nor a window."""
