"""Which names and addresses lead to this machine alone."""

from ipaddress import ip_address


def is_of_this_machine(host: str) -> bool:
    """Return whether a name or an address is one that only programs of this machine can reach."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.casefold() == "localhost"
