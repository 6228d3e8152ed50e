"""Stored assessments, and what raters say of them."""
