"""Read files that somebody else wrote and names, within bounds."""

from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.given_files import FileTooLarge, NotRegularFile, read_regular

MOST_BYTES: Final = 1 << 20
"""Bound on a schema or a list of items."""
MOST_TEMPLATE_BYTES: Final = 1 << 17
MOST_YAML_BYTES: Final = 1 << 18
"""Bound on a pipeline's or a protocol's own file."""


class FileUnusable(Exception):
    """A file cannot be read; the message says why and names no path."""


def read_bounded(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a file's bytes; raises `FileUnusable` for no file, an unreadable or a large one."""
    try:
        return read_regular(path, most_bytes=most_bytes)
    except FileTooLarge:
        msg = f"it is larger than {most_bytes} bytes"
    except NotRegularFile:
        msg = "it is no regular file"
    except OSError as error:
        msg = error.strerror or "its name cannot be one of a file"
    raise FileUnusable(msg)


def decoded(content: bytes) -> str:
    """Return UTF-8 text without a byte order mark; raises `FileUnusable` for other encodings."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        msg = "it is not UTF-8 text"
        raise FileUnusable(msg) from None
