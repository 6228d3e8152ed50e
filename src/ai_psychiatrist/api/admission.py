"""How many requests that cost something may be under way at the same time."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from ai_psychiatrist.api.edge import while_connected
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.limits import refuse_spent
from ai_psychiatrist.api.problems import Refusal, busy

_PLACE: Final = "place"


class Place:
    """One place, which is free again when nobody holds it any more."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        self._holders = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it inside the block, beside whoever holds it already."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._give_back()


class Admission:
    """Lets a bounded number of requests in and turns the others away at once."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    @contextmanager
    def room(self) -> Iterator[Place]:
        """Hold a place inside the block; raises `Refusal` when all are taken."""
        if self._free <= 0:
            raise Refusal(busy())
        self._free -= 1
        place = Place(self._give_back)
        with place.held():
            yield place

    def _give_back(self) -> None:
        self._free += 1


class AdmittedRoute(APIRoute):
    """A route whose requests take a place before anything of them is parsed.

    When the caller leaves, all that is under way for the request ends.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request."""
        handle = super().get_route_handler()

        async def admitted(request: Request) -> Response:
            admission: Admission = request.app.state.admission
            await refuse_spent(request)
            with admission.room() as place:
                request.scope["state"][_PLACE] = place
                bounded = BoundedRequest(request.scope, request.receive)
                # From here on only the end of the connection is still to come from the caller.
                await bounded.received()
                return await while_connected(bounded, lambda: handle(bounded))

        return admitted


def place_of(request: Request) -> Place:
    """Return the place of an admitted request, for work that outlives it."""
    place: Place = request.scope["state"][_PLACE]
    return place
