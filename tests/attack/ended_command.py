"""The real command on hostile files: what it took until it ended, and what it said."""

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from tests.attack.memory import watching_memory
from tests.integration.command import COMMAND, environment_of

GIVEN_UP_SECONDS: Final = 20.0
_MOST_DATA: Final = 4 << 30
_MOST_SAID: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedCommand:
    """What one command used and said."""

    code: int | None
    """`None` when it was given up."""
    seconds: float
    """Of the processor: what others do on the machine is not counted."""
    waited_seconds: float
    megabytes: float
    """At a time, of the command and of all that it started."""
    out: str
    err: str


def ended_command(arguments: Sequence[str], folder: Path) -> EndedCommand:
    """Run the command in a folder with the rule baseline, and wait for its end."""
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err:
        started = time.monotonic()
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=folder,
            env=environment_of(folder, {"MODEL_DEFAULT": "baseline"}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MOST_DATA, _MOST_DATA))
        with watching_memory(process.pid) as peak:
            code, usage = _ended(process, started + GIVEN_UP_SECONDS)
        waited = time.monotonic() - started
        said = [_text_of(out), _text_of(err)]
    return EndedCommand(
        code=code,
        seconds=usage.ru_utime + usage.ru_stime,
        waited_seconds=waited,
        # Not the most that the system tells: that has in it what this process had at the fork.
        megabytes=peak.megabytes,
        out=said[0],
        err=said[1],
    )


def _text_of(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(_MOST_SAID).decode(errors="replace")


def _ended(
    process: "subprocess.Popen[bytes]", latest: float
) -> tuple[int | None, resource.struct_rusage]:
    while time.monotonic() < latest:
        found, status, usage = os.wait4(process.pid, os.WNOHANG)
        if found:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        time.sleep(0.01)
    process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None, usage
