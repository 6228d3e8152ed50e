"""Which answers the person of an interview is shown to have given, and as what they were noted."""

import asyncio
from pathlib import Path

from tests.unit.interview.built import PROTOCOLS, Desk, desk

from ai_psychiatrist.api.participant_page import changeable_answers
from ai_psychiatrist.domain.phq8 import Item


def test_what_was_answered_stands_with_its_question_and_the_words_it_was_noted_as(
    tmp_path: Path,
) -> None:
    async def answered(one: Desk) -> list[tuple[Item, str, str]]:
        await one.begin()
        first = one.question.text
        await one.choose("Several days")
        await one.say("hard to say")
        second = PROTOCOLS["phq8"].items[Item.DEPRESSED].question
        await one.say("nearly every day, I think")
        third = one.question.text
        await one.decline()
        await one.say("no idea")
        protocol = one.service.protocol_of(one.snapshot)
        found = changeable_answers(one.snapshot, protocol)
        assert [shown.question for shown in found] == [first, second, third]
        return [(shown.item, shown.words, shown.noted) for shown in found]

    with desk(tmp_path / "state") as one:
        assert asyncio.run(answered(one)) == [
            (Item.NO_INTEREST, "Several days", "Several days"),
            (Item.DEPRESSED, "nearly every day, I think", "Nearly every day"),
            (Item.SLEEP, "I prefer not to say", "I prefer not to say"),
        ]
