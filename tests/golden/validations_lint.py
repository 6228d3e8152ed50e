"""Pipelines that are sound and broken in one place: what `lint-config` says of each."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, folder_masks
from tests.golden.validations_pipeline import SOUND, changed, write
from tests.golden.validations_ways import Record
from tests.golden.ways import EXAMPLES, run, scratch

_TYPES: Final = "      score: integer\n"
_RANGE: Final = "      score: [0, 3]\n"
_ENUM: Final = "      tone: [warm, cold]\n"
_EXPR: Final = '        expr: "score >= threshold"\n'
_WHEN: Final = '        when: "has(threshold)"\n'
_ERROR: Final = '        error: "score {score} is below {threshold}"\n'
_LEVEL: Final = "        level: error\n"
_REQUIRED: Final = "required: [score, tone]"
_RULES: Final = "    rules:\n"
_STEP: Final = "    - name: rate\n"
_BLOCK: Final = SOUND[SOUND.index("    required:") :]
_OTHER_SCOPES: Final = "    - {name: end, scope: run}\n    - {name: each, scope: fan_out}\n"


def _expr(source: str) -> str:
    return f"        expr: {json.dumps(source)}\n"


_BROKEN: Final[dict[str, tuple[str, str]]] = {
    "misspelt_section": ("prompts:\n", "promts:\n"),
    "misspelt_key_of_a_block": (_REQUIRED, "requird: [score, tone]"),
    "misspelt_key_of_settings": ("  retry:\n    max_attempts", "  retry:\n    max_atempts"),
    "misspelt_key_of_a_step": ("      prompt_template:", "      prompt_tempate:"),
    "misspelt_key_of_a_rule": (_WHEN, '        wen: "has(threshold)"\n'),
    "usual_name_of_a_type": (_TYPES, "      score: int\n"),
    "misspelt_type": (_TYPES, "      score: intger|null\n"),
    "types_apart": (_TYPES, "      score: boolean\n"),
    "range_of_a_text": (_RANGE, "      tone: [0, 3]\n"),
    "range_upside_down": (_RANGE, "      score: [10, 0]\n"),
    "range_of_nothing": (_RANGE, "      score: {exclusive_min: 3, max: 3}\n"),
    "two_low_ends": (_RANGE, "      score: {min: 1, exclusive_min: 0}\n"),
    "range_without_ends": (_RANGE, "      score: [null, null]\n"),
    "range_from_nan": (_RANGE, "      score: [.nan, 3]\n"),
    "range_of_three": (_RANGE, "      score: [1, 2, 3]\n"),
    "enum_of_nothing": (_ENUM, "      tone: []\n"),
    "enum_of_booleans": (_ENUM, "      tone: [yes, no]\n"),
    "enum_apart": (_ENUM, "      tone: [hot, icy]\n"),
    "enum_half_apart": (_ENUM, "      tone: [warm, icy]\n"),
    "enum_that_differs_in_case": (_ENUM, "      tone: [warm, Warm]\n"),
    "unknown_match": (_ENUM, "      tone: {values: [warm], match: exact}\n"),
    "unknown_level": (_LEVEL, "        level: fatal\n"),
    "rule_without_a_name": ("      - name: above_threshold\n", "      - name: ''\n"),
    "rule_without_an_expression": (_EXPR, ""),
    "rule_that_is_true": (_EXPR, "        expr: true\n"),
    "empty_rule": (_RULES, f"{_RULES}      - {{}}\n"),
    "two_rules_of_one_name": (
        _WHEN,
        f"{_WHEN}      - {{name: above_threshold, expr: 'score < 9', error: x}}\n",
    ),
    "misspelt_name": (_EXPR, _expr("score >= treshold")),
    "no_declared_input": (_EXPR, _expr("score >= limit")),
    "field_in_the_input": (_EXPR, _expr("inp['score'] >= threshold")),
    "misspelt_inner_key": (_EXPR, _expr("all(i['valu'] > 0 for i in items)")),
    "text_against_number": (_EXPR, _expr("tone > 3")),
    "required_misspelt": (_REQUIRED, "required: [score, tones]"),
    "required_twice": (_REQUIRED, "required: [score, score]"),
    "required_of_context": (_REQUIRED, "required: [score, topic]"),
    "condition_misspelt": (_WHEN, '        when: "has(treshold)"\n'),
    "condition_that_never_holds": (_WHEN, '        when: "False"\n'),
    "condition_of_a_name_nobody_gives": (_WHEN, "        when: \"'wounds' in dir()\"\n"),
    "rule_that_always_holds": (_EXPR, _expr("1 < 2")),
    "field_that_is_no_path": (_REQUIRED, "required: [score, 'items[x]']"),
    "step_named_like_a_path": (_STEP, "    - name: ../rate\n"),
    "two_steps_of_one_name": (_STEP, f"{_STEP}{_STEP}"),
    "no_steps": (f"{_STEP}      prompt_template: rate.jinja2\n", "    []\n"),
    "empty_section": ("api:\n  retry:\n    max_attempts: 2\n", "api:\n"),
    "inherited_not_required": (_RULES, f"    inherited: [topic]\n{_RULES}"),
    "protected_misspelt": (_RULES, f"    protected: [treshold]\n{_RULES}"),
    "unknown_profile": (_RULES, f"    coerce: {{profile: lax}}\n{_RULES}"),
    "strict_profile_with_settings": (
        _RULES,
        f"    coerce: {{profile: strict, enum_split: ' | '}}\n{_RULES}",
    ),
    "no_attempts": ("    max_attempts: 2", "    max_attempts: 0"),
    "no_time": ("api:\n", "api:\n  subprocess_timeout_seconds: 0\n"),
    "temperature": ("api:\n", "api:\n  temperature: 3\n"),
    "setting_of_another_program": ("api:\n", "api:\n  favourite_colour: blue\n"),
    "two_templates": ("prompt_template: rate.jinja2", "prompt_template: other.jinja2"),
    "unknown_scope": (_STEP, f"{_STEP}      scope: chunks\n"),
    "empty_block": (_BLOCK, "    {}\n"),
    "block_of_none": (SOUND[SOUND.index("validation:") :], "validation: {rate: none}\n"),
    "key_twice": ("    max_attempts: 2", "    max_attempts: 2\n    max_attempts: 3"),
    "key_that_is_a_number": ("    max_attempts: 2", "    max_attempts: 2\n    1: 3"),
    "foreign_type": ("    max_attempts: 2", "    max_attempts: !!python/name:os.system ''"),
    "yaml_loop": ("  retry:\n    max_attempts: 2", "  retry: &r {again: *r}"),
    "slow_number": ("max_attempts: 2", f"max_attempts: 1{'_0' * 100_000}"),
    "unknown_placeholder": (_ERROR, '        error: "{nope}"\n'),
    "unusable_placeholder": (_ERROR, '        error: "{score.real}"\n'),
    "unused_input": ("[topic, threshold]", "[topic, threshold, mood]"),
    "no_inputs": ("  inputs: [topic, threshold]\n", "  chunk_size: 10\n"),
    "no_items": ("  inputs: [topic, threshold]\n", "  items: {source: items.yaml, key: talks}\n"),
    "repeat": ("processing:\n", "processing:\n  repeat: 0\n"),
    "strategy": ("processing:\n", "processing:\n  strategy: direkt\n"),
    "position_without_a_list": ("processing:\n", "processing:\n  positions: [{name: npc}]\n"),
    "step_without_links": ("      prompt_template: rate.jinja2\n", "    - name: sum_up\n"),
    "rules_of_no_step": ("validation:\n  rate:", "validation:\n  rtae:"),
    "schema_of_no_step": ("files:\n    rate:", "files:\n    rates:"),
    "template_of_no_step": ("templates:\n    rate:", "templates:\n    r_one:"),
    "file_of_the_wrong_shape": ("    rate: rate.json\n", "    rate: 5\n    more: [x]\n"),
    "formats_sometimes": ("schemas:\n", "schemas:\n  check_formats: sometimes\n"),
    "rules_misspelt": (_RULES, "    ruls:\n"),
    "validation_misspelt": ("validation:\n", "valdation:\n"),
    "fan_out_step": (
        "      prompt_template: rate.jinja2\n",
        f"      prompt_template: rate.jinja2\n{_OTHER_SCOPES}",
    ),
}
_REFUSED: Final = (
    *("score.real", "''.__class__.__mro__", "items.append(1)", "'{0}'.format(score)"),
    *("'a'.join(items)", "f'{score}'", "'%d' % 1", "[1] * 100", "2 ** 99999", "1 << 9", "1 & 1"),
    *("~1", "lambda: 1", "(score := 3) > 1", "await score", "(yield 1)", "items @ items"),
    *("{k: v for k, v in items}", "(x for x in items)", "[x async for x in items]"),
    *("[0 for x in items for y in items for z in items]", "[0 for x.y in items]"),
    *("[0 for __x in items]", "open('/etc/passwd')", "__import__('os')", "__builtins__"),
    *("eval('1')", "globals()", "getattr(score, 'real')", "type(score)", "print(score)"),
    *("random.random()", "len(*items)", "len(**items)", "max(items, key=len)"),
    *("sum([[1]], [])", "len()", "dir(score)", "[*items]", "items[0](1)", "has(len(items))"),
    *("has('not a name')", "isinstance(score, set)", "score is 1", "1 < score in items"),
    *("b'x' == score", "1j == score", "... == score", "1e999 > score", "items[1, 2:3]"),
    *("score > > 1", "score >", "", " ", "score = 1", "import os", "(" * 61 + "1" + ")" * 61),
    *("1 + " * 800 + "1", "'" + "a" * 1_001 + "' == tone", "1" + "0" * 30 + " > score"),
    *("lenn(items) > 1", "tone.lowr() == 'x'", "has(score, tone)", "score == 'high'"),
)
"""Rules that are refused or doubted."""
_STEPS: Final = {
    "sound": "expressions: {words: 'len(topic.split())', few: 'words < 5'}",
    "random": "expressions: {card: 'random.choice([1, 2])'}",
    "loop": "max_iterations: 9, loop_until: 'n > 5', init: {n: '0'}, expressions: {n: 'n + 1'}",
    "no_expressions": "description: x",
    "syntax": "expressions: {a: 'len('}",
    "file": "expressions: {a: \"open('x').read()\"}",
    "no_text": "expressions: {a: 5}",
    "set_later": "expressions: {a: 'b + 1', b: '2'}",
    "misspelt": "expressions: {a: 'treshold'}",
    "of_later_steps": "expressions: {a: 'score'}",
    "init": "init: {a: '('}, expressions: {b: '1'}",
    "loop_of_an_attribute": "expressions: {b: '1'}, loop_until: 'c.d'",
    "first_round_lacks_it": "loop_until: 'b > 9', expressions: {a: 'b + 1', b: 'a'}",
    "unknown_module": "expressions: {a: 'randam.choice([topic])'}",
    "unknown_function": "expressions: {a: 'random.smaple([1], 1)'}",
    "local_name_misspelt": "expressions: {_few: '1', a: '_fwe + 1'}",
    "name_of_the_unit": "expressions: {unit_id: '1'}",
    "two_words": "expressions: {'two words': '1'}",
    "no_rounds": "loop_until: 'True', expressions: {b: '1'}, max_iterations: 0",
    "many_rounds": "loop_until: 'True', expressions: {b: '1'}, max_iterations: 10001",
    "rounds_without_a_loop": "expressions: {b: '1'}, max_iterations: 5",
}
_NO_PIPELINES: Final = {
    "empty": b"",
    "comments": b"# nothing\n\n",
    "unclosed": b"a: [1\n",
    "alias_of_nothing": b"a: *gone\n",
    "two_documents": b"a: 1\n---\nb: 2\n",
    "control_character": b"a: \x01\n",
    "no_utf_8": b"a: \xff\n",
    "too_large": b"#" * (1 << 20) + b"\n",
    "deep": b"[" * 100_000,
    "many_values": b"- x\n" * 60_000,
    "list": b"- a\n",
    "null": b"null\n",
    "validation_alone": b"validation: {}\n",
    "many_problems": "".join(f"pipelin{n}: 1\n" for n in range(600)).encode(),
    "windows": b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode(),
    "aliases": b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + b"".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n".encode() for n in range(1, 9)),
}
_SCHEMAS: Final[dict[str, str]] = {
    "no_json": '{"type": "object",}',
    "unknown_type": '{"type": "intger"}',
    "list": "[]",
    "two_keys": '{"type": "object", "type": "array"}',
    "nan": '{"minimum": NaN}',
    "reference_to_nothing": '{"$ref": "#/$defs/gone"}',
    "true": "true",
    "closed": '{"properties": {"score": {"type": "integer"}}, "additionalProperties": false}',
    "format": '{"properties": {"score": {}, "tone": {}, "n": {"format": "int32"}}}',
}
_TEMPLATES: Final[dict[str, str | None]] = {
    "unclosed": "{{ topic ",
    "no_condition": "{% if %}",
    "misspelt": "{{ topc }} {{ topic }}",
    "undeclared": "{{ topic }} {{ weather }}",
    "own_answer": "{{ score }} {{ topic }}",
    "includes": "{% include 'more.jinja2' %}",
    "no_file": None,
}


def answers() -> Iterator[Answer]:
    """Yield what is found in each pipeline."""
    with scratch() as folder:
        places = [*_write_all(folder)]
        names = [str(one.relative_to(folder)) for one in places]
        linted = run(["lint-config", "--format", "json", *names], folder)
        found: dict[str, list[Record]] = {name: [] for name in names}
        for problem in json.loads(linted.out):
            found[problem.pop("file")].append(problem)
        for name, problems in found.items():
            case = name.removesuffix("/pipeline.yaml")
            kept = problems if len(problems) <= _MOST else _shortened(problems)
            # What is wrong with an expression is told beside it.
            more = {"rule": _REFUSED[int(case.rpartition("/")[2])]} if "refused/" in case else {}
            value = {**more, "problems": kept} if more else kept
            yield Answer(name=f"lint/{case}", value=value, given=[*map(str, more.values())])
        yield from _as_text(folder)


_MOST: Final = 40


def _shortened(problems: list[Record]) -> Any:
    return {"problems": len(problems), "first": problems[:3], "last": problems[-1]}


def _write_all(folder: Path) -> Iterator[Path]:
    yield write(folder / "sound")
    for name, change in _BROKEN.items():
        yield write(folder / "broken" / name, changed(change))
    for number, source in enumerate(_REFUSED):
        yield write(folder / "refused" / f"{number:02}", changed((_EXPR, _expr(source))))
    for name, step in _STEPS.items():
        text = changed((_STEP, f"    - {{name: count, scope: expression, {step}}}\n{_STEP}"))
        yield write(folder / "steps" / name, text)
    later = "    - {name: after, scope: expression, expressions: {more: 'tone > 3'}}\n"
    yield write(
        folder / "steps" / "types_of_earlier", changed(("prompts:\n", f"{later}prompts:\n"))
    )
    for name, content in _NO_PIPELINES.items():
        path = write(folder / "no_pipelines" / name)
        path.write_bytes(content)
        yield path
    for name, schema in _SCHEMAS.items():
        yield write(folder / "schemas" / name, schema=schema)
    for name, template in _TEMPLATES.items():
        yield write(folder / "templates" / name, template=template)
    pipe = write(folder / "odd_files" / "pipe")
    pipe.unlink()
    os.mkfifo(pipe)
    yield pipe
    huge = write(folder / "odd_files" / "huge")
    with (huge.parent / "schemas" / "rate.json").open("wb") as file:
        file.truncate(1 << 34)
    yield huge
    every = (_TYPES, "      score: int\n"), (_RANGE, "      score: [10, 0]\n"), (_LEVEL, "\n")
    yield write(folder / "several", changed(*every), schema="{", template=None)


def _as_text(folder: Path) -> Iterator[Answer]:
    masks = {**folder_masks(folder, EXAMPLES), folder.name: "<folder>"}
    examples = [EXAMPLES / one / "pipeline.yaml" for one in ("pipeline", "two_steps")]
    cases: dict[str, list[str | Path]] = {
        "examples": [*examples, EXAMPLES / "protocol"],
        "broken": [
            *("several/pipeline.yaml", "broken/no_steps/pipeline.yaml"),
            *("broken/unused_input/pipeline.yaml", "sound/pipeline.yaml"),
        ],
        "warning": ["broken/unused_input/pipeline.yaml"],
        "nowhere": ["nowhere.yaml"],
        "folder": ["sound"],
        "nothing": [],
        "unknown_format": ["sound/pipeline.yaml", "--format", "xml"],
    }
    for name, arguments in cases.items():
        ended = run(["lint-config", *arguments], folder)
        yield Answer(name=f"lint/as_text/{name}", value=ended.value, masks=masks)
