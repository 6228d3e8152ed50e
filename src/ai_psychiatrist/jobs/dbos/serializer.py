"""How ids and codes are written in the engine's tables: plainly, so that all can be read there."""

import json
from typing import Any

from dbos import Serializer


class PlainSerializer(Serializer):
    """JSON; of an error its class alone.

    The library's own form runs code when it is read, and holds whatever an error says.
    """

    def serialize(self, data: Any) -> str:  # noqa: ANN401  the library's signature
        """Return ids and codes as JSON."""
        return json.dumps(data, default=_class_name)

    def deserialize(self, serialized_data: str) -> Any:  # noqa: ANN401  as above
        """Return what was written."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Return what the tables call this form."""
        return "plain"


def _class_name(value: object) -> str:
    return type(value).__name__
