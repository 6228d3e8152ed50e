"""Check answers by a JSON Schema; numbers that were written as text are read as numbers."""

import ai_psychiatrist as ap

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 3}},
    "required": ["score"],
}
ANSWERS = ('{"score": 2}', '{"score": "3"}', '{"score": 7}')

report = ap.validate(ANSWERS, SCHEMA)
print("valid:", *(dict(answer) for answer in report.valid))
print("coerced:", *report.coercions)
for failure in report.failures:
    print("line", failure["line"], "failed at", failure["failure_stage"])
