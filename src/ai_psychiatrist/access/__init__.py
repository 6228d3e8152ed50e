"""Who calls: keys, tokens, sessions, limits, and the trail of what they did."""
