"""The process that works for another one: calls come in at standard input, results go out.

It ends when nothing came for a while, and with it what it remembers of texts.
"""

import os
import pickle
import select
import struct
import sys
from typing import Final

IDLE_SECONDS: Final = 60.0
_NICENESS: Final = 10
"""Whoever answers requests goes first where cores are few."""
LENGTH: Final = struct.Struct("<Q")
"""Stands before each message, in bytes."""


def main() -> None:
    """Work until the other process closes the line or has nothing to do."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What else writes to standard output must not come between the replies.
    os.dup2(2, 1)
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        head = requests.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return
        reply = _reply(requests.read(*LENGTH.unpack(head)))
        replies.write(LENGTH.pack(len(reply)))
        replies.write(reply)
        replies.flush()


def _reply(request: bytes) -> bytes:
    try:
        work, args = pickle.loads(request)  # noqa: S301  comes from this program
        outcome = True, work(*args)
    except Exception as error:  # noqa: BLE001  whatever it is, the other process raises it
        # What it came from does not go along, and would hold the text, as this frame holds it.
        error.__context__ = None
        outcome = False, error.with_traceback(None)
    return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
