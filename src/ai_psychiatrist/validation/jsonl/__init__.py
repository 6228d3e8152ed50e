"""Whole files of units: read line by line, checked, and written to typed outputs."""
