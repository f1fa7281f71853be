"""Colours, fonts, icons, prompts. No logic."""
