"""Rules are read in threads: what the process does with warnings stays as it is meanwhile."""

import threading
import warnings

from ai_psychiatrist.validation.expressions.syntax import parse_expression


def test_reading_a_rule_changes_no_filter_of_the_process() -> None:
    filters, seen, is_done = warnings.filters, set[int](), threading.Event()

    def watch() -> None:
        while not is_done.is_set():
            seen.add(id(warnings.filters))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(2_000):
        parse_expression("score in (0, 1, 2) and len(quotes) > 0")
    is_done.set()
    watcher.join()
    assert seen == {id(filters)}
