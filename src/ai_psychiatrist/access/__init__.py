"""Who calls: keys, tokens, sessions and limits."""
