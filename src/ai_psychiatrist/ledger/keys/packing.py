"""Words made smaller before they are sealed: prompts, replies and results repeat themselves."""

import zlib
from typing import Final

from ai_psychiatrist.store.errors import LedgerUnusable

_MARK: Final = b"\xff"
"""What is packed begins with it. No text in UTF-8 does, so that one may stand there as it is."""
_LEAST_BYTES: Final = 128
_MOST_TIMES: Final = 64
"""Words are not packed to less than this part of them: a file may come from somebody else, and
what is read of it is to fit the memory as the file does."""
_LEVEL: Final = 1
_AS_IT_IS: Final = 0
# Setting up the library's usual window and tables takes four times as long as packing a prompt.
# The form is the one with a checksum: a changed bit is to be damage, and no other words.
_WINDOW_BITS: Final = 13
_MEMORY_LEVEL: Final = 6


def packed(content: bytes) -> bytes:
    """Return what is kept of some bytes: themselves where packing makes them no smaller."""
    if content.startswith(_MARK):
        return _deflated(content, _AS_IT_IS)
    if len(content) < _LEAST_BYTES:
        return content
    small = _deflated(content, _LEVEL)
    return small if len(small) < len(content) <= _MOST_TIMES * len(small) else content


def unpacked(kept: bytes) -> bytes:
    """Return the bytes of which `packed` made these; raises `LedgerUnusable` for damage."""
    if not kept.startswith(_MARK):
        return kept
    unpacking = zlib.decompressobj(_WINDOW_BITS)
    try:
        content = unpacking.decompress(kept[len(_MARK) :], _MOST_TIMES * len(kept))
    except zlib.error:
        content = b""
    if not unpacking.eof or unpacking.unused_data:
        what = "a row is damaged"
        raise LedgerUnusable(what)
    return content


def _deflated(content: bytes, level: int) -> bytes:
    packing = zlib.compressobj(level, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
    return _MARK + packing.compress(content) + packing.flush()
