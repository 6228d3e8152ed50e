"""What the program answers through its public ways, frozen: see `python -m tests.golden --help`."""
