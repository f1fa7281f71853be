"""Tests of each view alone."""
