"""Everything that talks to the engine or the hardware. No widget, ever."""
