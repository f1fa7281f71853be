"""Charts as figures (CSV): a row for each moment, a column for each series, changes in the last.

A limit has a column of its own with the same value in every row.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from widgets.charts.picture import Series
from widgets.charts.sheet import Sheet, scaled

# Moments closer than this are one row.
_DECIMALS_S = 3


def csv_bytes(sheets: Sequence[Sheet]) -> bytes:
    """Everything measured in the stretch, times as the time of day and as seconds since its begin.

    Args:
        sheets: Of the same stretch of time.

    Returns:
        UTF-8. A cell is empty where its series has no value at that moment.
    """
    columns = [(sheet, series) for sheet in sheets for series in sheet.picture.named()]
    cells = [_cells(sheet, series) for sheet, series in columns]
    said = _changes(sheets)
    moments = sorted(said.keys() | {time for column in cells for time in column})
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    names = [f"{sheet.title}: {series.name} [{sheet.unit.name}]" for sheet, series in columns]
    limited = [(sheet, limit) for sheet in sheets if (limit := sheet.picture.limit) is not None]
    names += [f"{sheet.title}: limit [{sheet.unit.name}]" for sheet, _ in limited]
    limits = [f"{limit.value * sheet.unit.per_value:.7g}" for sheet, limit in limited]
    writer.writerow(["time", "seconds", *names, "change"])
    if not sheets:
        return text.getvalue().encode()
    timeline = sheets[0].timeline
    for time in moments:
        day = timeline.day(time).isoformat(timespec="milliseconds")
        since_begin = f"{timeline.length_s + time:.{_DECIMALS_S}f}"
        figures = [column.get(time, "") for column in cells]
        writer.writerow([day, since_begin, *figures, *limits, said.get(time, "")])
    return text.getvalue().encode()


def _cells(sheet: Sheet, series: Series) -> dict[float, str]:
    """Figures of a series by the moment."""
    times = series.times_s.round(_DECIMALS_S)
    is_shown = np.isfinite(series.values) & (times >= -sheet.timeline.length_s) & (times <= 0)
    values = scaled(series.values[is_shown], sheet.unit)
    return {
        time: f"{value:.7g}"
        for time, value in zip(times[is_shown].tolist(), values.tolist(), strict=True)
    }


def _changes(sheets: Sequence[Sheet]) -> dict[float, str]:
    """What changed by the moment; all charts have the same changes."""
    said: dict[float, list[str]] = {}
    for marker in sheets[0].markers if sheets else ():
        said.setdefault(round(marker.at_s, _DECIMALS_S), []).extend(marker.text.splitlines())
    return {time: "; ".join(lines) for time, lines in said.items()}
