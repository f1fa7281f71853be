"""The one error of workloads."""

from __future__ import annotations


class WorkloadError(Exception):
    """A workload, or a text of it, that cannot be used; the message is a sentence for the user."""
