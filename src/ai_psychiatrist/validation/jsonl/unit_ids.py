"""A set of units' ids, in some twenty bytes for each."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

DIGEST_BYTES: Final = 16
_BUCKETS: Final = 1 << 16
_KEPT_BYTES: Final = DIGEST_BYTES - 2


def id_digest(unit_id: str) -> bytes:
    """Return the 16 bytes that stand for an id."""
    data = unit_id.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


class UnitIds:
    """A set of id digests.

    Each of 65,536 buckets, chosen by two bytes, is one string of the other fourteen: there is
    neither a table with free places nor an object for each id. A million ids take about 22 MB.
    """

    def __init__(self, digests: Iterable[bytes] = ()) -> None:
        self._buckets = [b""] * _BUCKETS
        for digest in digests:
            self.add(digest)

    def __iter__(self) -> Iterator[bytes]:
        for number, bucket in enumerate(self._buckets):
            for at in range(0, len(bucket), _KEPT_BYTES):
                yield number.to_bytes(2) + bucket[at : at + _KEPT_BYTES]

    def add(self, digest: bytes) -> bool:
        """Add a digest and return whether it is new."""
        number = digest[0] << 8 | digest[1]
        bucket, kept = self._buckets[number], digest[2:]
        place = bucket.find(kept)
        while place > 0 and place % _KEPT_BYTES:
            # Two neighbours can happen to hold it across their border.
            place = bucket.find(kept, place + 1)
        if place >= 0:
            return False
        self._buckets[number] = bucket + kept
        return True
