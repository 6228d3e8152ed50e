"""Remember which units have come, in some twenty bytes for each."""

import hashlib
from collections.abc import Iterable
from typing import Final

DIGEST_BYTES: Final = 16
_BUCKET_BITS: Final = 16


def id_digest(unit_id: str) -> bytes:
    """Return the 16 bytes that stand for an id."""
    data = unit_id.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


class SeenIds:
    """A set of id digests.

    Each of 65,536 buckets is one string of digests, so there is neither a table with free places
    nor an object for each id: a million ids take about 20 MB.
    """

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._buckets = [b""] * (1 << _BUCKET_BITS)
        for digest in digests:
            self.add(digest)

    def add(self, digest: bytes) -> bool:
        """Add a digest and return whether it is new."""
        number = digest[0] << 8 | digest[1]
        bucket = self._buckets[number]
        place = bucket.find(digest)
        while place > 0 and place % DIGEST_BYTES:
            # Two neighbours can happen to hold it across their border.
            place = bucket.find(digest, place + 1)
        if place >= 0:
            return False
        self._buckets[number] = bucket + digest
        return True
