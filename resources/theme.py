"""The look as a Qt stylesheet and as colours by palette role, built from the tokens.

Knows Qt's names as text only, so that it can be tested, and read, without Qt. Widgets ask for a
look by the dynamic property ``role``; the roles are the keys of the rules here and in view_rules.
"""

from __future__ import annotations

import math
from pathlib import Path

from resources.inks import Inks
from resources.luminance import channels, relative_luminance
from resources.tokens import (
    CONTROL_RADIUS_PX,
    FIGURE_SCALE,
    MONO_FAMILIES,
    PANEL_RADIUS_PX,
    SMALL_SCALE,
    STEP_PX,
    Palette,
)
from resources.view_rules import view_rules

# Pixels of a line of text per point of its size; no UI font takes more.
_LINE_PX_PER_PT = 1.65
# WCAG 2.2: what graphics need to be told from their ground.
_GRAPHIC_RATIO = 3.0
_MONO = ", ".join(f'"{family}"' for family in MONO_FAMILIES)
ICONS = Path(__file__).parent / "icons"
# A stylesheet cannot colour an icon: this grey can be told from the fields of every palette.
_CHEVRON = (ICONS / "chevron-down-grey.svg").as_posix()
_TICK = (ICONS / "tick-grey.svg").as_posix()


def mixed(colour: str, other: str, share: float) -> str:
    """``colour`` with ``share`` (0 to 1) of ``other`` in it, as ``#RRGGBB``."""
    pairs = zip(channels(colour), channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)


