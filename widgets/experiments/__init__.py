"""The screens of experiments: dumb views of what was planned, runs, came out and is kept."""
