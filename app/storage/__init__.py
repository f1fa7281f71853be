"""What stays when the program ends: conversations, settings, layout. Holds no widget."""
