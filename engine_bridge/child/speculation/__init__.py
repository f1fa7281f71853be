"""Drafters, one a file, behind one interface."""
