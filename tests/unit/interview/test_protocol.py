"""Protocols that come with the package, the example, and the inputs of an interview."""

from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.free_answers import read_answer
from ai_psychiatrist.interview.protocol import (
    BUILTIN_PROTOCOLS,
    AgentVerb,
    ProtocolKind,
    accepted_inputs,
    filled,
    is_protocol,
    leading_words,
    lint_protocol,
    load_protocol,
)

EXAMPLE = Path(__file__).parents[3] / "examples" / "protocol"
DIGESTS = {"phq8": "21deb75e918ad6c9", "incident": "4dbcb5694f2d29d5"}
"""Stored interviews go on with the protocol that they were begun with, known by its digest."""
INCIDENT = {
    "title": "The cake",
    "summary": "Somebody ate it.",
    "interviewee_name": "Ada",
    "interviewee_role": "baker",
}


@pytest.mark.parametrize("name", BUILTIN_PROTOCOLS)
def test_a_built_in_protocol_has_no_problems(name: str) -> None:
    protocol = load_protocol(name)

    assert protocol.id == name
    assert protocol.digest.startswith(DIGESTS[name])


def test_phq8_asks_about_every_item_in_three_wordings_that_suggest_nothing() -> None:
    protocol = load_protocol("phq8")
    wordings = [
        wording
        for stem in protocol.items.values()
        for wording in (stem.question, stem.clarifying, stem.second_ask)
    ]

    assert set(protocol.items) == set(Item)
    assert len(set(wordings)) == 24
    assert not any(map(leading_words, wordings))
    assert not protocol.needs_model
    assert (protocol.stop.max_asks, protocol.stop.max_turns) == (2, 24)


def test_phq8_reads_its_own_anchors_as_the_scores_that_they_carry() -> None:
    protocol = load_protocol("phq8")

    read = {
        (item, anchor.score): read_answer(item, anchor.text).score
        for item, stem in protocol.items.items()
        for anchor in protocol.answers.anchors
    }

    assert read == {key: key[1] for key in read}


def test_incident_has_guidelines_for_all_six_agents() -> None:
    protocol = load_protocol("incident")

    assert protocol.kind is ProtocolKind.GOALS
    assert protocol.goals is not None
    assert protocol.goals.generated is not None
    assert (protocol.goals.generated.min, protocol.goals.generated.max) == (5, 7)
    assert set(protocol.guidelines) == set(AgentVerb)
    assert protocol.report == "analysis"
    assert (protocol.answers.offered, protocol.stop.max_turns, protocol.stop.stall_turns) == (
        4,
        20,
        3,
    )


def test_the_example_of_the_documentation_loads_without_problems() -> None:
    protocol = load_protocol(EXAMPLE)

    assert lint_protocol(EXAMPLE) == []
    assert protocol.goals is not None
    assert len(protocol.goals.fixed) == 3
    assert AgentVerb.GENERATE_GOALS not in protocol.guidelines


def test_a_protocol_is_loaded_by_its_folder_and_by_its_file_alike() -> None:
    assert load_protocol(EXAMPLE).digest == load_protocol(EXAMPLE / "protocol.yaml").digest
    assert is_protocol(EXAMPLE)
    assert is_protocol(EXAMPLE / "protocol.yaml")
    assert not is_protocol(EXAMPLE.parent / "pipeline")


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean 'incident'\?; there are phq8"):
        load_protocol("incidents")


def test_the_threshold_is_the_input_or_its_default() -> None:
    protocol = load_protocol("incident")

    given = accepted_inputs(protocol, INCIDENT | {"confidence_threshold": "20"})
    absent = accepted_inputs(protocol, INCIDENT)

    assert (protocol.threshold(given), protocol.threshold(absent)) == (20, 90)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"title": " "}, "inputs.title", id="blank"),
        pytest.param({"title": 5}, "inputs.title", id="number_for_text"),
        pytest.param({"title": "x" * 201}, "inputs.title", id="too_long"),
        pytest.param({"confidence_threshold": 19}, "inputs.confidence_threshold", id="too_low"),
        pytest.param({"confidence_threshold": 96}, "inputs.confidence_threshold", id="too_high"),
        pytest.param({"confidence_threshold": "9.5"}, "inputs.confidence_threshold", id="decimal"),
        pytest.param({"confidence_threshold": True}, "inputs.confidence_threshold", id="true"),
        pytest.param({"secret words": "x"}, "inputs", id="unknown"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_by_name(
    change: dict[str, str | int], field: str
) -> None:
    with pytest.raises(InputError) as refused:
        accepted_inputs(load_protocol("incident"), INCIDENT | change)

    assert refused.value.field == field
    assert "secret words" not in str(refused.value)


def test_rules_over_the_inputs_are_kept() -> None:
    inputs = {"title": "Ward four", "summary": "Quiet", "interviewee_name": "Ada"}

    with pytest.raises(InputError, match="has to say more than the title"):
        accepted_inputs(load_protocol(EXAMPLE), inputs)


def test_places_in_sentences_take_inputs_as_they_are() -> None:
    assert filled("Hello {name}.", {"name": "{title}", "title": "x"}) == "Hello {title}."


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("Surely you slept?", ("surely",), id="surely"),
        pytest.param("You slept badly, didn’t you?", ("didn't you",), id="curly_apostrophe"),
        pytest.param("So it was you, right?", ("right?",), id="tag"),
        pytest.param("He left, did he not?", ("did he not?",), id="tag_with_not"),
        pytest.param("Where were you, and did you get it right?", (), id="right_without_comma"),
        pytest.param("How often were you tired?", (), id="open"),
    ],
)
def test_words_that_suggest_an_answer_are_found(question: str, words: tuple[str, ...]) -> None:
    assert leading_words(question) == words


def test_the_documentation_shows_the_example_as_it_is() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "interview.md").read_text(encoding="utf-8")

    assert (EXAMPLE / "protocol.yaml").read_text(encoding="utf-8") in page
