"""How long tests wait for what they know will come."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 120.0
"""Ends only what hangs: on a busy machine everything comes late, and no test may fail of that.

It is shorter than the time limit of a test, so that the test can say what it waited for.
"""


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that another thread or process does.

    Raises `TimeoutError` when it never happens.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            msg = "what the test waits for did not happen"
            raise TimeoutError(msg)
        time.sleep(0.005)
