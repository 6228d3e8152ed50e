"""Asks a collector for its status and nothing more: what else it answers is of no use."""

from contextlib import suppress
from typing import Any, Final

import requests
from urllib3.exceptions import HTTPError

_LONGEST_BYTES: Final = 4096
"""An answer within this leaves its connection for the next request."""


class BriefSession(requests.Session):
    """Reads little of each answer, however long it is, and takes no redirect for success."""

    def request(self, *args: Any, **options: Any) -> requests.Response:  # noqa: ANN401  the library's own
        """Send a request; raises `requests.TooManyRedirects` where it is sent on elsewhere."""
        response = super().request(*args, **{**options, "stream": True})
        with response, suppress(HTTPError):
            response.raw.read(_LONGEST_BYTES)
        if response.is_redirect:
            msg = "the collector is elsewhere"
            raise requests.TooManyRedirects(msg)
        return response
