"""Work that outlives the request that asked for it, and the process that does it."""
