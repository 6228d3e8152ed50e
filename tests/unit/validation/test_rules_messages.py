import pytest

from ai_psychiatrist.validation.expressions import FieldRead, MessageTemplate, Scope

UNIT: dict[str, object] = {
    "x": 2.346,
    "n": 7,
    "name": "Ann",
    "is_done": True,
    "note": None,
    "b": {"c": 1, "2": "two", "": "empty"},
    "items": [{"score": 3}, {"score": 0}],
    "long": "a" * 500,
    "many": list(range(500)),
}


def message(text: str) -> str:
    return MessageTemplate(text).format(Scope(out=UNIT, inp={"threshold": 5}))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no places", "no places"),
        ("", ""),
        ("{n} is below {threshold}", "7 is below 5"),
        ("{x:.2f}|{x:8.1f}|{n:03d}|{n:,}|{n:+d}|{x:.0%}", "2.35|     2.3|007|7|+7|235%"),
        ("{name:>5}|{name:*^7}|{name:.2}", "  Ann|**Ann**|An"),
        ("{b[c]} {b['c']} {b[2]}", "1 1 two"),
        ("{items[0][score]} {items[-1][score]}", "3 0"),
        ("{out[n]} {inp[threshold]}", "7 5"),
        ("{is_done} {note} {items}", 'true null [{"score": 3}, {"score": 0}]'),
        ("{{n}} {{{n}}}", "{n} {7}"),
        ("{nope} {b[nope]} {items[9][score]} {n[0]}", "{nope} {b[nope]} {items[9][score]} {n[0]}"),
        ("{x.__class__} {x!r} {0} {}", "{x.__class__} {x!r} {0} {}"),
        ("{__class__} {b[__class__]}", "{__class__} {b[__class__]}"),
        ("{n:999999999d} {n:101d} {n:{x}}", "{n:999999999d} {n:101d} {n:2.346}"),
        ("{name:d} {note:.2f} {is_done:.2f} {items:>3}",) * 2,
        ("{n", "{n"),
        ("n}", "n}"),
        ("{long}", "a" * 199 + "…"),
        ("{x:100.2f}", " " * 96 + "2.35"),
    ],
)
def test_places_show_values_or_stay_as_they_are(text: str, shown: str) -> None:
    assert message(text) == shown


def test_each_value_is_cut() -> None:
    assert len(message("{many} {long}")) == 401


def test_fields_and_unusable_places_are_known_before_any_unit() -> None:
    template = MessageTemplate("{n} {b[c]:.2f} {n} {x.real} {{y}} {items[0][score]}")

    assert template.fields == ("n", "b", "items")
    assert template.reads[1] == FieldRead(name="b", keys=("c",))
    assert template.verbatim == ("{x.real}",)


def test_number_of_many_digits_stays_a_place() -> None:
    scope = Scope(out={"n": 10**5_000, "s": "a"})

    assert MessageTemplate("{n} {s}").format(scope) == "{n} a"
