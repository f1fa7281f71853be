"""What can be tuned: one row per setting, the rules between them, the cost of a change."""
