"""Tokens of somebody else's identity provider, and whom they stand for."""
