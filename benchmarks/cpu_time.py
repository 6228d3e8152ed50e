"""The CPU time of a process and of those that work for it (Linux)."""

import os
from pathlib import Path


def cpu_seconds_of(pid: int) -> float:
    """Return user and system time of a process and its children, those that ended included."""
    process = Path(f"/proc/{pid}")
    fields = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    tasks = (process / "task").glob("*/children")
    children = [child for task in tasks for child in task.read_text(encoding="ascii").split()]
    return own + sum(cpu_seconds_of(int(child)) for child in children)
