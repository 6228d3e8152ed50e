"""Values drawn from a JSON schema, and values with something wrong in one place."""

import copy
import string
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

Json = dict[str, Any]
WORD: Final = "quillaya"
"""In what is made up, so that an answer which repeats it is found."""

_NAME = string.ascii_letters + string.digits
_WORDS = (
    "",
    " ",
    WORD,
    f"{WORD} \u202e\x00\u2028 😀",
    f"../../{WORD}",
    f"<script>{WORD}</script>",
    "a" * 300,
    f"{WORD} " * 3_000,
    "e\u0301\u0316" * 20,
    "\ufdfa" * 50,
)
_WRONG: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    -1,
    4,
    10**6,
    10**30,
    1.5,
    "",
    WORD,
    "1",
    WORD * 5_000,
    [],
    [[WORD]],
    {},
    {WORD: WORD},
    [1] * 2_000,
)


class SchemaValues:
    """Draws values of schemas that refer to one another in `document`."""

    def __init__(
        self,
        document: Json,
        random: Random,
        known: Mapping[str, Callable[[], object]],
    ) -> None:
        """`known`: field name → a likely value, taken for most fields of that name."""
        self._schemas: Mapping[str, Json] = document["components"]["schemas"]
        self._random = random
        self._known = known

    def value(self, schema: Json) -> object:
        """Return a value that is likely to be valid; `anyOf` beside properties is guessed."""
        if "$ref" in schema:
            return self.value(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        branches = schema.get("anyOf") or schema.get("oneOf") or [{}]
        if "properties" not in schema and branches != [{}]:
            return self.value(self._random.choice(branches))
        return self._typed(schema, self._random.choice(branches))

    def _typed(self, schema: Json, branch: Json) -> object:
        random = self._random
        match schema.get("type"):
            case "object":
                return self._object(schema, branch)
            case "array":
                count = random.choice((0, 1, 3))
                return [self.value(schema["items"]) for _ in range(count)]
            case "string":
                return self._string(schema)
            case "integer":
                low, high = int(schema.get("minimum", -5)), int(schema.get("maximum", 9))
                return random.choice((low, high, random.randint(low, high)))
            case "boolean" | "null" as kind:
                return None if kind == "null" else random.random() < 0.5
            case _:
                return random.choice(_WRONG)

    def _object(self, schema: Json, branch: Json) -> Json:
        found: Json = {}
        needed = {*schema.get("required", ()), *branch.get("required", ())}
        for name, field in schema.get("properties", {}).items():
            forbidden = branch.get("properties", {}).get(name) == {"type": "null"}
            if name in needed or (not forbidden and self._random.random() < 0.4):
                found[name] = self._field(name, field, is_needed=name in needed)
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            for _ in range(self._random.choice((0, 0, 1, 3))):
                found[self._key(schema.get("propertyNames", {}))] = self.value(others)
        return found

    def _field(self, name: str, schema: Json, *, is_needed: bool) -> object:
        if name in self._known and self._random.random() < 0.8:
            return self._known[name]()
        value = self.value(schema)
        return self.value(schema) if value is None and is_needed else value

    def _key(self, schema: Json) -> str:
        if "$ref" in schema:
            return str(self.value(schema))
        return self._random.choice(("title", "summary", WORD, "a" * 20))

    def _string(self, schema: Json) -> str:
        if "pattern" in schema:
            return "".join(self._random.choices(_NAME, k=32))
        return self._random.choice(_WORDS)[: schema.get("maxLength", 100_000)]

    def damaged(self, value: object) -> object:
        """Return the value with something changed, missing or added in one or two places."""
        damaged = copy.deepcopy(value)
        for _ in range(self._random.choice((1, 1, 2))):
            damaged = self._damaged_once(damaged)
        return damaged

    def _damaged_once(self, value: object) -> object:
        random = self._random
        wrong = copy.deepcopy(random.choice(_WRONG))
        if isinstance(value, dict) and value and random.random() < 0.9:
            key = random.choice(list(value))
            match random.randrange(4):
                case 0:
                    del value[key]
                case 1:
                    value[random.choice((WORD, "mode", "stop", "items", "text"))] = wrong
                case _:
                    value[key] = self._damaged_once(value[key])
            return value
        if isinstance(value, list) and value and random.random() < 0.8:
            place = random.randrange(len(value))
            value[place] = self._damaged_once(value[place])
            return value
        return wrong
