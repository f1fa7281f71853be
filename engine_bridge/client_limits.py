"""How much the window puts up with from its engine process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClientLimits:
    """Bounds of patience and memory.

    Attributes:
        turn_s: Longest time that events are handed out in one turn of the event loop.
        stall_after_s: Silence and idleness, with work to do, after which a hang is suspected.
        spin_after_s: The same while it computes without a word; a step that gets on says so.
        plan_deadline_s: A plan without an answer no longer holds back newer ones.
        grace_s: How long each step of a shutdown may take before a harder one follows.
        max_line_bytes: Longest message. A model's chat template, the largest part of any event,
            has some 100 KB.
        max_backlog_bytes: Unread messages kept; more means that the engine floods.
        max_unsent_bytes: Commands kept for an engine that does not read; more are refused.
    """

    turn_s: float = 0.008
    stall_after_s: float = 15.0
    spin_after_s: float = 120.0
    plan_deadline_s: float = 2.0
    grace_s: float = 1.0
    max_line_bytes: int = 8 << 20
    max_backlog_bytes: int = 64 << 20
    max_unsent_bytes: int = 64 << 20
