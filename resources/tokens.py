"""The design tokens: every colour, size and font of the window, by role.

A colour, size or font literal outside ``resources`` fails a test.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours by role, ``#RRGGBB``.

    Attributes:
        name: ``dark`` or ``light``.
        background: Behind the panels.
        panel: Surface of a panel.
        raised: Fields, code blocks, hovered rows.
        line: Borders and grooves.
        text: Words and values.
        muted: Explanations, axes; at least 4.5:1 on panel.
        accent: What can be acted on.
        on_accent: Text on accent.
        warning: What needs a person.
        good: What is well.
        weights: Series: model weights.
        kv: Series: KV cache.
        compute: Series: compute buffers.
        draft: Series: drafts.
        others: Series: other programs.
        caches: Series: prompt caches; of KV's hue and far from its brightness.
    """

    name: str
    background: str
    panel: str
    raised: str
    line: str
    text: str
    muted: str
    accent: str
    on_accent: str
    warning: str
    good: str
    weights: str
    kv: str
    compute: str
    draft: str
    others: str
    caches: str

    @property
    def streams(self) -> tuple[str, ...]:
        """Colours of per-slot lines, in slot order, to be combined with line styles."""
        return (self.accent, self.kv, self.compute, self.draft, self.weights, self.warning)


DARK = Palette(
    "dark", "#12151A", "#191D24", "#222832", "#2C333F", "#E7EAF0", "#98A2B3", "#5AB0F2",
    "#0B1220", "#E8853A", "#3FBF8F", "#4C8FD6", "#E6A02E", "#2FA37C", "#C678A8", "#6B7585",
    "#8E6A30",
)  # fmt: skip
LIGHT = Palette(
    "light", "#F3F5F8", "#FFFFFF", "#F0F2F6", "#DADFE7", "#1B212B", "#5B6677", "#0A66C2",
    "#FFFFFF", "#B4510B", "#0B7A53", "#2C6FB7", "#B87503", "#12805C", "#A1487F", "#8B95A5",
    "#66470F",
)  # fmt: skip


# Grid, in device-independent pixels.
STEP_PX = 4
PANEL_GAP_PX = 8
PANEL_PADDING_PX = 12
PANEL_RADIUS_PX = 8
CONTROL_RADIUS_PX = 6
TUNE_WIDTH_PX = 330
LIVE_WIDTH_PX = 430
LIST_WIDTH_PX = 260
LOG_HEIGHT_PX = 220
# From this screen width on all four columns leave the conversation enough.
SHOW_LIST_FROM_PX = 1800
FOLD_BELOW_PX = 1200

# Type: sizes relative to the system's UI font, so that a larger system font scales all of it.
BODY_SCALE = 1.0
SMALL_SCALE = 11 / 12
# A figure that is read from where one chats.
FIGURE_SCALE = 15 / 12
MONO_FAMILIES = (
    "JetBrains Mono",
    "Cascadia Mono",
    "SF Mono",
    "Menlo",
    "DejaVu Sans Mono",
    "monospace",
)
