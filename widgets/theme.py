"""The theme on a running application: stylesheet, palette, font, icons; follows dark and light.

Knows Qt and the tokens; the colours themselves stand in ``resources``.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt, Signal
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

THEMES = ("system", "dark", "light")
"""What a person can choose: the system's scheme, or one of them pinned."""
FONT_SCALES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)
"""Steps of the type's size, relative to the system's."""

_PINNED = {"dark": DARK, "light": LIGHT}
_IS_DRESSED = "tunedeck_is_dressed"


def apply_theme(app: QApplication, palette: Palette, font_scale: float = 1.0) -> None:
    """Make the whole application look like ``palette``.

    A change of colours alone restyles what can be seen; what is hidden follows when it is shown.

    Args:
        app: The application.
        palette: Colours.
        font_scale: Factor on the system's UI font, e.g. 1.5.
    """
    if not app.property(_IS_DRESSED):
        # The native styles of Windows and macOS paint over parts of a stylesheet.
        app.setStyle("Fusion")
        app.setProperty(_IS_DRESSED, True)
    font = ui_font(font_scale)
    if font != app.font():
        app.setFont(font)
    app.setPalette(_qt_palette(palette))
    sheet = stylesheet(font.pointSizeF())
    if sheet == app.styleSheet():
        _restyle_seen(app)
    else:
        # Qt polishes each widget once for a first stylesheet, and once for each of its ancestors
        # where one replaces another.
        app.setStyleSheet("")
        app.setStyleSheet(sheet)


def ui_font(font_scale: float = 1.0) -> QFont:
    """The system's UI font, so many times as large."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    if font.pointSizeF() <= 0:  # a platform that gives pixels
        font.setPointSizeF(font.pixelSize() * 72 / 96)
    font.setPointSizeF(font.pointSizeF() * font_scale)
    # Tabular figures everywhere: a number that changes must not move what is beside it.
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


class _Latecomers(QObject):
    """Restyles what was hidden during a change of colours, at the moment it is shown.

    Twenty conversations are thousands of widgets, nearly all of them hidden.
    """

    def restyle_seen(self, widget: QWidget) -> None:
        """Give ``widget`` and all below it the palette's colours, now or when they are shown."""
        if not widget.isVisible():
            widget.installEventFilter(self)
            return
        restyle(widget)
        for child in widget.children():
            # What is a window of its own is not seen with its parent.
            if isinstance(child, QWidget) and not child.isWindow():
                self.restyle_seen(child)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            watched.removeEventFilter(self)
            self.restyle_seen(watched)
        return False


def _restyle_seen(app: QApplication) -> None:
    latecomers = app.findChild(_Latecomers) or _Latecomers(app)
    for window in app.topLevelWidgets():
        latecomers.restyle_seen(window)


def palette_for(scheme: Qt.ColorScheme) -> Palette:
    """The palette that a colour scheme of the system asks for; dark where it says nothing."""
    return LIGHT if scheme == Qt.ColorScheme.Light else DARK


class TuneTheme(QObject):
    """The application's look: in step with the system's dark or light scheme, or pinned.

    Signals:
        palette_changed: The new ``Palette``; hand it to every ``set_palette``.
        mode_changed: One of ``THEMES`` (str) was chosen.
        font_scale_changed: The type's new size (float) relative to the system's.
    """

    palette_changed = Signal(object)
    mode_changed = Signal(str)
    font_scale_changed = Signal(float)

    def __init__(self, app: QApplication, font_scale: float = 1.0, mode: str = "system") -> None:
        """Apply the look now and follow the system from here on where nothing is pinned.

        Args:
            app: The application, also the parent.
            font_scale: Factor on the system's UI font.
            mode: One of ``THEMES``; anything else is taken for ``system``.
        """
        super().__init__(app)
        self._app = app
        self._font_scale = _bounded(font_scale)
        self._mode = mode if mode in THEMES else "system"
        self._palette = self._wanted_palette()
        apply_theme(app, self._palette, self._font_scale)
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def palette(self) -> Palette:
        """The colours in force."""
        return self._palette

    @property
    def mode(self) -> str:
        """One of ``THEMES``."""
        return self._mode

    @property
    def font_scale(self) -> float:
        """Size of the type relative to the system's."""
        return self._font_scale

    def set_mode(self, mode: str) -> None:
        """Follow the system, or pin a theme.

        Raises:
            ValueError: If ``mode`` is none of ``THEMES``.
        """
        if mode not in THEMES:
            raise ValueError(f"{mode!r} is none of {', '.join(THEMES)}.")
        if mode != self._mode:
            self._mode = mode
            self.use(self._wanted_palette())
            self.mode_changed.emit(mode)

    def set_font_scale(self, font_scale: float) -> None:
        """Make the type so many times as large as the system's, within the steps' bounds."""
        bounded = _bounded(font_scale)
        if bounded != self._font_scale:
            self._font_scale = bounded
            apply_theme(self._app, self._palette, bounded)
            self.font_scale_changed.emit(bounded)

    def step_font_scale(self, steps: int) -> None:
        """Go so many steps of ``FONT_SCALES`` up, or down."""
        nearest = min(range(len(FONT_SCALES)), key=lambda i: abs(FONT_SCALES[i] - self._font_scale))
        self.set_font_scale(FONT_SCALES[max(0, min(len(FONT_SCALES) - 1, nearest + steps))])

    def use(self, palette: Palette) -> None:
        """Change to ``palette`` until the system's scheme changes."""
        if palette == self._palette:
            return
        self._palette = palette
        apply_theme(self._app, palette, self._font_scale)
        self.palette_changed.emit(palette)

    def _wanted_palette(self) -> Palette:
        return _PINNED.get(self._mode) or palette_for(self._app.styleHints().colorScheme())

    def _on_scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        if self._mode == "system":
            self.use(palette_for(scheme))


def _bounded(font_scale: float) -> float:
    return max(FONT_SCALES[0], min(FONT_SCALES[-1], font_scale))


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
        if scale == 2:
            # For type twice as large on a usual screen: Qt enlarges no picture by itself.
            target.addPixmap(QPixmap(pixmap), mode)
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
