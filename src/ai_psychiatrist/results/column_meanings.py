"""What each column of the exported tables means, in one sentence with its values."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.domain.phq8 import Item

DATE_COLUMNS: Final = frozenset({"made_at", "at", "begun_at", "changed_at"})
"""Columns of moments, which a workbook has as dates."""

_TOTAL_WORDS: Final = {
    "total": "Sum of the eight items, 0 to 24; empty while an item is unknown.",
    "total_min": "Lowest possible total, 0 to 24: every unknown item counts 0.",
    "total_max": "Highest possible total, 0 to 24: every unknown item counts 3.",
    "severity": "Band of the total: minimal, mild, moderate, moderately severe or severe; empty "
    "while an item is unknown.",
    "severity_min": "Band of the lowest possible total.",
    "severity_max": "Band of the highest possible total.",
    "unknown_items": "Number of items without a score, 0 to 8.",
}
_OF_ASSESSMENT: Final = {
    "assessment_id": "Id of the assessment; the same in all tables.",
    "subject": "Study id of the person; empty where none was given.",
}
_PLACE: Final = {
    "start": "First character of the words, counted from 0 in the transcript.",
    "end": "Character after the last one of the words.",
}
_LEVELS: Final = "none, low, not_examined, moderate or high"


def _of_items(meaning: str, prefix: str = "", suffix: str = "") -> dict[str, str]:
    """Return the columns that there are of each item; `{item}` in a meaning is its label."""
    return {f"{prefix}{one.value}{suffix}": meaning.format(item=one.label) for one in Item}


def _with_interview(meaning: str) -> str:
    return f"With the answers of the interviews that are done: {meaning[0].lower()}{meaning[1:]}"


COLUMN_MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "results": {
        **_OF_ASSESSMENT,
        "made_at": "When the assessment was stored, in UTC.",
        "status": "complete, partial (a part failed) or failed.",
        "mode": "What scoring saw beside the transcript: zero_shot (nothing), few_shot, "
        "random_references or descriptions_only.",
        **_TOTAL_WORDS,
        "danger": f"Gravest level of the signs of danger in the transcript: {_LEVELS}.",
        "danger_read_now": "Number of signs of danger in the transcript that a person has to read: "
        "affirmed, hypothetical or unclear, from moderate on.",
        "turns_not_examined": "Number of turns in a language that the program does not read.",
        "models": "Models that answered, as a JSON list; empty where none did.",
        **_of_items("Score of {item} from the transcript, 0 to 3; empty: unknown."),
        "interview": "SHA-256 of the id of the latest interview that is done; empty without one.",
        **{
            f"with_interview_{name}": _with_interview(words) for name, words in _TOTAL_WORDS.items()
        },
        **_of_items(
            "Score of the person's answer about {item}, 0 to 3; empty where the transcript scored "
            "the item, or no answer did.",
            prefix="interview_",
        ),
        "interview_danger": "Gravest level of danger that held an interview about the assessment; "
        "empty where none did.",
        "interview_danger_read_now": "Number of statements of danger in all its interviews that a "
        "person has to read.",
        "interview_danger_unread": "Number of these that nobody has confirmed reading.",
        "danger_unread": "Number of statements to read now, of the transcript and of all "
        "interviews, that nobody has confirmed reading; empty: the transcript was not read for "
        "danger.",
    },
    "items": {
        **_OF_ASSESSMENT,
        "item": "Which item, such as PHQ8_Sleep.",
        "score": "Score from the transcript, 0 to 3; empty: unknown.",
        "unknown_reason": "Why there is no score: no_mention, unclear, score_na_with_evidence, "
        "no_grounded_evidence, only_denied_or_past, zero_without_denial, not_about_item, "
        "not_examined or scoring_failed.",
        "not_examined_cause": "Why an item was not examined: language or reader_failed.",
        "unread_turn": "Turn, counted from 0, of the question whose answer gave no score.",
        "proposed_score": "Score that the model proposed, 0 to 3, whether or not it was accepted.",
        "confidence": "Confidence that the model stated, 1 (guess) to 5 (certain).",
        "frequency": "Highest frequency that affirming quotes state: not_at_all, several_days, "
        "more_than_half, nearly_every_day or unstated.",
        "evidence": "Number of quotes that are in the transcript and carry the item.",
        "evidence_rejected": "Number of quotes of the model that were rejected.",
        **{
            f"p{score}": f"Probability that the score is {score}, from 0 to 1."
            for score in range(4)
        },
        "p_not_determinable": "Probability that the transcript does not determine the score, from "
        "0 to 1.",
        "calibrated": "Whether the probabilities were calibrated: true or false.",
        "warnings": "Names of the rules that speak against the answer, as a JSON list.",
        "unread_question": "The question whose answer gave no score.",
        "unread_answer": "That answer.",
        "reason": "The model's reason for the score, in its words.",
        "quotes": "The quotes that carry the item, as a JSON list.",
        "interview_score": "Score of the person's answer in an interview, 0 to 3.",
        "interview_unknown_reason": "Why an interview gave no score: declined, ambiguous_answer, "
        "off_topic, unreadable_answer, not_asked, not_answered or safety_hold.",
        "interview_quote": "The person's words that the score of the answer rests on.",
    },
    "ratings": {
        **_OF_ASSESSMENT,
        "number": "Number of what was saved at once; the same in all its rows.",
        "rater": "Id of the rater; the same in all exports.",
        "at": "When it was saved, in UTC.",
        "kind": "committed (a score), committed_evidence (words marked for it), evidence (a "
        "verdict on the program's quote), missed (words that the program missed), score (a changed "
        "score) or gold (the adjudicator's score).",
        "phase": "Whether the rater had seen the program's scores: blind or seen.",
        "item": "Which item, such as PHQ8_Sleep.",
        "score": "Score, 0 to 3; empty where the rater cannot tell, and in rows without a score.",
        "cannot_tell": "Whether the rater cannot tell: true or false; empty in rows without a "
        "score.",
        **_PLACE,
        "evidence": "Which quote of the program's for the item, counted from 0.",
        "verdict": "Verdict on that quote: accepted or rejected.",
        "reason": "Why: of a rejected quote wrong_item, negated, past, not_the_participant, irony "
        "or other; of a gold score the adjudicator's words, in an export with words.",
        "rater_name": "Name of the rater's key, or the name that the rater gave; empty where none "
        "is known.",
    },
    "acknowledgements": {
        **_OF_ASSESSMENT,
        "interview": "SHA-256 of the id of the interview that has the statement; empty: it is in "
        "the transcript.",
        "number": "Number of the confirmation, from 1, of its assessment or interview; the same in "
        "all its rows.",
        "reader": "Id of the person who confirmed reading; the same in all exports.",
        "at": "When it was confirmed, in UTC.",
        "turn": "Answer of the interview that has the statement, counted from 1; empty: it is in "
        "the transcript.",
        "start": "First character of the statement, counted from 0 in the transcript or the "
        "answer.",
        "end": "Character after the last one of the statement.",
        "note": "What the person noted; empty without a note, and in exports without words.",
        "reader_name": "Name of the person's key, or the name that the person gave; empty where "
        "none is known.",
    },
    "interviews": {
        "assessment_id": "Id of the assessment that the interview is about; empty without one.",
        "subject": "Study id of the person; empty where none was given.",
        "interview": "SHA-256 of the interview's id, which itself would let its reader answer.",
        "begun_at": "When it began, in UTC.",
        "changed_at": "When it last changed, in UTC.",
        "protocol": "Name of the protocol, the set of questions.",
        "state": "preparing, awaiting (an answer), digesting (an answer is being read), paused, "
        "failed, reporting, done or safety_hold.",
        "end_reason": "Why it ended: all_resolved, confidence_reached, asks_spent, turns_spent, "
        "stalled, budget_spent, stopped or safety; empty while it goes on.",
        "answers": "Number of answers.",
        "reopened": "How often it was reopened after a hold; empty where it cannot be read.",
        "danger": f"Gravest level of danger in the answers: {_LEVELS}; empty: nothing held it.",
        "danger_read_now": "Number of statements of danger in it that a person has to read.",
        "danger_unread": "Number of these that nobody has confirmed reading.",
        **{name: _with_interview(words) for name, words in _TOTAL_WORDS.items()},
        **_of_items("Score of {item} after the interview, 0 to 3; empty: unknown."),
        **_of_items(
            "Where the score of {item} comes from: transcript, answer, earlier_answer (of an "
            "interview before it) or none.",
            suffix="_from",
        ),
    },
}
"""By what is exported, as `what` of the export names it, and by column."""
