import warnings

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.expressions import ExpressionRefused, compile_expression


def refusal(source: str) -> ExpressionRefused:
    with pytest.raises(ExpressionRefused) as caught:
        compile_expression(source)
    return caught.value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[].__class__", "reading an attribute"),
        ("score.real", "reading an attribute"),
        ("1 .real", "reading an attribute"),
        ("(1).__class__.__bases__[0].__subclasses__()", "reading an attribute"),
        ("''.__class__.__mro__", "reading an attribute"),
        ("len.__self__", "reading an attribute"),
        ("items.sort()", "calling 'sort'"),
        ("items.append(1)", "calling 'append'"),
        ("items.clear()", "calling 'clear'"),
        ("wounds.pop('arm')", "calling 'pop'"),
        ("wounds.update({})", "calling 'update'"),
        ("wounds.setdefault('a', 1)", "calling 'setdefault'"),
        ("wounds.__setitem__('a', 1)", "calling '__setitem__'"),
        ("'{0.__class__}'.format(score)", "calling 'format'"),
        ("'{x}'.format_map(wounds)", "calling 'format_map'"),
        ("'a'.join(items)", "calling 'join'"),
        ("'a'.ljust(100000000)", "calling 'ljust'"),
        ("'a'.encode()", "calling 'encode'"),
        ("f'{score}'", "a formatted text"),
        ("f'{score:%099999999d}'", "a formatted text"),
        ("'%099999999d' % 1", "formatting a text with '%'"),
        ("[1] * 3 * 10000000", "repeating a list or a text"),
        ("[1] * 100", "repeating a list or a text"),
        ("100 * 'a'", "repeating a list or a text"),
        ("([1] + [2]) * score", "repeating a list or a text"),
        ("[x for x in items] * 2", "repeating a list or a text"),
        ("2 ** 99999", "'**'"),
        ("1 << 99999", "'<<'"),
        ("1 >> 1", "'>>'"),
        ("1 & 1", "'&'"),
        ("1 | 1", "'|'"),
        ("1 ^ 1", "'^'"),
        ("items @ items", "'@'"),
        ("~1", "'~'"),
        ("lambda: 1", "'lambda'"),
        ("(lambda: 1)()", "calling what is no function of the table"),
        ("(score := 3) > 1", "an assignment"),
        ("[y := 1 for x in items]", "an assignment"),
        ("await score", "'await'"),
        ("(yield 1)", "'yield'"),
        ("{k: v for k, v in wounds.items()}", "a dictionary built in a loop"),
        ("(x for x in items)", "a loop in round brackets"),
        ("[(x for x in items)]", "a loop in round brackets"),
        ("zip((x for x in items))", "a loop in round brackets"),
        ("count([1], (x for x in items))", "a loop in round brackets"),
        ("[x async for x in items]", "'async'"),
        ("[0 for x in items for y in items for z in items]", "more than 2 loops"),
        ("[[[0 for x in items] for y in items] for z in items]", "more than 2 loops"),
        ("[0 for x.y in items]", "a loop over anything but plain names"),
        ("[0 for x[0] in items]", "a loop over anything but plain names"),
        ("[0 for *x, y in items]", "a loop over anything but plain names"),
        ("[0 for __x in items]", "a name that begins with '__'"),
        ("open('/etc/passwd')", "calling 'open'"),
        ("open('/etc/passwd').read()", "calling 'open'"),
        ("__import__('os').system('true')", "calling '__import__'"),
        ("__import__('os')", "calling '__import__'"),
        ("__builtins__", "a name that begins with '__'"),
        ("__builtins__['open']", "a name that begins with '__'"),
        ("_\uff3fclass\uff3f\uff3f", "a name that begins with '__'"),
        ("eval('1')", "calling 'eval'"),
        ("exec('1')", "calling 'exec'"),
        ("compile('1', '', 'eval')", "calling 'compile'"),
        ("globals()", "calling 'globals'"),
        ("locals()", "calling 'locals'"),
        ("vars()", "calling 'vars'"),
        ("getattr(score, 'real')", "calling 'getattr'"),
        ("type(score)", "calling 'type'"),
        ("print(score)", "calling 'print'"),
        ("random.random()", "calling 'random'"),
        ("len(*items)", "unpacking with '*'"),
        ("len(**wounds)", "calling this with so many"),
        ("max(1, **wounds)", "a value given by this name"),
        ("max(items, key=len)", "a value given by this name"),
        ("sorted(items, key=len)", "a value given by this name"),
        ("round(1, ndigits=99)", "a value given by this name"),
        ("sum([[1]], [])", "calling this with so many"),
        ("len()", "calling this with so many"),
        ("dir(score)", "calling this with so many"),
        ("{**wounds}", "unpacking with '**'"),
        ("[*items]", "unpacking with '*'"),
        ("items[0](1)", "calling what is no function of the table"),
        ("len(items)(1)", "calling what is no function of the table"),
        ("has(len(items))", "'has' of anything but a field"),
        ("has(items[0:1])", "'has' of anything but a field"),
        ("has('not a name')", "'has' of anything but a field"),
        ("isinstance(score, set)", "'isinstance' with a type other than"),
        ("isinstance(score, (int, score))", "'isinstance' with a type other than"),
        ("score is 1", "'is' with anything but"),
        ("score is items", "'is' with anything but"),
        ("1 < score in items", "'in' within a chain"),
        ("b'bytes' == score", "a constant of this type"),
        ("1j == score", "a constant of this type"),
        ("... == score", "a constant of this type"),
        ("1e999 > score", "a number beyond"),
        ("1" + "0" * 30 + " > score", "a number beyond"),
        ("'" + "a" * 1_001 + "' == score", "a text of more than 1000"),
        ("items[1, 2:3]", "a slice in this place"),
    ],
)
def test_expression_beyond_the_table_is_refused(source: str, message: str) -> None:
    assert refusal(source).message.startswith(message)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("", id="empty"),
        pytest.param("  \n", id="blank"),
        pytest.param("score >", id="unfinished"),
        pytest.param("score = 1", id="assignment"),
        pytest.param("del items[0]", id="statement"),
        pytest.param("import os", id="import"),
        pytest.param("score; score", id="two_statements"),
        pytest.param("score\nscore", id="two_lines"),
        pytest.param("for x in items: x", id="loop_statement"),
        pytest.param("while True: 1", id="endless_loop"),
        pytest.param("score\x00", id="null_byte"),
        pytest.param("'\ud800' == score", id="lone_surrogate"),
        pytest.param(r"'\d' == score", id="unknown_escape"),
        pytest.param("1if score else 2", id="number_run_into_a_word"),
        pytest.param("len(x for x in items, 1)", id="malformed_generator"),
        pytest.param("(" * 900 + "1" + ")" * 900, id="brackets"),
        pytest.param("(" * 100_000, id="open_brackets"),
        pytest.param("[" * 61 + "]" * 61, id="nested_lists"),
        pytest.param("-" * 1_900 + "1", id="signs"),
        pytest.param("not " * 400 + "1", id="negations"),
        pytest.param("+".join("1" * 900), id="long_sum"),
        pytest.param("1 if a else " * 120 + "1", id="long_choice"),
        pytest.param("a" + "[0]" * 600, id="long_path"),
        pytest.param("a" * 2_001, id="too_long"),
    ],
)
def test_text_that_is_no_bounded_expression_is_refused(source: str) -> None:
    assert refusal(source).column >= 1


def test_refusal_names_the_column_and_the_part() -> None:
    problem = refusal("score > 1 and items.append(2)")

    assert problem.column == 15
    assert str(problem) == "calling 'append' is not allowed (column 15)"
    assert isinstance(problem, ConfigurationError)


def test_column_is_counted_in_characters() -> None:
    assert refusal("tone == 'größer ☺' and [].x").column == 24


@pytest.mark.parametrize("source", ["1 is None", "'abc'['x'] == score", "(1, 2)['a']"])
def test_what_python_would_warn_of_raises_no_warning(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_expression(source)


def test_unknown_escape_is_refused_even_where_warnings_are_silenced() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refusal(r"'\d' == score")
