"""Who calls: keys, tokens, sessions, limits, and the log of what they did."""
