"""Every code that a result can hold has words, and the words of no two codes are mixed up."""

from importlib.resources import files

import yaml

from ai_psychiatrist import agents
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import UnknownReason
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.shape import adapter_of
from ai_psychiatrist.results.page.words import _WORDS, RULES, mode_words, note_words, words

CODES = [member for kind in _WORDS for member in kind]
_NAMED_ELSEWHERE = {"CallPath", "Item"}
"""`CallPath` is not shown, and items have labels."""


def test_every_code_has_words_of_its_own() -> None:
    shown = {code: words(code) for code in CODES}
    assert [code for code, text in shown.items() if not text or "_" in text] == []
    for kind in _WORDS:
        assert len({words(code) for code in kind}) == len(kind), kind


def test_codes_that_are_spelt_alike_keep_their_own_words() -> None:
    assert words(UnknownReason.NOT_EXAMINED) != words(RiskLevel.NOT_EXAMINED)


def test_every_kind_of_code_in_a_result_is_worded() -> None:
    schema = adapter_of(Assessment).json_schema(mode="serialization")
    kinds = {name for name, one in schema["$defs"].items() if "enum" in one}
    assert len(kinds) > 15
    assert kinds - {kind.__name__ for kind in _WORDS} == _NAMED_ELSEWHERE & kinds


def test_every_rule_over_an_item_has_words() -> None:
    declared = yaml.safe_load((files(agents) / "contracts" / "pipeline.yaml").read_text("utf-8"))
    names = {rule["name"] for rule in declared["validation"]["item"]["rules"]}
    assert names
    assert names <= set(RULES)
    for name in names:
        assert words(name) == RULES[name]


def test_names_that_come_as_text_have_words() -> None:
    assert mode_words("zero_shot") == "without examples"
    assert mode_words("a_mode") == "a mode"
    assert note_words("sync_mark") == "marks of the recording"
    assert note_words("a_note") == "a note"
