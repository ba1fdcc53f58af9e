"""Map of the rooms (written at the end)."""
