"""Answers to the questions about the PHQ-8's items."""
