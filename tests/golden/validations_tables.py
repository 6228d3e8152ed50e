"""Schemas, values and lines, good and bad."""

from typing import Any, Final

from tests.golden.validations_ways import Record

SCORE: Final[Record] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "integer", "maximum": 3},
        "items": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    },
}
_INTEGER: Final[Record] = {"type": "integer"}
COERCED: Final[dict[str, tuple[Any, list[Any]]]] = {
    "integer": (
        _INTEGER,
        [
            *("5", " 5 ", "+5", "-0", "5.0", "9" * 15, 5.0, -3.0, "5.5", "1_000", "٣", "1e3"),
            *("0x10", "", "--5", "9" * 16, "five", "1 2", 5.5, True, None, [5], {"a": 5}, 1e15),
        ],
    ),
    "number": (
        {"type": "number"},
        ["3.14", ".5", "1e3", "5", 5.0, "nan", "inf", "1e400", "0x1p3", "5.", "", "1,5", False],
    ),
    "boolean": (
        {"type": "boolean"},
        ["true", " False ", "TRUE", "yes", "1", "", 1, 0, "truest", None],
    ),
    "texts": (
        {"type": "array", "items": {"type": "string"}},
        [
            *('["a", "b"]', "[]", "foo", "a,b", "[laughs] yes", "", " ", "null", 5, None),
            *('["a", "b', '{"a": 1}', "[1,]", "[" * 40 + "]" * 40),
        ],
    ),
    "integers": (
        {"type": "array", "items": _INTEGER},
        ['["1", 2.0]', "7", ["1", "x"], "foo", "[1, NaN]"],
    ),
    "objects": ({"type": "array", "items": {"type": "object"}}, ['{"a": 1}', {"a": 1}, "x"]),
    "tone": (
        {"enum": ["warm", "cold"]},
        ["WARM", " Cold\n", "hot", "warm|cold", "shadow WARM", ["warm"], None],
    ),
    "scale": ({"enum": [0, 1, 2, 3, "N/A"]}, ["n/a", "2", True, "4", 2.0, " N/A "]),
    "const": ({"const": "Yes"}, ["yes", "no", True]),
    "nullable": (
        {"type": ["integer", "null"]},
        ["2", "", "N/A", "none", "unknown", "null", "x", [], 0],
    ),
    "either": ({"anyOf": [_INTEGER, {"const": "N/A"}]}, ["n/a", "2", "two", None]),
    "one_of": ({"oneOf": [{"type": "integer", "maximum": 0}, {"type": "number"}]}, ["2.5", "-1"]),
    "all_of": ({"allOf": [{"minimum": 0}, _INTEGER]}, ["2", "-2"]),
    "tuple": ({"prefixItems": [_INTEGER, {"type": "boolean"}]}, [["1", "true"], ["x", "y"]]),
    "nested": ({"properties": {"y": _INTEGER}}, [{"y": "1"}, {"y": "z"}, '{"y": 1}']),
    "additional": ({"additionalProperties": _INTEGER}, [{"y": "1", "z": "x"}]),
    "text": ({"type": "string"}, [5, True, None, ["a"], "x", ""]),
    "text_or_integer": ({"type": ["string", "integer"]}, ["5", 5.0]),
}
KEYWORDS: Final[dict[str, tuple[Record, list[Any]]]] = {
    "minimum": ({"minimum": 1}, [0, 1]),
    "exclusiveMaximum": ({"exclusiveMaximum": 3}, [3, 2.9]),
    "multipleOf": ({"multipleOf": 0.5}, [1.25, 1.5]),
    "minLength": ({"minLength": 2}, ["x", "😀", "xy"]),
    "maxLength": ({"maxLength": 2}, ["xyz", "😀😀"]),
    "pattern": ({"pattern": "^a+$"}, ["ab", "aa"]),
    "date": ({"format": "date"}, ["2024-02-30", "2024-02-29", 5]),
    "date_time": ({"format": "date-time"}, ["2024-02-29 10:00", "2024-02-29T10:00:00Z"]),
    "email": ({"format": "email"}, ["nobody", "a@b.org"]),
    "uri": ({"format": "uri"}, ["no uri", "https://example.org/a"]),
    "uuid": ({"format": "uuid"}, ["1-2-3", "00000000-0000-0000-0000-000000000000"]),
    "ipv4": ({"format": "ipv4"}, ["256.0.0.1", "127.0.0.1"]),
    "regex": ({"format": "regex"}, ["(", "a"]),
    "minItems": ({"minItems": 1}, [[], [1]]),
    "maxItems": ({"maxItems": 1}, [[1, 2]]),
    "uniqueItems": ({"uniqueItems": True}, [[1, 1.0], [1, "1"]]),
    "contains": ({"contains": {"const": 1}, "maxContains": 1}, [[2], [1, 1], [1]]),
    "properties": ({"minProperties": 1, "maxProperties": 1}, [{}, {"a": 1, "b": 1}]),
    "propertyNames": ({"propertyNames": {"pattern": "^a"}}, [{"b": 1}, {"a": 1}]),
    "required": ({"required": ["a", "b"]}, [{}, {"a": 1}]),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"b": 1}]),
    "if": (
        {"if": {"minimum": 2}, "then": {"const": 3}, "else": {"const": 0}},
        [1, 2, 3, 0],
    ),
    "not": ({"not": {"type": "string"}}, ["x", 1]),
    "anyOf": ({"anyOf": [{"type": "string"}, {"minimum": 2}]}, [1, 2]),
    "oneOf": ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, [1.5, 3]),
    "ref": ({"$ref": "#/$defs/node"}, [{"next": {"next": {"n": "x"}}}, {"next": {"n": "1"}}]),
    "unevaluated": (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        [{"a": 1, "b": 1}, {"a": 1}],
    ),
    "false": ({"propertyNames": False}, [{"a": 1}, {}]),
}
DEFINITIONS: Final[Record] = {
    "node": {
        "type": "object",
        "properties": {"n": _INTEGER, "next": {"$ref": "#/$defs/node"}},
    }
}
LINES: Final[tuple[bytes, ...]] = (
    b'{"score": "2"}',
    b"",
    b"  ",
    b"[1,2]",
    b"42",
    b"null",
    b'"text"',
    b"I am sorry.",
    b"oops",
    b'{"score": 1}{"score": 2}',
    b'{"score": 1} {"score": 2}',
    b'{"score": 1}, {"score": 2}',
    b'{"unit_id": true, "score": 2}',
    b'{"unit_id": "", "score": 2}',
    b'{"unit_id": null, "score": 2}',
    b'{"unit_id": 1.5, "score": 2}',
    b'{"unit_id": ["u"], "score": 2}',
    b'{"unit_id": 7, "score": 2}',
    b'{"unit_id": "7", "score": 1}',
    b'{"unit_id": "u1", "score": 2,}',
    b'{"unit_id": "u1", "score": 3}',
    b'{"unit_id": "u2", "score": 1, "score": 2}',
    b'{"unit_id": "u3", "score": 1, "\\u0073core": 2}',
    b'{"unit_id": "u4", "note": ' + b"[" * 250 + b"]" * 250 + b"}",
    b'{"unit_id": "u5", "score": NaN}',
    b'{"unit_id": "u6", "score": 2, "_metadata": {"a": 1e400}}',
    b'{"unit_id": "u7", "_raw_text": {}}',
    b'{"unit_id": "u8", "score"',
    b'{"unit_id": "u9", "score": 2} and so on',
    b'{"unit_id": "v0", "error": "the server was busy"}',
    b'{"unit_id": "v1", "error": {"code": 429}, "retry_count": 2}',
    b'{"unit_id": "v2", "_raw_text": "{\\"score\\": 1", "_metadata": {"finish_reason": "length"}}',
    b'{"unit_id": "v3", "_raw_text": "{\\"score\\": 1}", "_metadata": {"finish_reason": "length"}}',
    b'{"_metadata": {"m": 1}, "score": "2", "unit_id": "v4", "retry_count": 1, "_own": 5}',
    b'{"unit_id": "v5", "score": 2, "her name": 1}',
    b'{"unit_id": "v6", "items": [{"n": "x"}, {"n": "y"}]}',
    b'{"unit_id": "v7", "score": 123456789012345678901234567890}',
    b'{"unit_id": "v8", "score": 2, "note": "\xff"}',
    b'{"unit_id": "v9", "score": 2, "note": "\\ud800"}',
    b"\x00",
    "\ufeff{}".encode(),
    b'{"score": 3}\r',
    '{"unit_id": "w0\u2028", "score": 2}'.encode(),
    b'{"unit_id": "w1", "score": -3}',
    b'{"response": {"score": 1}}',
    b'{"unit_id": "w2", "response": "{\\"score\\": 1}"}',
)
NO_SCHEMAS: Final = {
    "no_json": '{"type": "object",}',
    "unknown_type": '{"type": "intger"}',
    "list": "[]",
    "key_twice": '{"type": "object", "type": "array"}',
    "nan": '{"minimum": NaN}',
    "refers_to_nothing": '{"$ref": "#/$defs/gone"}',
    "refers_to_itself": '{"$ref": "#"}',
    "refers_away": '{"$ref": "https://example.org/schema.json"}',
    "deep": "[" * 5_000,
    "pattern": '{"pattern": "("}',
    "true": "true",
    "false": "false",
    "empty": "",
    "dialect": '{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}',
    "unknown_keyword": '{"propertees": {"a": {}}}',
    "unknown_format": '{"properties": {"n": {"format": "int32"}}}',
}
