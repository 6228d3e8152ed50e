"""A transcript that is sent as a file: the body is the file, its content type says so."""

import re
from typing import Final

from ai_psychiatrist.api.content_type import media_type

_MEDIA_TYPES: Final = frozenset(
    {
        "application/jsonl",
        "application/ndjson",
        "application/octet-stream",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/x-ndjson",
        "application/x-subrip",
        "text/csv",
        "text/markdown",
        "text/plain",
        "text/tab-separated-values",
        "text/vtt",
    }
)
_REQUEST: Final = re.compile(rb'\s{0,100}\{\s{0,100}"(?:transcript_text|participant_id|mode)"')
"""A request whose content type was forgotten."""
FILE_BODY: Final[dict[str, object]] = {
    media_type: {"schema": {"type": "string", "format": "binary"}}
    for media_type in sorted(_MEDIA_TYPES)
}
"""The file's part of a request body in the OpenAPI document."""


_NAMES: Final = {
    "application/jsonl": "sent.jsonl",
    "application/x-subrip": "sent.srt",
    "text/csv": "sent.csv",
    "text/tab-separated-values": "sent.tsv",
    "text/vtt": "sent.vtt",
}


class SentFile(bytes):
    """What a caller sent as a file; its form is told by its content."""

    name: str = ""
    """Such as a file of its content type would have."""


def sent_file(content: bytes, content_type: str) -> SentFile:
    """Return a body as a file."""
    file = SentFile(content)
    file.name = _NAMES.get(media_type(content_type), "")
    return file


def is_file(content_type: str, content: bytes) -> bool:
    """Return whether a body is a transcript itself, and not a request in JSON."""
    return (
        media_type(content_type) in _MEDIA_TYPES
        and content != b""
        and _REQUEST.match(content) is None
    )
