"""Assessments at rest: one folder a tenant, words sealed under a key for each subject."""
