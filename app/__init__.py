"""Composition and use cases: knows everyone, known by no one."""
