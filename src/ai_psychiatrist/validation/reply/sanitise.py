"""Refuse what is no text."""

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode


def refuse_broken_text(text: str) -> None:
    """Raise `OutputRejected` for lone surrogates, which can be neither sent nor shown."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise OutputRejected(
            RejectionCode.UNREPAIRABLE,
            "The reply holds half a character. Write each character whole, without \\u escapes.",
        ) from None
