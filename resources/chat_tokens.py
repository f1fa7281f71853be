"""Sizes and scales of the chat, beside the general tokens."""

from __future__ import annotations

# About 100 characters of 12 px text: wider lines are hard to follow back.
COLUMN_MAX_PX = 760
# Fixed so that a tab does not move its neighbours when its mark changes.
TAB_WIDTH_PX = 168
TAB_MIN_WIDTH_PX = 96
COMPOSER_MAX_LINES = 8
SYSTEM_PROMPT_LINES = 4
# Of what is attached to a draft: the conversation above keeps its room.
SHELF_MAX_PX = 200

# Heading sizes relative to the body text, by level from 1.
HEADING_SCALES = (1.3, 1.15, 1.05, 1.0, 1.0, 1.0)
LIST_INDENT_PX = 22
QUOTE_BAR_PX = 2
CARET_WIDTH_PX = 6
"""The mark at the end of text that still grows."""
