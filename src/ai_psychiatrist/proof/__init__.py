"""Certificates: what a result says in places and codes, so that others can derive it again."""
