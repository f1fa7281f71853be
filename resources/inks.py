"""The colours of the palette as the stylesheet spells them."""

from __future__ import annotations


class Inks:
    """The palette's roles as a stylesheet spells them."""

    background = "palette(window)"
    panel = "palette(base)"
    raised = "palette(button)"
    line = "palette(mid)"
    text = "palette(text)"
    muted = "palette(placeholder-text)"
    accent = "palette(highlight)"
    on_accent = "palette(highlighted-text)"
    warning = "palette(bright-text)"
    good = "palette(link-visited)"
    hover = "palette(midlight)"
    pressed = "palette(light)"
    accent_hover = "palette(dark)"
    faint = "palette(shadow)"
    chosen = "palette(alternate-base)"
    under_black = "palette(tooltip-base)"
