"""JSON in replies and in the data blocks of prompts."""

import json


def json_text(value: object) -> str:
    """Write JSON in which no participant's words can look like a tag of the reply."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("<", "\\u003c")


def json_object(text: str) -> dict[str, object]:
    """Read a JSON object; anything else counts as an empty one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
