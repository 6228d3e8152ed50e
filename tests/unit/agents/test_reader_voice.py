"""What the learned reader does to scores: it takes back the baseline's, and marks a model's."""

import asyncio
from dataclasses import replace

import pytest
from tests.fakes.replies import evidence_text, scoring_answer, scoring_text
from tests.fakes.scripted import ScriptedModel, route
from tests.fakes.scripted_reader import ScriptedReader, reading_by

from ai_psychiatrist.agents.baseline.answers import baseline_route
from ai_psychiatrist.agents.context import (
    AssessmentContext,
    assessment_context,
    sharing_transcripts,
)
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.domain.evidence import Relevance
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = """\
Interviewer: How have you been sleeping?
Participant: I wake up at four every night.
Interviewer: Are you feeling down?
Participant: No, I don't feel down at all.
Interviewer: And the weather?
Participant: It rained on the washing the whole week.
"""
AWAKE = "I wake up at four every night."
CHEERFUL = "I don't feel down at all."
WEATHER = "It rained on the washing the whole week."
SHARING = ScriptedReader(present={"at four": Item.SLEEP}, denied={"feel down": Item.DEPRESSED})


def case_of(reader: ScriptedReader | None) -> AssessmentContext:
    transcript = parse_transcript(INTERVIEW)
    case = assessment_context(transcript)
    return case if reader is None else replace(case, learned_reading=reading_by(reader, transcript))


def assessed(chain: FallbackChain, reader: ScriptedReader | None) -> dict[Item, ItemAssessment]:
    agent = QuantitativeAssessmentAgent(chain, pydantic_ai_settings=PydanticAISettings(retries=0))

    async def assess() -> dict[Item, ItemAssessment]:
        case = case_of(reader)
        with sharing_transcripts():
            case.share_transcript()
            found = await agent.assess(case)
        assert found is not None
        return dict(found.items)

    return asyncio.run(assess())


def by_baseline(reader: ScriptedReader | None) -> dict[Item, ItemAssessment]:
    return assessed((baseline_route(),), reader)


def by_model(
    reader: ScriptedReader | None, item: Item, score: int, quote: str
) -> dict[Item, ItemAssessment]:
    answer = scoring_answer([])
    answer[item.value] |= {"score": score, "evidence": [quote], "confidence": 3}
    replies = [evidence_text({item.value: [quote]}), scoring_text(answer)]
    return assessed((route(ScriptedModel(replies)),), reader)


@pytest.mark.parametrize("reader", [None, SHARING], ids=["rules alone", "shared"])
def test_what_the_rules_find_stands_alone_and_where_the_reader_shares_it(
    reader: ScriptedReader | None,
) -> None:
    found = by_baseline(reader)
    assert found[Item.SLEEP].score == 3
    assert found[Item.DEPRESSED].score == 0


@pytest.mark.parametrize(("item", "quote"), [(Item.SLEEP, AWAKE), (Item.DEPRESSED, "feel down")])
def test_what_the_reader_does_not_share_is_unclear_with_its_quotes(item: Item, quote: str) -> None:
    found = by_baseline(ScriptedReader())[item]
    assert found.score is None
    assert found.unknown_reason is UnknownReason.UNCLEAR
    assert any(quote in one.text for one in found.evidence)
    assert "learned reader" in found.reason


def test_a_reader_that_fails_takes_nothing_back() -> None:
    assert by_baseline(ScriptedReader(fails=True))[Item.SLEEP].score == 3


def test_a_symptom_of_quotes_that_nobody_takes_for_the_item_is_unknown() -> None:
    found = by_model(ScriptedReader(), Item.SLEEP, 3, WEATHER)[Item.SLEEP]
    assert {one.relevance for one in found.evidence} == {Relevance.UNREAD}
    assert (found.score, found.proposed_score) == (None, 3)
    assert found.unknown_reason is UnknownReason.NOT_ABOUT_ITEM


def test_without_a_reader_a_model_keeps_what_the_rules_cannot_read() -> None:
    assert by_model(None, Item.SLEEP, 3, WEATHER)[Item.SLEEP].score == 3


def test_a_quote_that_the_reader_takes_for_the_item_carries_a_models_score() -> None:
    reader = ScriptedReader(present={"washing": Item.SLEEP})
    found = by_model(reader, Item.SLEEP, 2, WEATHER)[Item.SLEEP]
    assert found.score == 2
    assert "reader_differs" not in found.warnings


def test_against_what_the_rules_read_the_reader_is_a_warning_and_no_veto() -> None:
    found = by_model(ScriptedReader(), Item.SLEEP, 3, AWAKE)[Item.SLEEP]
    assert found.score == 3
    assert "reader_differs" in found.warnings
    denied = by_model(ScriptedReader(), Item.DEPRESSED, 0, CHEERFUL)[Item.DEPRESSED]
    assert denied.score == 0
    assert "reader_differs" in denied.warnings


def test_the_changed_transcript_of_an_ablation_is_read_anew() -> None:
    changed = parse_transcript(INTERVIEW.replace("at four", "at five"))
    case = case_of(SHARING)

    async def shares() -> tuple[bool, bool]:
        before, after = case, case.changed_to(changed)
        segments = [
            one.index.ground(one.transcript.words(one.transcript.turns[1]).strip())
            for one in (before, after)
        ]
        return (
            await before.learned_reading.shares_present(
                Item.SLEEP, getattr(segments[0], "segments", ())
            ),
            await after.learned_reading.shares_present(
                Item.SLEEP, getattr(segments[1], "segments", ())
            ),
        )

    assert asyncio.run(shares()) == (True, False)
