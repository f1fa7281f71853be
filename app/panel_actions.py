"""Actions on the charts, the log and the chat template."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.actions import Actions

if TYPE_CHECKING:
    from app.window import Window

CHARTS, LOG = "Charts", "Log and template"
_ZOOM = 1.5


def add_panel_actions(actions: Actions, window: Window) -> None:
    """Add what is done in the panels of ``window``."""
    _add_chart_actions(actions, window)
    actions.add(
        "log.search", "Search the log", "Ctrl+J, F", partial(_search_log, window), LOG, words="find"
    )
    actions.add(
        "diagnostics.save", "Save diagnostics…", "Ctrl+J, B", window.diagnostics.ask, LOG,
        words="report bug versions hardware",
    )  # fmt: skip
    actions.add(
        "template.show", "See, change and try the chat template…", "Ctrl+J, T",
        window.template_wiring.open, LOG, words="jinja prompt roles",
    )  # fmt: skip


def _add_chart_actions(actions: Actions, window: Window) -> None:
    live = window.live
    view = live.time_view
    for name, text, keys, slot in (
        ("pause", "Pause or follow the charts", "Ctrl+J, Space", live.toggle_pause),
        ("zoom_in", "Charts: a shorter time", "Ctrl+J, +", partial(view.zoom, 1 / _ZOOM)),
        ("zoom_out", "Charts: a longer time", "Ctrl+J, -", partial(view.zoom, _ZOOM)),
        ("reset", "Charts: the last two minutes", "Ctrl+J, 0", view.reset),
        ("change_before", "Charts: the change of settings before", "Ctrl+J, Left",
         partial(live.show_change, -1)),
        ("change_next", "Charts: the next change of settings", "Ctrl+J, Right",
         partial(live.show_change, 1)),
        ("png", "Save the charts as a picture (PNG)…", "Ctrl+J, E",
         partial(live.request_export, "png")),
        ("svg", "Save the charts as a drawing (SVG)…", "Ctrl+J, W",
         partial(live.request_export, "svg")),
        ("csv", "Save the figures of the charts (CSV)…", "Ctrl+J, F5",
         partial(live.request_export, "csv")),
    ):  # fmt: skip
        actions.add(f"charts.{name}", text, keys, slot, CHARTS, words="live export zoom history")


def _search_log(window: Window) -> None:
    window.docks.show("log")
    window.log.focus_search()
