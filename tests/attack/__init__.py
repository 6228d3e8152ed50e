"""Hostile callers against the real server."""
