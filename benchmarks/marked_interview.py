"""A made-up interview of 400 turns, and its assessment with 200 marks."""

from typing import Final

from ai_psychiatrist import assess_sync
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TURNS: Final = 400
MARKS: Final = 200


def interview() -> str:
    """Return an interview of so many turns."""
    return "".join(
        f"Interviewer: And how was day {number} for you, all in all?\n"
        f"Participant: On day {number} I hardly slept, and I felt tired nearly all the time.\n"
        for number in range(TURNS // 2)
    )


def marked_assessment() -> tuple[Assessment, Transcript]:
    """Return its assessment with so many quotes, dealt out to the items in turn."""
    transcript = parse_transcript(interview())
    turns = [turn for turn in transcript.turns if turn.index % 2]
    quotes: dict[str, list[dict[str, object]]] = {item.value: [] for item in Item}
    for number in range(MARKS):
        turn, item = turns[number % len(turns)], tuple(Item)[number % len(Item)]
        start = turn.words_start + number % 7
        segment = {"turn": turn.index, "start": start, "end": start + 40}
        text = transcript.text[start : start + 40]
        quotes[item.value].append({"text": text, "match": "exact", "segments": [segment]})
    found = assess_sync(interview()).model_dump()
    for item, one in found["quantitative"]["items"].items():
        one["evidence"] = quotes[item]
    return Assessment.model_validate(found), transcript
