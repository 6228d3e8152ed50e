"""How much a piece of work does, counted so that no clock decides."""

import sys
from collections.abc import Callable
from types import FrameType, FunctionType


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called, those that are written in C among them."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    _observed(work, note)
    return count


def characters_given(work: Callable[[], object], function: Callable[[str], str]) -> int:
    """Return how many characters a function of one text is given in all its calls."""
    assert isinstance(function, FunctionType)
    code = function.__code__
    count = 0

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code is code:
            count += len(frame.f_locals[code.co_varnames[0]])

    _observed(work, note)
    return count


def _observed(work: Callable[[], object], note: Callable[[FrameType, str, object], None]) -> None:
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
