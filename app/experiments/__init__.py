"""Workloads, measurements, comparisons, simulated users, tuning, quality and their history.

Holds no widget, and but for ``window_port`` no Qt: an experiment is a plain function that blocks in
a thread of its own and reaches an engine through a port, in the window as on the command line.
"""
