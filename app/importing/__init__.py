"""Commands and files of other programs, read as settings. Holds no widget."""
