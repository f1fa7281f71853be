"""What the desk must survive: kills, hangs, mutated files, stalls, full disks; ``make chaos``."""
