"""Actions on the live column and its charts, the log and the chat template."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.actions import Actions

if TYPE_CHECKING:
    from app.window import Window

CHARTS, LOG = "Charts", "Log and template"
_ZOOM = 1.5
# In the order of the pages: what a search may call them beside their names, and what they show.
_PAGES = (
    (
        "charts", "Charts", "live ttft tpot memory bandwidth history",
        "Memory, bandwidth, TTFT and TPOT over time, with limits and predictions",
    ),
    (
        "ceiling", "Ceiling", "live roofline mbu bandwidth compute bound peak",
        "How fast memory and compute let this model decode, and how far it is from that",
    ),
    (
        "room", "Room", "live memory ram vram kv what fits slots context",
        "How much still fits, what the slots hold, and memory by use",
    ),
)  # fmt: skip


def add_panel_actions(actions: Actions, window: Window) -> None:
    """Add what is done in the panels of ``window``."""
    _add_pages(actions, window)
    _add_chart_actions(actions, window)
    _add_limits(actions, window)
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


def _add_pages(actions: Actions, window: Window) -> None:
    # The digits behind those of the themes.
    for page, (name, title, words, meaning) in enumerate(_PAGES):
        actions.add(
            f"live.{name}", f"Live: show {title}", f"Ctrl+J, {page + 4}",
            partial(_show_page, window, page), CHARTS, words=words,
        )  # fmt: skip
        keys = actions.action(f"live.{name}").keys_text
        window.gauges.pages.explain(page, f"{meaning} ({keys}).")


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


def _add_limits(actions: Actions, window: Window) -> None:
    live = window.live
    for place, (name, keys) in enumerate((("TTFT", "F7"), ("TPOT", "F8"))):

        def why_none(place: int = place, name: str = name) -> str:
            return "" if live.limits[place] is not None else f"No limit of {name} is set."

        chart = (live.ttft, live.tpot)[place]
        # With Shift it goes, as by the keys of the chart itself.
        actions.add(
            f"charts.limit_{name.lower()}", f"Set the limit of {name}…", f"Ctrl+J, {keys}",
            partial(_ask_limit, window, place), CHARTS, words="goodput slo threshold",
        )  # fmt: skip
        actions.add(
            f"charts.no_limit_{name.lower()}", f"Take away the limit of {name}",
            f"Ctrl+J, Shift+{keys}", chart.take_limit_away, CHARTS, why_not=why_none,
            words="goodput slo threshold no remove",
        )  # fmt: skip


def _show_page(window: Window, page: int) -> None:
    window.show_live()
    window.gauges.pages.show_page(page)


def _ask_limit(window: Window, place: int) -> None:
    _show_page(window, 0)
    (window.live.ttft, window.live.tpot)[place].ask_limit()


def _search_log(window: Window) -> None:
    window.docks.show("log")
    window.log.focus_search()
