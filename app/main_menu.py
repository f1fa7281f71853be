"""The menu behind the button in the top bar, and the menu bar that macOS has at the screen's edge.

The button's holds the few actions that are not seen elsewhere, the bar all of them.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QToolButton, QWidget

from app.actions import Actions
from widgets.menu_button import forget_hover_after

_LINE = ""
_MAC_ROLES = {
    "app.quit": QAction.MenuRole.QuitRole,
    "help.about": QAction.MenuRole.AboutRole,
}
_IDS = (
    "help.actions", "experiments.show", _LINE,
    "chat.save_cache", "chat.load_cache", _LINE,
    "panel.conversations", "panel.tune", "panel.live", "panel.log", "panel.command", "panel.reset",
    _LINE,
    "theme.system", "theme.dark", "theme.light", _LINE,
    "text.larger", "text.smaller", "text.normal", _LINE,
    "template.show", "diagnostics.save", "help.keys", "help.about", "app.quit",
)  # fmt: skip


def attach_menu(button: QToolButton, actions: Actions) -> QMenu:
    """Give ``button`` the menu; what cannot be done is disabled anew each time it opens."""
    menu = QMenu(button)
    menu.setAccessibleName("Menu")
    menu.setToolTipsVisible(True)
    menu.aboutToShow.connect(partial(_fill, menu, actions))
    _fill(menu, actions)
    button.setMenu(menu)
    forget_hover_after(menu, button)
    return menu


def menu_bar(actions: Actions, window: QWidget) -> QMenuBar:
    """A menu for each group of actions; macOS takes it to the edge of the screen."""
    bar = QMenuBar(window)
    menus: dict[str, QMenu] = {}
    for action in actions.all():
        if action.id.startswith("set."):  # the tune column and the list have them
            continue
        entry = actions.qt_action(action.id)
        # "Quit" and "About" belong into the program's own menu; words like "settings" elsewhere
        # must not be taken there.
        entry.setMenuRole(_MAC_ROLES.get(action.id, QAction.MenuRole.NoRole))
        if action.group not in menus:
            menus[action.group] = bar.addMenu(action.group)
        menus[action.group].addAction(entry)
    return bar


def _fill(menu: QMenu, actions: Actions) -> None:
    menu.clear()
    for name in _IDS:
        if name == _LINE:
            menu.addSeparator()
            continue
        action = actions.action(name)
        reason = action.why_not()
        # The keys are words here: as a shortcut they would be heard twice.
        entry = menu.addAction(f"{action.text}\t{action.keys_text.split(' or ')[0]}")
        entry.setEnabled(not reason)
        if action.is_on is not None:
            entry.setCheckable(True)
            entry.setChecked(action.is_on())
        entry.setToolTip(reason)
        entry.triggered.connect(partial(_run, actions, name))


def _run(actions: Actions, name: str, _: bool = False) -> None:
    actions.run(name)
