"""The first request finds everything built: nothing that other threads do can spoil it."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.running_app import client_of, settings_with


@contextmanager
def warnings_are_made_errors() -> Iterator[None]:
    """Let another thread make errors of warnings again and again, as it may for work of its own."""
    is_done = threading.Event()

    def change() -> None:
        while not is_done.is_set():
            warnings.simplefilter("error")

    changing = threading.Thread(target=change)
    with warnings.catch_warnings():
        changing.start()
        try:
            yield
        finally:
            is_done.set()
            changing.join()


def test_a_first_login_succeeds_whatever_is_done_with_warnings_meanwhile(tmp_path: Path) -> None:
    settings = settings_with(tmp_path / "state", MODEL_DEFAULT="baseline")
    with client_of(settings) as client, warnings_are_made_errors():
        answer = client.post("/v1/session", json={"rater": "A"})
    assert answer.status_code == 201, answer.text
