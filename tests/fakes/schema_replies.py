"""Replies as a server gives them that holds its model to a schema."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any


def conforming(
    schema: Mapping[str, Any], words: Callable[[int], str], chance: Random | None = None
) -> Any:
    """Return a value that a schema admits: the fullest one, or one by chance.

    `words`: makes a text of at most so many characters. Raises `ValueError` for a schema in words
    that are not known here, so that no agent's can come to hold one that servers may not know.
    """
    schema = dict(schema)
    if "anyOf" in schema:
        options = schema["anyOf"]
        return conforming(chance.choice(options) if chance else options[0], words, chance)
    kind, choices = schema.pop("type"), schema.pop("enum", None)
    if choices is not None:
        # Of scores the highest: a judge that finds fault has the findings written again.
        value = chance.choice(choices) if chance else choices[-1 if kind == "integer" else 0]
    elif kind == "string":
        assert schema.pop("minLength") == 1
        value = words(schema.pop("maxLength"))
    elif kind == "array":
        entry, most = schema.pop("items"), schema.pop("maxItems")
        count = chance.randint(0, most) if chance else 1
        value = [conforming(entry, words, chance) for _ in range(count)]
    elif kind == "object":
        fields = schema.pop("properties")
        assert schema.pop("required") == list(fields)
        assert schema.pop("additionalProperties") is False
        value = {name: conforming(field, words, chance) for name, field in fields.items()}
    else:
        msg = f"a type that is not known: {kind}"
        raise ValueError(msg)
    if schema:
        msg = f"words that are not known: {', '.join(schema)}"
        raise ValueError(msg)
    return value
