"""The trail of who saw, changed, exported and erased what: an append-only chain, without words."""
