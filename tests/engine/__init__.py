"""Tests of the engine on real and tiny models."""
