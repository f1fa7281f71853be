"""What a screen reader hears of a fader: the setting's own number and unit, not slider units."""

from __future__ import annotations

from typing import Any

import shiboken6
from PySide6.QtGui import QAccessible, QAccessibleValueInterface
from PySide6.QtWidgets import QAccessibleWidget

from widgets.fader import UNITS, Fader


class FaderSpeech(QAccessibleWidget, QAccessibleValueInterface):
    """A slider whose value is the setting's: 4096, said as ``4,096 tok``."""

    def __init__(self, fader: Fader) -> None:
        """Speak for ``fader``."""
        QAccessibleWidget.__init__(self, fader, QAccessible.Role.Slider)
        QAccessibleValueInterface.__init__(self)
        self._fader = fader

    def text(self, kind: QAccessible.Text) -> str:
        """The value with its unit; everything else as of any widget."""
        if kind == QAccessible.Text.Value:
            return self._fader.spoken()
        return super().text(kind)

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:  # noqa: ANN401  # Qt's void*
        """Qt asks here for what it may read and set values by."""
        if kind == QAccessible.InterfaceType.ValueInterface:
            # Both bases are objects of C++ with an address each; Qt wants that of the second.
            return shiboken6.VoidPtr(shiboken6.getCppPointer(self)[1])
        return super().interface_cast(kind)

    def currentValue(self) -> float:
        """The number at the handle; on words, which of them counted from 0."""
        scale, place = self._fader.scale, self._fader.place()
        if not scale.numbers:
            return place
        at = place - len(scale.before)
        if at <= 0:
            return scale.numbers[0]
        low = min(int(at), len(scale.numbers) - 1)
        high = min(low + 1, len(scale.numbers) - 1)
        return scale.numbers[low] + (scale.numbers[high] - scale.numbers[low]) * (at - low)

    def minimumValue(self) -> float:
        """The least number."""
        numbers = self._fader.scale.numbers
        return numbers[0] if numbers else 0.0

    def maximumValue(self) -> float:
        """The largest number."""
        scale = self._fader.scale
        return scale.numbers[-1] if scale.numbers else float(len(scale.stops) - 1)

    def minimumStepSize(self) -> float:
        """Stops are not evenly apart: none."""
        return 0.0

    def setCurrentValue(self, value: object) -> None:
        """Go to the stop nearest to ``value``, as a key would."""
        scale = self._fader.scale
        if isinstance(value, (int, float)):
            place = scale.place_of(value) if scale.numbers else float(value)
            self._fader.setValue(round(place) * UNITS)
