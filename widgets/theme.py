"""The theme on a running application: stylesheet, palette, font, icons; follows dark and light.

Knows Qt and the tokens; the colours themselves stand in ``resources``.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

from resources.theme import ICONS, mixed, palette_roles, stylesheet
from resources.tokens import DARK, LIGHT, MONO_FAMILIES, SMALL_SCALE, Palette


def apply_theme(app: QApplication, palette: Palette, font_scale: float = 1.0) -> None:
    """Make the whole application look like ``palette``.

    Args:
        app: The application.
        palette: Colours.
        font_scale: Factor on the system's UI font, e.g. 1.5.
    """
    if app.style().name() != "fusion":
        # The native styles of Windows and macOS paint over parts of a stylesheet.
        app.setStyle("Fusion")
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    if font.pointSizeF() <= 0:  # a platform that gives pixels
        font.setPointSizeF(font.pixelSize() * 72 / 96)
    font.setPointSizeF(font.pointSizeF() * font_scale)
    # Tabular figures everywhere: a number that changes must not move what is beside it.
    font.setFeature(QFont.Tag("tnum"), 1)
    app.setFont(font)
    app.setPalette(_qt_palette(palette))
    app.setStyleSheet(stylesheet(palette, font.pointSizeF()))


def palette_for(scheme: Qt.ColorScheme) -> Palette:
    """The palette that a colour scheme of the system asks for; dark where it says nothing."""
    return LIGHT if scheme == Qt.ColorScheme.Light else DARK


class TuneTheme(QObject):
    """Keeps the application's look in step with the system's dark or light scheme.

    Signals:
        palette_changed: The new ``Palette``; hand it to every ``set_palette``.
    """

    palette_changed = Signal(object)

    def __init__(self, app: QApplication, font_scale: float = 1.0) -> None:
        """Apply the system's scheme now and follow it from here on.

        Args:
            app: The application, also the parent.
            font_scale: Factor on the system's UI font.
        """
        super().__init__(app)
        self._app = app
        self._font_scale = font_scale
        self._palette = palette_for(app.styleHints().colorScheme())
        apply_theme(app, self._palette, font_scale)
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def palette(self) -> Palette:
        """The colours in force."""
        return self._palette

    def use(self, palette: Palette) -> None:
        """Change to ``palette`` until the system's scheme changes."""
        if palette == self._palette:
            return
        self._palette = palette
        apply_theme(self._app, palette, self._font_scale)
        self.palette_changed.emit(palette)

    def _on_scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        self.use(palette_for(scheme))


def set_role(widget: QWidget, role: str) -> None:
    """Give ``widget`` a role of the stylesheet (``hint``, ``value``, ``panel``, …)."""
    if widget.property("role") == role:
        return
    widget.setProperty("role", role)
    restyle(widget)


def restyle(widget: QWidget) -> None:
    """Make Qt look at the dynamic properties of ``widget`` again."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def small_font(font: QFont) -> QFont:
    """``font`` in the size of explanations."""
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * SMALL_SCALE)
    return small


def mono_font(font: QFont) -> QFont:
    """A monospace font of the size of ``font``."""
    mono = QFont(font)
    mono.setFamilies(list(MONO_FAMILIES))
    mono.setStyleHint(QFont.StyleHint.Monospace)
    return mono


def icon(name: str, colour: str, size_px: int = 16, faint_colour: str | None = None) -> QIcon:
    """An icon of ``resources/icons`` drawn in ``colour``, ``#RRGGBB``.

    Args:
        name: Of the file, without its suffix.
        colour: Of the lines.
        size_px: Width and height, in device-independent pixels.
        faint_colour: While disabled; None leaves that to the style.
    """
    result = QIcon()
    _draw_icon(result, name, colour, size_px, QIcon.Mode.Normal)
    if faint_colour is not None:
        _draw_icon(result, name, faint_colour, size_px, QIcon.Mode.Disabled)
    return result


def _draw_icon(target: QIcon, name: str, colour: str, size_px: int, mode: QIcon.Mode) -> None:
    svg = (ICONS / f"{name}.svg").read_bytes().replace(b"currentColor", colour.encode())
    renderer = QSvgRenderer(QByteArray(svg))
    for scale in (1, 2, 3):
        pixmap = QPixmap(QSize(size_px, size_px) * scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        pixmap.setDevicePixelRatio(scale)
        target.addPixmap(pixmap, mode)


def app_icon() -> QIcon:
    """The program's icon, in the sizes that task bars ask for."""
    renderer = QSvgRenderer(str(ICONS / "tunedeck.svg"))
    result = QIcon()
    for size_px in (16, 24, 32, 48, 64, 128, 256):
        pixmap = QPixmap(size_px, size_px)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        result.addPixmap(pixmap)
    return result


def _qt_palette(palette: Palette) -> QPalette:
    result = QPalette()
    for name, colour in palette_roles(palette).items():
        result.setColor(QPalette.ColorRole[name], QColor(colour))
    faint = QColor(mixed(palette.muted, palette.panel, 0.4))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, faint)
    return result