def contrast_ratio(colour: str, other: str) -> float:
    """Contrast of two colours, 1 to 21 (WCAG 2.2)."""
    lighter, darker = sorted((relative_luminance(colour), relative_luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def faded(colour: str, other: str, share: float, ground: str) -> str:
    """``colour`` with at most ``share`` of ``other`` in it, and still told from ``ground`` (3:1).

    A colour that cannot be told from ``ground`` by itself comes back as it is.
    """
    steps = range(round(share * 100), -1, -1)
    tints = (mixed(colour, other, step / 100) for step in steps)
    return next((tint for tint in tints if contrast_ratio(tint, ground) >= _GRAPHIC_RATIO), colour)


def selected_ground(palette: Palette) -> str:
    """Behind a chosen row that keeps its own ink: explanations can still be read on it."""
    return mixed(palette.panel, palette.accent, 0.14)


def found_ground(palette: Palette) -> str:
    """Behind words that a search found; their ink is ``text``."""
    return mixed(palette.panel, palette.accent, 0.3)


def palette_roles(palette: Palette) -> dict[str, str]:
    """Colours by the name of ``QPalette.ColorRole``.

    The stylesheet names colours by these roles only, so that a change of theme is a change of the
    palette: to give Qt another stylesheet costs ten times as much, hidden widgets included. Roles
    that nothing of this program is painted with carry the colours that Qt has no role for.
    """
    p = palette
    raised = p.raised
    return {
        "Window": p.background,
        "WindowText": p.text,
        "Base": p.panel,
        "Button": raised,
        "Text": p.text,
        "ButtonText": p.text,
        "PlaceholderText": p.muted,
        "BrightText": p.warning,
        "Highlight": p.accent,
        "HighlightedText": p.on_accent,
        "Accent": p.accent,
        "Link": p.accent,
        "LinkVisited": p.good,
        "Mid": p.line,
        "ToolTipText": p.text,
        # Qt draws the icons of its own dialogs in black, whatever the theme.
        "ToolTipBase": max((raised, p.muted), key=relative_luminance),
        "AlternateBase": mixed(raised, p.accent, 0.25),
        "Midlight": mixed(raised, p.text, 0.06),
        "Light": mixed(raised, p.text, 0.12),
        "Dark": mixed(p.accent, p.text, 0.15),
        "Shadow": mixed(p.muted, p.panel, 0.4),
    }


def stylesheet(body_pt: float) -> str:
    """The stylesheet of the whole program, the same for every palette.

    Args:
        body_pt: Size of the system's UI font in points; the other sizes follow it.
    """
    p = Inks
    return "\n".join(
        (
            _text_rules(p, body_pt),
            _surface_rules(p),
            _button_rules(p, body_pt),
            _segment_rules(p),
            _badge_rules(p, body_pt),
            _field_rules(p),
            view_rules(p),
        )
    )


def _text_rules(p: type[Inks], body_pt: float) -> str:
    small = f"font-size: {body_pt * SMALL_SCALE:.2f}pt"
    mono = f"font-family: {_MONO}"
    return f"""
QWidget {{ color: {p.text}; }}
*[role="heading"], *[role="value"] {{ font-weight: 600; }}
*[role="value-warning"] {{ color: {p.warning}; font-weight: 600; }}
QLabel:disabled, *[role="value"]:disabled {{ color: {p.muted}; }}
QCheckBox:disabled {{ color: {p.faint}; }}
QCheckBox::indicator {{
    width: {3 * STEP_PX}px; height: {3 * STEP_PX}px; background: {p.raised};
    border: 1px solid {p.muted}; border-radius: {STEP_PX - 1}px;
}}
QCheckBox::indicator:checked {{ image: url("{_TICK}"); border-color: {p.accent}; }}
QCheckBox::indicator:disabled {{ background: transparent; border-color: {p.line}; }}
QCheckBox:focus::indicator {{ border-color: {p.accent}; }}
*[role^="figure"] {{ font-weight: 600; font-size: {body_pt * FIGURE_SCALE:.2f}pt; }}
*[role="muted"], *[role="figure-muted"] {{ color: {p.muted}; }}
*[role="hint"] {{ color: {p.muted}; {small}; }}
*[role="hint-warning"] {{ color: {p.warning}; {small}; }}
*[role="warning"] {{ color: {p.warning}; }}
*[role="good"] {{ color: {p.good}; }}
*[role="mono"] {{ {mono}; }}
*[role="mono-small"] {{ {mono}; {small}; }}
QToolTip {{
    color: {p.text}; background: {p.raised}; border: 1px solid {p.line};
    padding: {STEP_PX}px; {small};
}}
"""


def _surface_rules(p: type[Inks]) -> str:
    return f"""
QMainWindow, QDialog, *[role="background"] {{ background: {p.background}; }}
QFrame[role="panel"] {{
    background: {p.panel}; border: 1px solid {p.line}; border-radius: {PANEL_RADIUS_PX}px;
}}
QFrame[role="raised"] {{
    background: {p.raised}; border: 1px solid {p.line}; border-radius: {CONTROL_RADIUS_PX}px;
}}
QFrame[role="banner-error"], QFrame[role="banner-warning"] {{
    background: {p.panel}; border: 1px solid {p.warning}; border-radius: {PANEL_RADIUS_PX}px;
}}
QFrame[role="banner-info"] {{
    background: {p.panel}; border: 1px solid {p.line}; border-radius: {PANEL_RADIUS_PX}px;
}}
QFrame[role="sheet"] {{
    background: {p.panel}; border: 1px solid {p.muted}; border-radius: {PANEL_RADIUS_PX}px;
}}
QLabel[role="toast"] {{
    background: {p.panel}; border: 1px solid {p.muted}; border-radius: {PANEL_RADIUS_PX}px;
    padding: {2 * STEP_PX}px {3 * STEP_PX}px;
}}
QFrame[role="line"] {{ background: {p.line}; border: none; max-height: 1px; }}
QScrollArea, QScrollArea > QWidget > QWidget[role="scrolled"] {{
    background: transparent; border: none;
}}
ConversationScroll, QScrollArea[role="ringed"] {{
    border: 1px solid transparent; border-radius: {CONTROL_RADIUS_PX}px;
}}
ConversationScroll:focus, QScrollArea[role="ringed"]:focus {{ border-color: {p.accent}; }}
QSplitter::handle, QMainWindow::separator {{ background: {p.background}; }}
QMainWindow::separator {{ width: {2 * STEP_PX}px; height: {STEP_PX}px; }}
QMainWindow::separator:hover, QSplitter::handle:hover {{ background: {p.line}; }}
QDockWidget {{ color: {p.muted}; }}
"""


def _button_rules(p: type[Inks], body_pt: float) -> str:
    # A least height in a stylesheet goes before what the text needs: it has to grow with it.
    line_px = max(4 * STEP_PX, math.ceil(body_pt * _LINE_PX_PER_PT))
    # Here and not as a font of the widget, which would not follow type of another size.
    small = f"font-size: {body_pt * SMALL_SCALE:.2f}pt"
    return f"""
QPushButton, QToolButton {{
    color: {p.text}; background: {p.raised}; border: 1px solid {p.line};
    border-radius: {CONTROL_RADIUS_PX}px;
    padding: {STEP_PX}px {2 * STEP_PX + 2}px; min-height: {line_px}px;
}}
QPushButton:hover, QToolButton:hover {{ background: {p.hover}; }}
QPushButton:pressed, QToolButton:pressed, QPushButton:checked {{ background: {p.pressed}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {p.accent}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {p.faint}; background: transparent; }}
QPushButton[role="primary"] {{
    color: {p.on_accent}; background: {p.accent}; border-color: {p.accent}; font-weight: 600;
}}
QPushButton[role="primary"]:hover {{ background: {p.accent_hover}; }}
QPushButton[role="primary"]:focus {{ border: 2px solid {p.text}; padding: {STEP_PX - 1}px; }}
QPushButton[role="primary"]:disabled {{
    color: {p.muted}; background: {p.raised}; border-color: {p.line};
}}
QPushButton[role="choice"]:checked {{
    background: {p.chosen}; border-color: {p.accent}; font-weight: 600;
}}
QPushButton[role="choice"]:checked:focus {{ border: 2px solid {p.accent}; }}
QPushButton[role="flat"], QToolButton[role="flat"] {{
    background: transparent; border-color: transparent; padding: {STEP_PX // 2}px {STEP_PX}px;
}}
QPushButton[role="flat"]:hover, QToolButton[role="flat"]:hover {{ background: {p.raised}; }}
QPushButton[role="flat"]:focus, QToolButton[role="flat"]:focus {{ border-color: {p.accent}; }}
QPushButton[role="quiet"], QToolButton[role="quiet"] {{
    color: {p.muted}; background: transparent; border-color: transparent;
    padding: 0 {STEP_PX}px;
}}
QPushButton[role="quiet"] {{ {small}; }}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover {{
    color: {p.text}; background: {p.raised};
}}
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus {{ border-color: {p.accent}; }}
QPushButton[role="quiet"]:disabled {{ color: {p.faint}; background: transparent; }}
QPushButton[role^="link"] {{
    color: {p.accent}; background: transparent; border-color: transparent; text-align: left;
    padding: 0; min-height: 0;
}}
QPushButton[role^="link"]:hover {{ color: {p.text}; }}
QPushButton[role="link-small"] {{ {small}; }}
QPushButton[role^="link"]:focus {{ border-color: {p.accent}; }}
QPushButton[role="section"] {{
    background: transparent; border-color: transparent; font-weight: 600; text-align: left;
    padding: {STEP_PX // 2}px 0; margin-left: -{STEP_PX}px;
}}
QPushButton[role="section"]:hover {{ color: {p.accent}; }}
QPushButton[role="section"]:focus {{ border-color: {p.accent}; }}
QPushButton[role="value-menu"] {{
    background: transparent; border-color: transparent; border-radius: {STEP_PX}px;
    font-weight: 600; text-align: right; min-height: 0;
    padding: 0 {7 * STEP_PX + 1}px 0 {STEP_PX // 2}px;
}}
QPushButton[role="value-menu"]:hover {{ border-color: {p.line}; }}
QPushButton[role="value-menu"]:focus {{ border-color: {p.accent}; }}
QPushButton[role="menu"] {{
    text-align: left; padding: {STEP_PX}px {6 * STEP_PX}px {STEP_PX}px {2 * STEP_PX + 2}px;
}}
TopBar > QToolButton {{ qproperty-iconSize: {min(line_px, 6 * STEP_PX)}px; }}
Composer QPushButton[role="flat"] {{ qproperty-iconSize: {line_px}px; }}
QPushButton[role="quiet"], QPushButton[role="section"] {{
    qproperty-iconSize: {line_px * 3 // 4}px;
}}
QFileDialog QToolButton {{ background: {p.under_black}; padding: {STEP_PX // 2}px; }}
QFileDialog QToolButton:hover, QFileDialog QToolButton:pressed {{
    background: {p.accent};
}}
QFileDialog QToolButton:disabled {{ background: {p.pressed}; }}
QPushButton::menu-indicator, QToolButton::menu-indicator {{ image: none; width: 0; }}
"""


def _segment_rules(p: type[Inks]) -> str:
    radius = f"{CONTROL_RADIUS_PX}px"
    return f"""
*[role^="segment"] {{
    color: {p.muted}; background: {p.raised}; border: 1px solid {p.line}; border-radius: 0;
    padding: {STEP_PX // 2}px {STEP_PX}px;
}}
*[role="segment-middle"], *[role="segment-last"] {{ border-left: none; }}
*[role="segment-first"] {{
    border-top-left-radius: {radius}; border-bottom-left-radius: {radius};
}}
*[role="segment-last"] {{
    border-top-right-radius: {radius}; border-bottom-right-radius: {radius};
}}
*[role^="segment"]:hover {{ color: {p.text}; }}
*[role^="segment"]:checked {{
    color: {p.text}; background: {p.chosen}; font-weight: 600;
}}
*[role^="segment"]:checked:focus {{ border: 2px solid {p.accent}; }}
*[role^="segment"]:disabled {{ color: {p.faint}; }}
"""


def _badge_rules(p: type[Inks], body_pt: float) -> str:
    return f"""
QLabel[role="badge"], QLabel[role="badge-warning"] {{
    color: {p.muted}; border: 1px solid {p.line}; border-radius: {2 * STEP_PX - 1}px;
    padding: 0 {STEP_PX + 2}px; font-size: {body_pt * SMALL_SCALE:.2f}pt;
}}
QLabel[role="badge-warning"] {{ color: {p.warning}; border-color: {p.warning}; }}
QLabel[role="badge-warning"]:disabled {{ color: {p.muted}; border-color: {p.line}; }}
"""


def _field_rules(p: type[Inks]) -> str:
    return f"""
QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser, QSpinBox, QComboBox {{
    color: {p.text}; background: {p.raised}; border: 1px solid {p.line};
    border-radius: {CONTROL_RADIUS_PX}px; padding: {STEP_PX}px {2 * STEP_PX}px;
    selection-color: {p.on_accent}; selection-background-color: {p.accent};
}}
QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {{ placeholder-text-color: {p.muted}; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QTextBrowser:focus, QComboBox:focus {{
    border-color: {p.accent};
}}
QLineEdit[role="value"] {{
    background: transparent; border: 1px solid transparent; padding: 0 {STEP_PX // 2}px 0 0;
    border-radius: {STEP_PX}px;
}}
QLineEdit[role="value"]:hover {{ border-color: {p.line}; }}
QLineEdit[role="value"]:focus {{ background: {p.raised}; border-color: {p.accent}; }}
QLineEdit[wrong="true"], QComboBox[wrong="true"], QLineEdit[role="value"][wrong="true"] {{
    border-color: {p.warning};
}}
QPlainTextEdit[role="command"] {{
    background: transparent; border-color: transparent; padding: 0; font-family: {_MONO};
}}
QPlainTextEdit[role="command"]:focus {{ border-color: {p.accent}; }}
QTextEdit[role="bare"], QTextBrowser[role="bare"], QPlainTextEdit[role="bare"] {{
    background: transparent; border: none; padding: 0;
}}
QTextBrowser[role="bare-muted"] {{
    color: {p.muted}; background: transparent; border: none; padding: 0;
}}
QComboBox > QLineEdit {{
    background: transparent; border: none; border-radius: 0; padding: 0;
}}
QComboBox::drop-down {{
    subcontrol-origin: border; subcontrol-position: center right;
    width: {5 * STEP_PX}px; border: none;
}}
QComboBox::down-arrow {{
    image: url("{_CHEVRON}"); width: {3 * STEP_PX}px; height: {3 * STEP_PX}px;
}}
QComboBox QAbstractItemView {{
    background: {p.raised}; border: 1px solid {p.line}; outline: none;
    selection-background-color: {p.accent}; selection-color: {p.on_accent};
}}
"""
