"""What replies of a quarter of a megabyte, made to cost, do to a server that reads 64 at once.

Each round is a server of its own. The control makes the same assessments of good replies: what the
health waits there is the price of 64 assessments, and the rest that of the replies.
"""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from typing import Final

from tests.attack.costly_replies import COSTLIEST
from tests.attack.hostile_server import EVERY_COSTLY, WIRES, HostileServer, model_settings
from tests.attack.replies import AT_ONCE, Burst, assessed_at_once

from benchmarks.run_throughput import fake_server

CONTROL: Final = "good replies"
KINDS: Final = (CONTROL, *COSTLIEST, EVERY_COSTLY)
_WIRE: Final = WIRES[0]


def bursts(kind: str, rounds: int) -> list[Burst]:
    """Return what a kind of reply did in each round."""
    with ExitStack() as opened:
        if kind == CONTROL:
            url = opened.enter_context(fake_server(0))
        else:
            hostile = opened.enter_context(HostileServer(_WIRE, has_bombs=False))
            hostile.choose(kind)
            url = hostile.url
        return [assessed_at_once(model_settings(_WIRE, url)) for _ in range(rounds)]


def format_row(kind: str, runs: Sequence[Burst]) -> str:
    """Return a line of the table: medians, and the longest wait of all rounds."""
    waits = [run.waited_milliseconds for run in runs]
    return (
        f"| {kind} | {median(waits):.0f} | {max(waits):.0f} "
        f"| {max(run.control_milliseconds for run in runs):.0f} "
        f"| {max(run.megabytes for run in runs):.0f} "
        f"| {median(run.left_megabytes for run in runs):.0f} "
        f"| {median(run.seconds for run in runs):.1f} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="costly_replies", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    options = parser.parse_args(arguments)
    print(
        f"| {AT_ONCE} assessments, replies | /healthz at worst, ms, median | of all rounds "
        "| a server that does nothing | peak, MB | afterwards | s |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for kind in options.kinds:
        print(format_row(kind, bursts(kind, options.rounds)), flush=True)


if __name__ == "__main__":
    main()
