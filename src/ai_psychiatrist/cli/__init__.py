"""The command line: parse arguments, call one function, print."""

from ai_psychiatrist.cli.app import main

__all__ = ["main"]
