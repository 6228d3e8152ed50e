"""What the OpenAPI document says of credentials."""

from typing import Any, Final

_REFUSALS: Final = {
    "401": "Nobody is known by the credential, or there is none.",
    "403": "The credential lacks a scope, or a page of another site sent the request.",
}


def describe_doors(document: dict[str, Any], *, is_required: bool) -> None:
    """Add the refusals, and where nobody has to show a credential, that one may do without."""
    for path in document["paths"].values():
        for operation in path.values():
            if "security" not in operation:
                continue
            if not is_required:
                operation["security"].append({})
            for status, description in _REFUSALS.items():
                operation["responses"].setdefault(status, {"description": description})
