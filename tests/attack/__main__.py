"""All that a hostile caller, file or model may do, against the real server on loopback.

`make attack` runs all of it and prints one table; on two cores it takes over half an hour, most of
it for the learned reader, to which every hostile text goes three times. Named parts run alone:
`python -m tests.attack crowds`. Ends with 1 when a bar is missed.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.attack.abandoned import attack_by_leaving, attack_full_server, attack_with_files
from tests.attack.crowds import attack_with_crowds
from tests.attack.replies import attack_with_costly_replies, attack_with_replies
from tests.attack.sent_files import attack_with_sent_files
from tests.attack.shapes import attack_with_shapes
from tests.attack.verdicts import Verdict

Verdicts = Iterator[Verdict]


def main() -> int:
    """Attack, print a line for each figure, and return the exit status."""
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        sys.stderr.write(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}\n")
        return 2
    began, missed = time.monotonic(), 0
    for name in wanted:
        _tell(f"--- {name}, after {time.monotonic() - began:.0f} s")
        with tempfile.TemporaryDirectory() as folder:
            for verdict in PARTS[name](Path(folder)):
                missed += not verdict.is_met
                _tell(str(verdict))
    _tell(f"--- {missed} bars missed in {time.monotonic() - began:.0f} s")
    return 1 if missed else 0


def _connections(folder: Path) -> Verdicts:
    """Hold connections, and meanwhile do what takes no time of the processor."""
    with _campaign("connections") as connections:
        yield from attack_by_leaving()
        yield from attack_full_server()
        yield from attack_with_files(folder)
        with _campaign("stopping") as stopping:
            pass
        yield from stopping.verdicts("requests lost at SIGTERM")
    yield from connections.verdicts("connections held, and /healthz beside them")


def _campaigns(_folder: Path) -> Verdicts:
    with _campaign("generated_requests") as requests:
        with _campaign("configuration") as configuration:
            pass
        with _campaign("files") as files:
            pass
    with _campaign("schemathesis_requests") as schemathesis:
        pass
    yield from requests.verdicts("findings in generated requests")
    yield from schemathesis.verdicts("findings in requests of schemathesis")
    yield from configuration.verdicts("hostile configuration files")
    yield from files.verdicts("hostile transcript files")


PARTS: Final[dict[str, Callable[[Path], Verdicts]]] = {
    "shapes": attack_with_shapes,
    "replies": lambda _: attack_with_replies(),
    "costly_replies": lambda _: attack_with_costly_replies(),
    "crowds": lambda _: attack_with_crowds(),
    "sent_files": lambda _: attack_with_sent_files(),
    "connections": _connections,
    "campaigns": _campaigns,
}


@dataclass(slots=True)
class _Campaign:
    """A module with a table of its own, once it has ended."""

    code: int = 0
    said: str = ""

    def verdicts(self, figure: str) -> Verdicts:
        """Print what it said, and yield its verdict."""
        _tell("".join(f"        {line}\n" for line in self.said.splitlines()).rstrip())
        measured = "0" if not self.code else "some"
        yield Verdict(figure=figure, measured=measured, bar="0", is_met=not self.code)


@contextmanager
def _campaign(module: str) -> Iterator[_Campaign]:
    """Run a module beside the block, and wait for its end."""
    campaign = _Campaign()
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.attack.{module}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield campaign
    campaign.said, _ = process.communicate()
    campaign.code = process.returncode


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
