"""Which names and addresses lead to this machine alone."""

from ipaddress import ip_address


def is_address_of_others(host: str) -> bool:
    """Return whether it is an address, and one that other machines may reach; names are none."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return not (getattr(address, "ipv4_mapped", None) or address).is_loopback


def is_of_this_machine(host: str) -> bool:
    """Return whether a name or an address is one that only programs of this machine can reach."""
    plain = plain_host(host)
    try:
        address = ip_address(plain)
    except ValueError:
        return plain == "localhost"
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def plain_host(host: str) -> str:
    """Return a name or an address in the one form in which two that are the same are equal."""
    plain = host.strip("[]").removesuffix(".").lower()
    try:
        return str(ip_address(plain))
    except ValueError:
        return plain
