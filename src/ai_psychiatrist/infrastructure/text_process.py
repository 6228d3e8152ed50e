"""The process that works on texts for another one: calls come in at standard input, results go out.

It ends when nothing came for a while, and with it what it remembers of texts.
"""

import os
import pickle
import select
import sys
from collections.abc import Callable
from typing import Final

IDLE_SECONDS: Final = 60.0
_NICENESS: Final = 10
"""The process that answers requests goes first where cores are few."""


def main() -> None:
    """Work until the other process closes the line or has nothing to do."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What else writes to standard output must not come between the replies.
    os.dup2(2, 1)
    while select.select([requests], [], [], IDLE_SECONDS)[0]:
        try:
            call = pickle.load(requests)  # noqa: S301  comes from this program
        except EOFError:
            return
        reply = _reply(*call)
        # Nothing of a text is held while the next call is waited for.
        del call
        replies.write(reply)
        replies.flush()
        del reply


def _reply(work: Callable[..., object], args: tuple[object, ...]) -> bytes:
    try:
        outcome = True, work(*args)
    except Exception as error:  # noqa: BLE001  whatever it is, the other process raises it
        # What it came from does not go along, and would hold the text, as this frame holds it.
        error.__context__ = None
        outcome = False, error.with_traceback(None)
    return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
