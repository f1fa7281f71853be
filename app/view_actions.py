"""Actions on the window itself: panels, focus, theme, size of the type, help."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING

from app.actions import Actions

if TYPE_CHECKING:
    from app.window import Window

PANELS, VIEW, HELP = "Panels", "View", "Help and program"
# Letters that stand for the panels after Ctrl+J; with Shift the keyboard goes there.
_LETTERS = {"conversations": "L", "tune": "U", "live": "I", "log": "G", "command": "M"}


def add_view_actions(actions: Actions, window: Window) -> None:
    """Add what is done with ``window`` itself."""
    for name in window.docks.names():
        _add_panel(actions, window, name)
    _add_layout_actions(actions, window)
    _add_theme_actions(actions, window)
    _add_help_actions(actions, window)


def _add_panel(actions: Actions, window: Window, name: str) -> None:
    title = window.docks.title(name)
    letter = _LETTERS[name]
    actions.add(
        f"panel.{name}", f"Show or hide: {title}", f"Ctrl+J, {letter}",
        partial(window.toggle_panel, name), PANELS, words="dock column close open",
        is_on=partial(window.is_panel_shown, name),
    )  # fmt: skip
    actions.add(
        f"focus.{name}", f"Go to: {title}", f"Ctrl+J, Shift+{letter}",
        partial(window.go_to, name), PANELS, words="focus keyboard",
    )  # fmt: skip


def _add_layout_actions(actions: Actions, window: Window) -> None:
    def why_no_menu() -> str:
        return "" if window.docks.of_focus() else "The keyboard is in no panel: F6 goes to one."

    actions.add(
        "focus.top", "Go to: Top bar", "Ctrl+J, Shift+O", partial(window.go_to, "top"), PANELS,
        words="focus keyboard",
    )  # fmt: skip
    actions.add(
        "focus.chat", "Go to: Message", "Ctrl+J, Shift+E", partial(window.go_to, "chat"), PANELS,
        words="focus keyboard composer chat",
    )  # fmt: skip
    actions.add(
        "focus.next", "Go to the next part of the window", "F6",
        partial(window.areas.step, 1), PANELS, words="focus keyboard",
    )  # fmt: skip
    actions.add(
        "focus.previous", "Go to the part before", "Shift+F6",
        partial(window.areas.step, -1), PANELS, words="focus keyboard",
    )  # fmt: skip
    actions.add(
        "panel.menu", "Move or close the panel with the keyboard…", "Ctrl+J, P",
        window.docks.menu_of_focus, PANELS, why_not=why_no_menu, words="dock float",
    )  # fmt: skip
    actions.add(
        "panel.reset", "Reset the layout", "Ctrl+J, Backspace", window.reset_layout, PANELS,
        words="docks default panels",
    )  # fmt: skip


def _add_theme_actions(actions: Actions, window: Window) -> None:
    look = window.look
    for number, (mode, text) in enumerate(
        (
            ("system", "Theme: as the system"),
            ("dark", "Theme: dark"),
            ("light", "Theme: light"),
        ),
        start=1,
    ):
        actions.add(
            f"theme.{mode}", text, f"Ctrl+J, {number}", partial(look.set_mode, mode), VIEW,
            why_not=look.why_not, words="colours night day", is_on=partial(look.is_mode, mode),
        )  # fmt: skip
    for name, text, keys, slot in (
        ("larger", "Larger text", ("Ctrl++", "Ctrl+="), partial(look.step_font_scale, 1)),
        ("smaller", "Smaller text", ("Ctrl+-",), partial(look.step_font_scale, -1)),
        ("normal", "Text in the system's size", ("Ctrl+0",), look.reset_font_scale),
    ):
        actions.add(
            f"text.{name}", text, keys, slot, VIEW, why_not=look.why_not, words="font zoom size"
        )


def _add_help_actions(actions: Actions, window: Window) -> None:
    actions.add(
        "help.actions", "Everything that can be done…", "Ctrl+K", window.help.show_actions, HELP,
        words="search commands palette list",
    )  # fmt: skip
    actions.add(
        "help.keys", "All keys…", "F1", window.help.show_keys, HELP, words="shortcuts keyboard help"
    )
    actions.add(
        "help.about",
        "About TuneDeck…",
        "Shift+F1",
        partial(_show_about, window),
        HELP,
        words="version",
    )
    actions.add("app.quit", "Quit", "Ctrl+Q", window.close, HELP, words="exit end")


def _show_about(window: Window) -> None:
    hello = window.desk.hello
    binding = hello.binding_version if hello else "is not running"
    window.help.show_about(
        [("TuneDeck", metadata.version("tunedeck")), ("Engine: llama-cpp-python", binding)]
    )
