"""Small programs that stand in for the engine process, each with one habit."""
