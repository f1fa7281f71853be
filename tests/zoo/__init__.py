"""Tiny models, one of each kind that llama.cpp treats differently."""
