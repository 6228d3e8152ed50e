"""The connections whose callers the server waits for, and when it waits no longer."""

from typing import Final, Protocol

from ai_psychiatrist.api.rare_event import RareEvent


class Waiting(Protocol):
    """A connection that waits for its caller."""

    def is_overdue(self, seconds: float) -> bool:
        """Whether it has waited too long after so many seconds."""
        ...

    def drop(self) -> None:
        """Close it at once; what was not sent yet is lost."""
        ...


class WaitingConnections:
    """All of a server's, those that have waited longest first."""

    def __init__(self, *, most: int) -> None:
        self.most: Final = most
        self._since: dict[Waiting, float] = {}
        self._dropped = RareEvent("connections_dropped", reason="too_many_open")

    def add(self, connection: Waiting, now: float) -> None:
        """Count from now, unless the connection waits already."""
        self._since.setdefault(connection, now)

    def discard(self, connection: Waiting) -> None:
        """Stop counting."""
        self._since.pop(connection, None)

    def make_room(self, open_connections: int) -> None:
        """Drop the one that has waited longest when more are open than may be."""
        if open_connections > self.most and self._since:
            longest = next(iter(self._since))
            self.discard(longest)
            longest.drop()
            self._dropped.happened()

    def drop_overdue(self, now: float) -> None:
        """Drop all that have waited too long."""
        waited = [(connection, now - since) for connection, since in self._since.items()]
        for connection, seconds in waited:
            if connection.is_overdue(seconds):
                self.discard(connection)
                connection.drop()
