"""What belongs to a unit beside its answer."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from ai_psychiatrist.validation.checks.host_fields import METADATA, RETRY_COUNT, UNIT_ID

HostFunctions: TypeAlias = Mapping[str, Callable[..., object]]

_NOTHING: Final[Mapping[str, object]] = {}
_NO_FUNCTIONS: Final[HostFunctions] = {}
_NAMING: Final = (UNIT_ID, RETRY_COUNT, METADATA)


class UnitSurroundings:
    """What belongs to a unit beside its answer."""

    __slots__ = ("host", "inputs", "meta")

    def __init__(
        self,
        context: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
        host: HostFunctions | None = None,
    ) -> None:
        """`context`: earlier steps' output and the unit's own fields.

        `meta` holds `unit_id`, `retry_count` and `_metadata`, as far as they are known; `host`
        functions that rules may call beside the fixed table.
        """
        self.meta = meta or _NOTHING
        self.host = host or _NO_FUNCTIONS
        named = {name: self.meta[name] for name in _NAMING if name in self.meta}
        self.inputs: Mapping[str, object] = {**(context or _NOTHING), **named}
        """The context together with what names the unit."""
