"""The look of menus, lists, tables, tabs and bars, as rules of a stylesheet."""

from __future__ import annotations

from resources.inks import Inks
from resources.tokens import CONTROL_RADIUS_PX, STEP_PX


def view_rules(p: type[Inks]) -> str:
    """The rules, in the colours of ``p``."""
    return f"""
QMenu {{ background: {p.raised}; border: 1px solid {p.line}; padding: {STEP_PX}px; }}
QMenu::item {{ padding: {STEP_PX}px {4 * STEP_PX}px; border-radius: {STEP_PX}px; }}
QMenu::item:selected {{ background: {p.accent}; color: {p.on_accent}; }}
QMenu::item:disabled {{ color: {p.muted}; background: transparent; }}
QMenu::separator {{ background: {p.line}; height: 1px; margin: {STEP_PX}px; }}
QTreeView, QListView, QTableView {{
    background: {p.panel}; border: 1px solid {p.line}; border-radius: {CONTROL_RADIUS_PX}px;
    selection-background-color: {p.accent}; selection-color: {p.on_accent}; outline: none;
}}
QTreeView:focus, QListView:focus, QTableView:focus {{ border-color: {p.accent}; }}
QListView[role="bare"], QTreeView[role="bare"], QTableView[role="bare"] {{
    background: transparent; border: none; outline: none;
}}
QTableView[role="bare"] {{ selection-background-color: transparent; }}
QTreeView::item {{ padding: {STEP_PX // 2}px 0; }}
QHeaderView {{ background: {p.panel}; }}
QHeaderView::section {{
    color: {p.muted}; background: {p.panel}; border: none; border-bottom: 1px solid {p.line};
    padding: {STEP_PX}px {2 * STEP_PX}px;
}}
QTabWidget::pane {{ border: none; }}
QTabBar {{ qproperty-drawBase: 0; }}
QTabBar::tab {{
    color: {p.muted}; background: transparent; border: none;
    border-bottom: 2px solid transparent; padding: {STEP_PX + 2}px {4 * STEP_PX}px;
}}
QTabBar[role="narrow"]::tab {{ padding: {STEP_PX + 2}px {2 * STEP_PX}px; }}
QTabBar::tab:hover {{ color: {p.text}; }}
QTabBar::tab:selected {{ color: {p.text}; border-bottom-color: {p.accent}; }}
QTabBar::tab:focus {{ color: {p.accent}; }}
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: {2 * STEP_PX}px; }}
QScrollBar:horizontal {{ height: {2 * STEP_PX}px; }}
QScrollBar::handle {{ background: {p.line}; border-radius: {STEP_PX}px; }}
QScrollBar::handle:vertical {{ min-height: {6 * STEP_PX}px; }}
QScrollBar::handle:horizontal {{ min-width: {6 * STEP_PX}px; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::handle:enabled:hover {{ background: {p.muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QProgressBar {{
    background: {p.line}; border: none; border-radius: {STEP_PX // 2}px;
    max-height: {STEP_PX}px; min-height: {STEP_PX}px;
}}
QProgressBar::chunk {{ background: {p.accent}; border-radius: {STEP_PX // 2}px; }}
"""
