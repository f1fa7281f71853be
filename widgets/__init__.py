"""Dumb views: data in, signals out; each usable alone in a test."""
