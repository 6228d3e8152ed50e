"""The token that shows that a form was made by this server's own page."""

import hmac
from typing import Final

_PURPOSE: Final = b"forgery token"


def forgery_token(session_token: str) -> str:
    """Return the token of a session: whoever cannot read the cookie cannot make it."""
    return hmac.new(session_token.encode(), _PURPOSE, "sha256").hexdigest()


def is_forgery_token(given: str, session_token: str) -> bool:
    """Return whether it is the token of this session; the time tells nothing of it."""
    return hmac.compare_digest(given.encode(), forgery_token(session_token).encode())
