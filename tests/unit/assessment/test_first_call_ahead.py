"""Where a provider caches prefixes, an assessment's first call goes before all others."""
