"""Models that reply with anything, and what has to hold whatever they reply."""
