"""Makes a process whose `PYTHONPATH` names this folder one without the extra `evaluation`."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

_MISSING: Final = frozenset({"numpy", "scipy", "sklearn"})


class WithoutExtra(PathFinder):
    """Finds every module but those of the extra."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is, `None` for those that are missing."""
        if fullname.partition(".")[0] in _MISSING:
            return None
        return super().find_spec(fullname, path, target)


sys.meta_path = [WithoutExtra if one is PathFinder else one for one in sys.meta_path]
