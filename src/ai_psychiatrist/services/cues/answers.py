"""What a bare answer such as "no" says, which only the question before it can tell."""

from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.clauses import clauses_of
from ai_psychiatrist.services.cues.reading import read_turn
from ai_psychiatrist.services.cues.statement import answered
from ai_psychiatrist.services.cues.valence import read_clause

_QUESTION_CHARACTERS: Final = 600


def polarity_of_answer(answer: str, question: str) -> Polarity:
    """Read a bare answer by its question.

    "No" denies after "any trouble sleeping?", affirms after "do you sleep well?", and says nothing
    after a question that names neither symptom nor wellness, or both.
    """
    tail = question[-_QUESTION_CHARACTERS:]
    asked = {
        vote.polarity
        for clause in clauses_of(tail)
        for vote in read_clause(tail[clause.start : clause.end]).votes
    }
    return answered(asked, read_turn(answer).polarity_of(0, len(answer)))
