"""Interviews that ask what is still unknown, led by protocols that are data."""
