"""Pictures of clouds, maps and firing patterns, drawn without a display."""
