"""The engine process. Never imports PySide6."""
