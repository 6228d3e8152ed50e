"""How many logins may fail from one address."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Final

MOST_FAILURES: Final = 10
WINDOW_SECONDS: Final = 300.0
_MOST_ADDRESSES: Final = 10_000
_OWN_NETWORK_BITS: Final = 64
"""Of an IPv6 address: one household or office has all that begin so."""


@dataclass(slots=True, kw_only=True)
class FailedLogins:
    """Counts failures by address since the first of them, those of the latest addresses alone."""

    clock: Callable[[], float] = time.monotonic
    unrecorded: int = 0
    """Requests of strangers that were refused, and that no row of the audit log counts yet."""
    _by_network: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict)

    def seconds_to_wait(self, address: str) -> int:
        """Return for how long logins from an address are refused, 0 while they are not."""
        count, since = self._by_network.get(_network(address), (0, 0.0))
        left = since + WINDOW_SECONDS - self.clock()
        return int(left) + 1 if count >= MOST_FAILURES and left > 0 else 0

    def failed(self, address: str) -> None:
        """Count a failure."""
        network, now = _network(address), self.clock()
        count, since = self._by_network.pop(network, (0, now))
        is_over = now - since >= WINDOW_SECONDS
        self._by_network[network] = (1, now) if is_over else (count + 1, since)
        while len(self._by_network) > _MOST_ADDRESSES:
            self._by_network.popitem(last=False)

    def succeeded(self, address: str) -> None:
        """Forget the failures of an address."""
        self._by_network.pop(_network(address), None)


def _network(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    bits = plain.max_prefixlen if plain.version == 4 else _OWN_NETWORK_BITS
    return str(ip_network((plain, bits), strict=False))
