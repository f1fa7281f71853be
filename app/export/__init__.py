"""Command lines for other engines, one dialect a file."""
