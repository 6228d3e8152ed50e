from collections.abc import Mapping

import pytest

from ai_psychiatrist.validation.expressions import EvaluationFailed, Scope, compile_expression

UNIT: Mapping[str, object] = {
    "score": 2,
    "tone": "Warm",
    "note": None,
    "is_done": True,
    "wounds": {"arm": 2, "leg": 0},
    "wound_count": 1,
    "items": [
        {"item": 1, "score": 0, "quotes": []},
        {"item": 2, "score": 3, "quotes": ["so tired"]},
    ],
    "len": 7,
    "_mark": 1,
}
INPUT: Mapping[str, object] = {"threshold": 1, "score": 9, "text": "I am so tired today."}
META: Mapping[str, object] = {"retry_count": 0}


def scope(**options: object) -> Scope:
    return Scope(out=UNIT, inp=INPUT, meta=META, **options)  # type: ignore[arg-type]


def evaluate(source: str, where: Scope | None = None) -> object:
    return compile_expression(source).evaluate(where or scope())


def failure(source: str, where: Scope | None = None) -> tuple[str, str | None]:
    with pytest.raises(EvaluationFailed) as caught:
        evaluate(source, where)
    return caught.value.kind, caught.value.name


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("wound_count == len([v for v in wounds.values() if v > 0])", True),
        ("'wounds' in dir() and 'wound_count' in dir()", True),
        ("score >= threshold", True),
        ("all(i['score'] in [0,1,2,3] for i in items)", True),
        ("0 <= score < threshold < 5", False),
        ("score == 2 or nowhere", True),
        ("not is_done", False),
        ("note is None and is_done is not None", True),
        ("tone if is_done else nowhere", "Warm"),
        ("(score + 1) * 2 - 6 / 3", 4.0),
        ("7 // score + 7 % score", 4),
        ("-score + +1", -1),
        ("1.5 * score", 3.0),
        ("'a' + tone", "aWarm"),
        ("[1] + [score]", [1, 2]),
        ("items[-1]['score']", 3),
        ("items[score - 1]['item']", 2),
        ("tone[0:2]", "Wa"),
        ("[1, 2, 3][::2]", [1, 3]),
        ("{'a': score}['a']", 2),
        ("(score, 1)[0]", 2),
        ("{1, 1, 2} == set([2, 1])", True),
        ("[x * y for x in [1, 2] for y in [3, 4]]", [3, 4, 6, 8]),
        ("[x for x in [[1], [2]] if x != [1]]", [[2]]),
        ("[x for x in wounds]", ["arm", "leg"]),
        ("{v for k, v in wounds.items() if k == 'arm'}", {2}),
        ("[[y for y in x] for x in [[1], [2, 3]]]", [[1], [2, 3]]),
        ("sum(i['score'] for i in items)", 3),
        ("sum([1, 2.5])", 3.5),
        ("min(3, score) + max(i['score'] for i in items)", 5),
        ("min([], default=4)", 4),
        ("abs(-3) + round(2.567, 1)", 5.6),
        ("round(2.5)", 2),
        ("any(i['quotes'] for i in items)", True),
        ("any(x > 1 for x in [2, 'never compared'])", True),
        ("all(items)", True),
        ("sorted([3, 1, 2], reverse=True)", [3, 2, 1]),
        ("sorted(wounds.keys())", ["arm", "leg"]),
        ("list(wounds) + list(tuple([1]))", ["arm", "leg", 1]),
        ("get(wounds, 'head', 5) + get(wounds, 'arm')", 7),
        ("get(items, 9)", None),
        ("wounds.get('head', 0)", 0),
        ("count(i['score'] > 0 for i in items)", 1),
        ("count([1, 2, 1], 1)", 2),
        ("distinct(x % 2 for x in [3, 1, 2])", [1, 0]),
        ("str(score) + str(1.5) + str('x')", "21.5x"),
        ("int(' 5 ') + int(2.9) + float('1e2') + bool([])", 107.0),
        ("list(range(1, 6, 2))", [1, 3, 5]),
        ("zip([1, 2], 'ab')", [(1, "a"), (2, "b")]),
        ("[n for n, i in enumerate(items, start=1) if i['score']]", [2]),
        ("enumerate('ab', 1)", [(1, "a"), (2, "b")]),
        ("isinstance(score, int) and isinstance(tone, (str, list))", True),
        ("isinstance(note, dict)", False),
        ("tone.lower() == 'warm' and tone.upper().startswith('WA')", True),
        ("' a,b '.strip().split(',')", ["a", "b"]),
        ("'a b'.split()", ["a", "b"]),
        ("tone.endswith(('m', 'n'))", True),
        ("'abcabc'.count('bc') + [1, 1].count(1)", 4),
        ("[4, 5].index(5)", 1),
        ("'so' in text and 'tired' in items[1]['quotes'][0]", True),
        ("'arm' in wounds and 'head' not in wounds", True),
        ("[1] in [[1], [2]] and 2.0 in range(3)", True),
        ("set([1, 2]) - set([2])", {1}),
    ],
)
def test_expression_has_the_value_that_its_text_says(source: str, value: object) -> None:
    result = evaluate(source)

    assert result == value
    assert type(result) is type(value)


