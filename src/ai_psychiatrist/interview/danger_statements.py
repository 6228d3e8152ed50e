"""The sentences of an interview with signs of danger, for the person who has to read them."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.acknowledgement import Statement
from ai_psychiatrist.interview.record import Danger, Interview
from ai_psychiatrist.services.risk.context import sentence_around


@dataclass(frozen=True, slots=True, kw_only=True)
class DangerStatement:
    """A sentence with a sign of danger, and the question that it answers."""

    turn: int
    """The turn of the answer, from 1."""
    question: str = field(repr=False)
    """As it was put."""
    text: str = field(repr=False)
    """The words in which the sign was found."""
    sentence: str = field(repr=False)
    """The whole sentence that they stand in."""


def places_to_read(interview: Interview) -> tuple[Statement, ...]:
    """Return the statements of danger that a person is to read, in their order."""
    places = (place for danger in interview.dangers for place in danger.places)
    found = {Statement(turn=one.turn, start=one.start, end=one.end) for one in places}
    return tuple(sorted(found))


def danger_statements(interview: Interview, danger: Danger) -> tuple[DangerStatement, ...]:
    """Return the statements at the places of a danger, in their order."""
    said = {place.turn: interview.words_of(place.turn) for place in danger.places}
    return tuple(
        DangerStatement(
            turn=place.turn,
            question=interview.question_before(place.turn),
            text=said[place.turn][place.start : place.end],
            sentence=sentence_around(said[place.turn], place.start, place.end),
        )
        for place in danger.places
    )
