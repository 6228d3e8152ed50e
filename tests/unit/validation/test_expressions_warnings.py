"""Rules are read in threads: what the process does with warnings stays as it is meanwhile."""

import threading
import warnings

import pytest

from ai_psychiatrist.validation.expressions.errors import ExpressionRefused
from ai_psychiatrist.validation.expressions.syntax import parse_expression as read


def test_reading_a_rule_changes_no_filter_of_the_process() -> None:
    filters, seen, is_done = warnings.filters, set[int](), threading.Event()

    def watch() -> None:
        while not is_done.is_set():
            seen.add(id(warnings.filters))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(2_000):
        read("score in (0, 1, 2) and len(quotes) > 0")
    is_done.set()
    watcher.join()
    assert seen == {id(filters)}


@pytest.mark.parametrize("text", [r"'\d'", "1if score else 2", "1.if score else 2"])
def test_what_python_only_warns_of_is_refused(text: str) -> None:
    with pytest.raises(ExpressionRefused):
        read(text)
