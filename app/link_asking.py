"""Asks before a link of a model's making is opened, and opens only web pages."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget


def ask_to_open(window: QWidget, url: str) -> None:
    """Show the address and let the user decide."""
    target = QUrl(url)
    box = QMessageBox(window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    if target.scheme() not in ("http", "https"):
        box.setText(f"This link is no web page and is not opened:\n{url}")
        box.setStandardButtons(QMessageBox.StandardButton.Close)
    else:
        box.setText("The model wrote this link. Open it in your browser?")
        box.setInformativeText(url)
        box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.accepted.connect(lambda: QDesktopServices.openUrl(target))
    box.finished.connect(box.deleteLater)
    box.open()
