"""Find, fetch and inspect models."""
