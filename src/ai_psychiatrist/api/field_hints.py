"""What each field of a request has to be, in words for the caller."""

from typing import Final

FIELD_HINTS: Final = {
    "participant_id": "participant_id has to be a whole number from 1 to 999999.",
    "transcript_text": "transcript_text has to be a string.",
    "callback_url": "callback_url has to be an https:// address of at most 2,048 characters.",
    "subject": "subject has to be a study id of 1-200 characters that are not all blank.",
    "limit": "limit has to be a whole number from 1 to 500.",
    "cursor": "cursor has to be the `next` of a page before; leave it out for the first page.",
    "sort": "sort has to be created, unread, width, danger or total.",
    "band": "band has to be minimal, mild, moderate, moderately_severe or severe.",
    "unknown": "unknown has to be a whole number from 0 to 8.",
    "danger": "danger has to be none, low, not_examined, moderate or high.",
    "state": "state has to be waiting, running, finished, failed or cancelled.",
    "rated": "rated has to be none, any, mine or not_mine.",
    "unread": "unread has to be true or false.",
    "subject_id": "subject_id has to be the random id of a subject, as lists have it.",
    "assessment_id": "assessment_id has to be the id of a stored assessment, at most 500 times.",
    "what": "what has to be results, items, ratings, acknowledgements or interviews.",
    "format": "format has to be jsonl, csv, xlsx or fhir for an export, json or csv for agreement.",
    "bom": "bom has to be true or false.",
    "statements": "statements has to be a list of 1-200 objects with start and end, and of an "
    "interview turn; leave it out for all that are to be read now.",
    "turn": "turn has to be a whole number from 1, the answer of the interview.",
    "note": "note has to be a string of at most 2,000 characters.",
    "blind": "blind has to be true or false.",
    "items": "items has to be an object of all eight items, each with score, 0-3, or cannot_tell, "
    "and evidence, at most 50 of start and end.",
    "kind": "kind has to be evidence, missed or score.",
    "item": "item has to be the key of an item, such as PHQ8_Sleep.",
    "evidence": "evidence has to be the position of a quote among the item's evidence, from 0.",
    "verdict": "verdict has to be accepted or rejected.",
    "reason": "reason has to be wrong_item, negated, past, not_the_participant, irony or other.",
    "start": "start has to be a whole number, a character of the transcript.",
    "end": "end has to be a whole number, the character after the last one.",
    "score": "score has to be a whole number from 0 to 3, or null.",
    "cannot_tell": "cannot_tell has to be true or false.",
    "requests": "requests has to be a list of 1-1000 objects, each as POST /v1/assessments takes "
    "it.",
    "idempotency-key": "Idempotency-Key has to be 1-255 letters, digits or signs of ASCII, a new "
    "one for each request.",
    "last-event-id": "Last-Event-ID has to be the number of an event.",
    "speakers": 'speakers has to be an object such as {"Anna": "participant"}: at most 20 labels, '
    "each participant, interviewer or other.",
    "participant": "participant has to be a label of the transcript, 1-60 characters.",
    "interviewer": "interviewer has to be a label of the transcript, 1-60 characters.",
    "mode": 'mode has to be "zero_shot", "few_shot", "random_references", "descriptions_only", 0, '
    "1 or null.",
    "ablate": "ablate has to be true or false.",
    "certificate": "certificate has to be true or false.",
    "link": "link has to be true or false.",
    "ask_all": "ask_all has to be true or false.",
    "token": "token has to be a string of at most 200 characters: what stands behind the # of a "
    "link.",
    "append": "append has to be true or false.",
    "pause": "pause has to be true or false.",
    "retry": "retry has to be true or false.",
    "protocol": 'protocol has to be the name of a protocol, such as "phq8".',
    "inputs": "inputs has to be an object of at most 50 strings or whole numbers.",
    "assessment": "assessment has to be the JSON of an assessment: its item scores, 0-3 or null, "
    "each with at most 1000 quotes of at most 20000 characters.",
    "question_id": "question_id has to be the id of the question that is answered, a string.",
    "option_id": "option_id has to be the id of an option of the question, a string.",
    "text": "text has to be a string of at most 20000 characters.",
    "stop": "stop has to be true or false.",
    "idempotency_key": "idempotency_key has to be a string of 1-128 letters, digits or -_.:, a new "
    "one for each answer.",
    "version": "version has to be the whole number that the snapshot says.",
    "key": "key has to be an API key, a string such as aip_...",
    "rater": "rater has to be a name of 1-60 letters, digits and blanks.",
}

INTERVIEW_HINTS: Final = {
    "state": "state has to be preparing, awaiting, digesting, paused, failed, reporting, done or "
    "safety_hold.",
    "reason": "reason has to be a string of 1-2000 characters that are not all blank.",
}
"""Of fields that are something else in the routes of interviews."""
BODY: Final = "body"
"""Stands for a body of which no field is at fault, but the whole."""
QUERY: Final = "query"
"""Stands for a name in the query that the caller made up."""
UNKNOWN_FIELD: Final = "unknown"
"""Stands for a field that the caller made up."""
