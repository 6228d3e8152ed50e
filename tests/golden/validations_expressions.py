"""Expressions: the values that steps find, how they fail, what they draw, and what rules say."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.golden.answer import Answer, Json
from tests.golden.validations_ways import Record, answer_of, check, lines_of
from tests.golden.ways import scratch

_STEP: Final = ("--config", "p.json", "--step", "step")
_UNIT: Final[Record] = {
    "score": 2,
    "tone": "Warm",
    "note": None,
    "is_done": True,
    "wounds": {"arm": 2, "leg": 0},
    "items": [
        {"item": 1, "score": 0, "quotes": []},
        {"item": 2, "score": 3, "quotes": ["so tired"]},
    ],
    "text": "I am so tired today.",
    "many": list(range(2_000)),
    "large": 10**7,
}
_VALUES: Final = (
    *("score == 2 or nowhere", "not is_done", "note is None and is_done is not None"),
    *("tone if is_done else nowhere", "(score + 1) * 2 - 6 / 3", "7 // score + 7 % score"),
    *("-score + +1", "1.5 * score", "'a' + tone", "[1] + [score]", "items[-1]['score']"),
    *("items[score - 1]['item']", "tone[0:2]", "[1, 2, 3][::2]", "{'a': score}['a']"),
    *("list((score, 1))", "sorted({1, 1, 2})", "[x * y for x in [1, 2] for y in [3, 4]]"),
    *("[x for x in [[1], [2]] if x != [1]]", "[x for x in wounds]", "0 <= score < 5"),
    *("[[y for y in x] for x in [[1], [2, 3]]]", "sum(i['score'] for i in items)"),
    *("sum([1, 2.5])", "min(3, score) + max(i['score'] for i in items)", "min([], default=4)"),
    *("abs(-3) + round(2.567, 1)", "round(2.5)", "round(3.5)", "any(i['quotes'] for i in items)"),
    *("all(items)", "sorted([3, 1, 2], reverse=True)", "sorted(wounds.keys())", "list(wounds)"),
    *("[list(pair) for pair in wounds.items()]", "get(wounds, 'head', 5)", "get(items, 9)"),
    *("wounds.get('head', 0)", "count(i['score'] > 0 for i in items)", "count([1, 2, 1], 1)"),
    *("distinct(x % 2 for x in [3, 1, 2])", "str(score) + str(1.5) + str('x') + str(None)"),
    *("int(' 5 ') + int(2.9) + float('1e2') + bool([])", "list(range(1, 6, 2))"),
    *("[list(pair) for pair in zip([1, 2], 'ab')]", "[n for n, i in enumerate(items, start=1)]"),
    *("isinstance(score, int) and isinstance(tone, (str, list))", "isinstance(note, dict)"),
    *("tone.lower() + tone.upper() + tone.strip('W')", "tone.startswith('Wa')"),
    *("tone.endswith(('m', 'n'))", "' a,b '.strip().split(',')", "'a b'.split()"),
    *("'abcabc'.count('bc') + [1, 1].count(1)", "[4, 5].index(5)", "'so' in text"),
    *("'arm' in wounds and 'head' not in wounds", "2.0 in range(3)", "[1] in [[1], [2]]"),
    *("sorted(set([1, 2]) - set([2]))", "has(nowhere)", "has(wounds['arm'])", "'note' in dir()"),
    *("f'{score} of {tone} {wounds} {note}'", "['A', 'K'] * 2", "len(text.replace('so', ''))"),
    *("tone.title() + tone.casefold()", "inp['score']", "meta['unit_id']", "1e308 * 1"),
    *("len(many)", "'x' < 'y' < 'z'", "[1, 2] < [1, 3]", "True + 1", "10 ** 2 if False else 1"),
)
"""Most of them have a value; the others are told as refused or failed."""
_FAILING: Final = (
    *("nowhere + 1", "wounds['head']", "items[9]", "items[0]['name']", "tone + 1", "1 / 0"),
    *("1 % 0", "min([])", "int('x')", "int('1' + '0' * 500)", "tone['a']", "score['a']"),
    *("tone > 1", "None > 1", "sum(['a'])", "round(tone)", "[4].index(5)", "list(5)"),
    *("sorted([1, 'a'])", "get(score, 'a')['b']", "float('nan')", "float('inf')", "1e308 * 10"),
    *("large * large * large * large * large * large * large * large * large * large * large",),
    *("[1] * large", "tone * large", "'a' * score", "text + 1", "[x for x in score]"),
    *("[1 for x in range(1000) for y in range(1000)]", "[sum(many) for x in many]"),
    *("random.choice([])", "random.sample([1], 2)", "random.choice(5)", "random.sample(many, -1)"),
    *("f'{nowhere}'", "set([[1]])", "{[1]: 2}", "set([1])", "zip([1], 5)", "range(1, 5, 0)"),
)
_LOOPS: Final[dict[str, Record]] = {
    "walk": {
        "init": {"place": "5", "path": "[place]"},
        "expressions": {"place": "place + random.choice([-1, 1])", "path": "path + [place]"},
        "loop_until": "place == 0 or place == 10",
    },
    "cards": {
        "init": {"drawn": "[]"},
        "expressions": {
            "_card": "random.choice(['ace', 'king', 'queen', 'jack'])",
            "drawn": "drawn + [_card]",
            "note": "f'{len(drawn)} of {score}'",
        },
        "loop_until": "len(drawn) >= score",
        "max_iterations": 5,
    },
    "sample": {"expressions": {"hand": "random.sample(['A', 'K', 'Q', 'J'] * 2, 4)"}},
    "once": {"expressions": {"a": "1", "b": "a + 1", "_c": "b + 1", "d": "_c * 2"}},
    "endless": {
        "init": {"n": "0"},
        "expressions": {"n": "n + 1"},
        "loop_until": "n < 0",
        "max_iterations": 50,
    },
    "growing": {"init": {"x": "'ab'"}, "expressions": {"x": "x + x"}, "loop_until": "False"},
    "nested": {"init": {"x": "[1]"}, "expressions": {"x": "[x]"}, "loop_until": "False"},
    "squares": {"init": {"x": "3"}, "expressions": {"x": "x * x"}, "loop_until": "False"},
    "no_truth": {"expressions": {"x": "1"}, "loop_until": "x", "max_iterations": 3},
}
_RULES: Final = (
    *("score > 5", "score > large", "out['score'] > 5", "inp['large'] < 5", "wounds['arm'] > 5"),
    *("wounds['arm'] < wounds['leg']", "has(score) and wounds['arm'] > 5", "2 < 1"),
    *("all(i['score'] > 1 for i in items)", "items[0]['score'] > 1", "nowhere > 1"),
    *("wounds['head'] > 1", "score > 'a'", "1 / (score - 2) > 1", "score", "wounds", "note"),
    *("min([]) > 1", "all(sum(many) > x for x in many)", "score < 5", "len(many) < 5"),
)


def answers() -> Iterator[Answer]:
    """Yield the values and the failures of expressions."""
    with scratch() as folder:
        yield from _values(folder)
        yield from _loops(folder)
        yield from _rules(folder)


def _values(folder: Path) -> Iterator[Answer]:
    """Yield what each expression comes to, alone in a step of its own."""
    for group, sources in (("values", _VALUES), ("failing", _FAILING)):
        found: dict[str, Json] = {}
        for source in sources:
            _write(folder, {"step": {"expressions": {"x": source}}})
            checked = check(folder, *_STEP, stdin=lines_of([_UNIT | {"unit_id": 1}]))
            found[source] = _outcome(checked.value)
        yield Answer(name=f"expressions/{group}", value=found, given=list(sources))


def _outcome(value: Mapping[str, Any]) -> Json:
    if value["valid"]:
        (unit,) = value["valid"]
        return {"value": unit["x"]}
    if value["failures"]:
        (failure,) = value["failures"]
        found: Json = {"stage": failure["failure_stage"], "errors": failure["errors"]}
        return found
    return {"exit": value["exit"], "err": value["err"]}


def _loops(folder: Path) -> Iterator[Answer]:
    _write(folder, _LOOPS)
    units = lines_of([{"unit_id": name, "score": 3} for name in ("u1", "u2", 3)])
    for name in _LOOPS:
        step = ("--config", "p.json", "--step", name)
        seeds = [(), ("--seed", "0"), ("--seed", "7")] if "random" in str(_LOOPS[name]) else [()]
        checked = [check(folder, *step, *seed, stdin=units) for seed in seeds]
        yield answer_of(f"expressions/loops/{name}", folder, *checked, given=[units])


def _rules(folder: Path) -> Iterator[Answer]:
    rules = [
        {
            "name": f"r{number:02}",
            "expr": source,
            "error": f"{number}: {{score}} and {{wounds}} and {{nowhere}}",
            "level": "warning" if number % 5 == 4 else "error",
        }
        for number, source in enumerate(_RULES)
    ]
    _write(folder, {"step": {"expressions": {"seen": "1"}}}, rules={"step": {"rules": rules}})
    for name, unit in {
        "all": _UNIT,
        "little": {"score": 9, "many": [], "items": []},
        "twice": _UNIT | {"retry_count": 3},
    }.items():
        checked = check(folder, *_STEP, stdin=lines_of([unit | {"unit_id": name}]))
        value = {"rules": dict(enumerate(_RULES)), "checked": checked.value}
        yield Answer(name=f"expressions/rules/{name}", value=_keyed(value), given=list(_RULES))


def _keyed(value: Any) -> Json:
    found: Json = json.loads(json.dumps(value))
    return found


def _write(
    folder: Path, steps: Mapping[str, Record], *, rules: Mapping[str, Record] | None = None
) -> None:
    """Write a pipeline of steps of expressions; JSON is YAML as well."""
    pipeline: dict[str, Any] = {
        "pipeline": {
            "steps": [{"name": name, "scope": "expression", **one} for name, one in steps.items()]
        }
    }
    if rules:
        pipeline |= {"validation": rules, "prompts": {}, "schemas": {}, "api": {}}
        pipeline["processing"] = {"chunk_size": 10}
    (folder / "p.json").write_text(json.dumps(pipeline), "utf-8")
