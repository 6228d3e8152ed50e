"""Hostile input of one caller, which must not cost the others."""
