"""Signed messages to addresses that callers name, once a job has ended."""
