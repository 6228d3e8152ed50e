import pytest

from ai_psychiatrist.validation.expressions import FieldRead, compile_expression


def place(name: str, *keys: str | int) -> FieldRead:
    return FieldRead(name=name, keys=keys)


def asked(name: str, *keys: str | int) -> FieldRead:
    return FieldRead(name=name, keys=keys, is_guarded=True)


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("score >= threshold", [place("score"), place("threshold")]),
        ("score + score > 1", [place("score")]),
        ("a['b']['c'] > 1", [place("a", "b", "c")]),
        ("a[-1]['c'] > 1", [place("a", -1, "c")]),
        ("out['score'] > 1", [place("out", "score")]),
        ("a[key]['c'] > 1", [place("a"), place("key")]),
        ("has(a['b']) and a > 1", [asked("a", "b"), place("a")]),
        ("has('a')", [asked("a")]),
        ("'a' in dir()", [asked("a")]),
        ("'a' not in dir()", [asked("a")]),
        ("'b' in a", [place("a"), asked("a", "b")]),
        ("get(a, 'b', c)", [place("a"), asked("a", "b"), place("c")]),
        ("a.get('b')", [place("a"), asked("a", "b")]),
        ("a['b'].lower()", [place("a", "b")]),
        ("isinstance(a, str)", [place("a")]),
        ("min(xs, default=other)", [place("xs"), place("other")]),
        ("all(i['score'] > 0 for i in items)", [place("items"), place("items", 0, "score")]),
        ("[i for i in items]", [place("items")]),
        ("[items[0] for i in a['b']]", [place("a", "b"), FieldRead(name="items", keys=(0,))]),
        (
            "[q['text'] for i in items for q in i['quotes']]",
            [
                place("items"),
                place("items", 0, "quotes"),
                place("items", 0, "quotes", 0, "text"),
            ],
        ),
        ("[v['x'] for k, v in a.items()]", [place("a")]),
        ("[items for items in items]", [place("items")]),
        ("matches_quote(q)", [place("q")]),
        ("1 < 2", []),
    ],
)
def test_reads_are_the_places_that_the_text_names(source: str, reads: list[FieldRead]) -> None:
    expression = compile_expression(source)

    assert list(expression.reads) == reads
    assert expression.names == {read.name for read in reads}


@pytest.mark.parametrize(
    ("source", "compared"),
    [
        ("a > 1", [(place("a"), "number")]),
        ("1.5 <= a['b']", [(place("a", "b"), "number")]),
        ("a == -1", [(place("a"), "number")]),
        ("a == 'x'", [(place("a"), "string")]),
        ("a == True", [(place("a"), "boolean")]),
        ("a + 1 > b", [(place("a"), "number")]),
        ("a in ['x', 'y']", [(place("a"), "string")]),
        ("a in ['x', 1]", []),
        ("a in []", []),
        ("'x' in a", []),
        ("a is None", []),
        ("a == None", []),
        ("a > b", []),
        ("[i['s'] == 'x' for i in a]", [(place("a", 0, "s"), "string")]),
        ("[k == 'x' for k in a]", []),
    ],
)
def test_constants_tell_the_types_that_a_rule_expects(
    source: str, compared: list[tuple[FieldRead, str]]
) -> None:
    assert list(compile_expression(source).compared_types) == compared