class TestNames:
    def test_answer_goes_before_the_input(self) -> None:
        assert evaluate("score == 2 and threshold == 1") is True

    def test_protected_name_is_the_inputs_first(self) -> None:
        where = scope(protected=frozenset({"score", "tone"}))

        assert evaluate("score == 9 and tone == 'Warm'", where) is True

    def test_namespaces_are_read_whole(self) -> None:
        source = "out['score'] == 2 and inp['score'] == 9 and meta['retry_count'] == 0"

        assert evaluate(source) is True

    def test_namespace_hides_a_field_of_its_name(self) -> None:
        where = Scope(out={"out": 1, "meta": 2})

        assert evaluate("out['out'] == 1 and out['meta'] == 2 and meta == {}", where) is True

    def test_field_named_like_a_function_leaves_the_function_in_its_place(self) -> None:
        rule = compile_expression("len == 7 and len([1]) == 1")

        assert rule.evaluate(scope()) is True
        assert compile_expression("len(tone) == 4").evaluate(scope()) is True
        assert failure("len == 7", Scope(out={"tone": "x"})) == ("unknown_name", "len")

    def test_names_of_one_unit_are_unknown_in_the_next(self) -> None:
        rule = compile_expression("_mark == 1")

        assert rule.evaluate(scope()) is True
        with pytest.raises(EvaluationFailed, match="_mark"):
            rule.evaluate(Scope(out={}))

    def test_loop_variable_hides_a_field_only_inside_its_loop(self) -> None:
        assert evaluate("[score for score in [5]] == [5] and score == 2") is True
        assert failure("[x for x in [1]] == [1] and x == 1") == ("unknown_name", "x")

    def test_host_function_is_called_with_values(self) -> None:
        where = scope(host={"matches_quote": lambda quote: quote == "so tired"})
        source = "all(matches_quote(q) for i in items for q in i['quotes'])"

        assert evaluate(source, where) is True

    def test_host_function_without_a_host_is_an_unknown_name(self) -> None:
        assert failure("matches_quote('x')") == ("unknown_name", "matches_quote")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("has(wounds)", True),
        ("has('wounds')", True),
        ("has(nowhere)", False),
        ("has(note)", True),
        ("has(wounds['arm'])", True),
        ("has(wounds['head'])", False),
        ("has(items[1]['quotes'][0])", True),
        ("has(items[0]['quotes'][0])", False),
        ("has(tone['a'])", False),
        ("has(nowhere['a']['b'])", False),
        ("has(items[nowhere])", False),
        ("has(out['tone']) and has(meta)", True),
        ("[has(i['quotes'][0]) for i in items]", [False, True]),
        ("'nowhere' not in dir()", True),
        ("'threshold' in dir()", True),
        ("has(nowhere) and nowhere > 1", False),
    ],
)
def test_presence_of_a_field_is_asked_without_failing(source: str, value: object) -> None:
    assert evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("nowhere > 1", "unknown_name", "nowhere"),
        ("all(nowhere for i in items)", "unknown_name", "nowhere"),
        ("wounds['head'] > 1", "missing_key", "head"),
        ("all(i['scor'] > 1 for i in items)", "missing_key", "scor"),
        ("items[5]['score']", "missing_key", "items"),
        ("wounds[tone] > 1", "missing_key", "wounds"),
        ("[1].index(2)", "missing_key", None),
        ("note > 1", "wrong_type", "note"),
        ("tone >= 1", "wrong_type", "tone"),
        ("tone * 3", "wrong_type", "tone"),
        ("tone % 3", "wrong_type", "tone"),
        ("items * 2", "wrong_type", "items"),
        ("tone - 1", "wrong_type", "tone"),
        ("tone + 1", "wrong_type", "tone"),
        ("note['x']", "wrong_type", "note"),
        ("score.lower()", "wrong_type", "score"),
        ("tone.values()", "wrong_type", "tone"),
        ("wounds.lower()", "wrong_type", "wounds"),
        ("sum(tone)", "wrong_type", "tone"),
        ("len(score)", "wrong_type", "score"),
        ("all(score)", "wrong_type", "score"),
        ("[x for x in score]", "wrong_type", "score"),
        ("[a for a, b in items[0]['quotes'] + [1]]", "wrong_type", "items"),
        ("count(i['score'] for i in items)", "wrong_type", "items"),
        ("sorted([1, tone])", "wrong_type", "tone"),
        ("min([])", "wrong_type", None),
        ("int('five')", "wrong_type", None),
        ("int('1_000')", "wrong_type", None),
        ("int('٣')", "wrong_type", None),
        ("str(wounds)", "wrong_type", "wounds"),
        ("round(tone)", "wrong_type", "tone"),
        ("round(score, -9)", "wrong_type", "score"),
        ("{items: 1}", "wrong_type", "items"),
        ("1 in score", "wrong_type", "score"),
        ("1 in tone", "wrong_type", "tone"),
        ("get(tone, 0)", "wrong_type", "tone"),
        ("tone[score:'a']", "wrong_type", "tone"),
        ("wounds[0:1]", "wrong_type", "wounds"),
        ("score / (threshold - 1)", "arithmetic", "score"),
        ("score % 0", "arithmetic", "score"),
        ("float('nan') > score", "arithmetic", "score"),
        ("float('1e300') * float('1e300') > score", "arithmetic", "score"),
    ],
)
def test_failed_evaluation_names_a_field_of_the_text(
    source: str, kind: str, name: str | None
) -> None:
    assert failure(source) == (kind, name)


def test_failed_evaluation_never_shows_a_value() -> None:
    where = Scope(out={"said": "my secret", "places": {"my secret": 1}, "other": "another secret"})

    for source in ("places[other]", "said * 2", "said > 1", "int(said)", "places[said]['x']"):
        with pytest.raises(EvaluationFailed) as caught:
            evaluate(source, where)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("source", "constant"),
    [
        ("1 < 2", True),
        ("False", False),
        ("1 is None", False),
        ("all(x > 0 for x in [1, 2])", True),
        ("1 + 1", None),
        ("score == score", None),
        ("'x' in dir()", None),
        ("len(dir()) == 3", None),
        ("has(x)", None),
        ("matches_quote('x')", None),
        ("1 / 0 == 1", None),
    ],
)
def test_expression_that_reads_nothing_is_known_to_be_constant(
    source: str, constant: bool | None
) -> None:
    assert compile_expression(source).constant is constant
