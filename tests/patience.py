"""How long tests wait for what they know will come."""

import time
from collections.abc import Callable
from typing import Final

PATIENCE_SECONDS: Final = 120.0
"""Ends only what hangs: on a busy machine everything comes late, and no test may fail of that.

It is shorter than the time limit of a test, so that the test can say what it waited for.
"""
_LOOKS: Final = 20
"""In the time that was waited: so much later at most is seen what happened."""
_LEAST_SECONDS: Final = 0.005
_MOST_SECONDS: Final = 0.05


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that another thread or process does.

    To look costs time that the other needs: what takes long is looked at less often. Raises
    `TimeoutError` when it never happens.
    """
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        if waited > PATIENCE_SECONDS:
            msg = "what the test waits for did not happen"
            raise TimeoutError(msg)
        time.sleep(min(max(waited / _LOOKS, _LEAST_SECONDS), _MOST_SECONDS))
