"""What each code of a result means, in words for people."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ai_psychiatrist.domain.assessment import AssessmentMode, AssessmentStatus
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.drive import (
    Change,
    DriveReason,
    DriveVerdict,
    ScoringEnd,
)
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Grounding,
    Match,
    Polarity,
    QuoteRejection,
    Relevance,
    Timeframe,
)
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    FailureCategory,
    FailureCode,
    FailureSeverity,
    RejectionCode,
    UnreadPart,
)
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import UnansweredReason
from ai_psychiatrist.domain.items import NoReferences
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, Severity, UnknownReason
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import RejectReason, ReviewPhase, Verdict
from ai_psychiatrist.domain.risk import (
    ReaderStatus,
    ReadingStatus,
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSignal,
    RiskSource,
)
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.results.wording import (
    NOT_EXAMINED_CAUSES,
    READER_STATES,
    RISK_GROUPS,
    RISK_LEVELS,
    UNANSWERED,
    UNKNOWN_REASONS,
)
from ai_psychiatrist.services.risk.answers import is_unanswered
from ai_psychiatrist.services.transcripts.utterances import ReadingNote

FAILURE_CODES: Final[Mapping[Enum, str]] = {
    FailureCode.OUTPUT_REJECTED: "every reply was refused",
    FailureCode.CONNECTION_FAILED: "the model's server could not be reached",
    FailureCode.TIMED_OUT: "the model took too long",
    FailureCode.BACKEND_ERROR: "the model's server had an error",
    FailureCode.BROKEN_OFF: "the model's server broke its response off",
    FailureCode.MODEL_TOO_LARGE: "the model's server has not enough memory for the model",
    FailureCode.RATE_LIMITED: "too many calls, or the quota is spent",
    FailureCode.NOT_AUTHORISED: "the model's server refused the key",
    FailureCode.MODEL_NOT_FOUND: "the model's server does not know the model",
    FailureCode.REQUEST_REFUSED: "the model's server refused the request",
    FailureCode.MALFORMED_RESPONSE: "the answer of the model's server could not be read",
    FailureCode.CONTENT_FILTERED: "the model's server filtered the content",
    FailureCode.CONTEXT_TRUNCATED: "the transcript is too long for the model",
    FailureCode.CALL_BUDGET_SPENT: "all calls that were allowed were made",
    FailureCode.DEADLINE_EXCEEDED: "the time was up",
    FailureCode.UNGROUNDED_EVIDENCE: "no quote is in the transcript",
    FailureCode.MISSING_INPUT: "what it needs is missing",
    FailureCode.INTERNAL_ERROR: "this program had an error",
}
REJECTION_CODES: Final[Mapping[Enum, str]] = {
    RejectionCode.EMPTY_REPLY: "the reply was empty",
    RejectionCode.ONLY_THINKING: "the model thought, and wrote no answer",
    RejectionCode.REPLY_TOO_LARGE: "the reply was too large",
    RejectionCode.TRUNCATED: "the reply was cut off",
    RejectionCode.NO_JSON: "there was no JSON in the reply",
    RejectionCode.NOT_AN_OBJECT: "the reply was no JSON object",
    RejectionCode.NOT_FINITE: "a number was not finite",
    RejectionCode.TOO_DEEP: "the reply was nested too deep",
    RejectionCode.DUPLICATE_KEY: "a key stood there twice",
    RejectionCode.UNREPAIRABLE: "the JSON was broken beyond repair",
    RejectionCode.SEVERAL_ANSWERS: "several answers in one reply",
    RejectionCode.MISSING_TAG: "a section was missing",
    RejectionCode.EMPTY_FIELD: "a field was empty",
    RejectionCode.MISSING_ITEM: "an item was missing",
    RejectionCode.WRONG_TYPE: "a value had the wrong type",
    RejectionCode.SCORE_MISSING: "a score was missing",
    RejectionCode.SCORE_INVALID: "a score was out of range",
    RejectionCode.CONFIDENCE_INVALID: "a confidence was out of range",
    RejectionCode.TOO_MANY_QUOTES: "too many quotes",
    RejectionCode.SCHEMA_BROKEN: "the reply broke the schema",
    RejectionCode.RULE_BROKEN: "a rule speaks against the reply",
    RejectionCode.UNEXPECTED_TOOL_CALL: "a tool call that was not asked for",
    RejectionCode.NO_TOOL_CALL: "the tool call was missing",
    RejectionCode.UNKNOWN_FIELD: "a field that is not known",
    RejectionCode.WRONG_COUNT: "too few or too many entries",
    RejectionCode.NOT_DISTINCT: "the same entry twice",
    RejectionCode.OUT_OF_RANGE: "a value was out of range",
    RejectionCode.NOT_A_CHOICE: "a word that is no choice",
    RejectionCode.UNKNOWN_ID: "an id that names nothing",
    RejectionCode.TOO_LONG: "a text was too long",
    RejectionCode.NO_PROBABILITIES: "the model's server reports no probabilities",
}
UNREAD_PARTS: Final[Mapping[Enum, str]] = {
    UnreadPart.ITEM: "the answer could not be read",
    UnreadPart.SCORE: "the score could not be read",
    UnreadPart.EVIDENCE: "the quotes of the answer could not be read",
    UnreadPart.CONFIDENCE: "the confidence could not be read",
    UnreadPart.REASON: "the reason could not be read",
    UnreadPart.SEVERITY: "the severity could not be read",
    UnreadPart.EXPLANATION: "the explanation could not be read",
    UnreadPart.QUOTE: "the quote could not be read",
    UnreadPart.KIND: "the kind could not be read",
    UnreadPart.POLARITY: "the polarity could not be read",
    UnreadPart.LEVEL: "the level could not be read",
}
_ENDS: Final[Mapping[str, str]] = {
    "backend_failed": "No part of it was finished, because no model gave an answer that can be "
    "used.",
    "deadline_exceeded": "No part of it was finished in the time that JOBS_TIMEOUT_SECONDS gives.",
    "internal_error": "This program had an error; the log of the server says more.",
    "given_up": "The process that worked on it ended each time; the log of the server says why.",
    "not_available": "It cannot be made in the mode that was asked for: the settings have changed.",
    "assessment_unreadable": "What was stored of it cannot be read.",
}
"""Why a job has no result, by the code that is stored of it."""


STEPS: Final[Mapping[str, str]] = {
    "danger": "Transcript read for danger",
    "assessment": "Begun",
    "findings": "Narrative written",
    "judgement": "Narrative judged",
    "scores": "Items scored from evidence",
    "meta_review": "Everything reviewed",
}
"""What the steps of an assessment are called once they have come, in their usual order."""


def end_words(reason: str) -> str:
    """Return why a job has no result."""
    return _ENDS.get(reason, reason.replace("_", " "))


RULES: Final[Mapping[str, str]] = {
    "eight_items": "an item is missing",
    "na_means_no_score": "a score is given where the model says that there is none",
    "na_needs_reason": "no reason is given for leaving it open",
    "score_needs_evidence": "a score without a quote",
    "quote_in_transcript": "a quote is not in the transcript",
    "not_about_item": "the quotes are not about this item",
    "zero_without_denial": "scored 0, without words that deny it",
    "contradicted_by_evidence": "the quotes say the opposite",
    "one_without_presence": "scored 1, and no quote says that it is there",
    "no_affirmed_evidence": "no quote says clearly that it is so",
    "quote_shared": "a quote is given for several items",
    "na_with_high_confidence": "left open, and sure of it",
    "reader_differs": "the learned reader does not take the quotes for this",
    **{str(part): words for part, words in UNREAD_PARTS.items()},
}
"""The rules over one item, by their names."""


ITEM_QUESTIONS: Final[Mapping[Item, str]] = {
    Item.NO_INTEREST: "Little interest in things, little pleasure in doing them",
    Item.DEPRESSED: "Low, sad or hopeless mood",
    Item.SLEEP: "Trouble falling or staying asleep, or sleeping too much",
    Item.TIRED: "Tiredness, little energy",
    Item.APPETITE: "Poor appetite, or eating too much",
    Item.FAILURE: "Feeling bad about oneself, a failure, or a disappointment",
    Item.CONCENTRATING: "Trouble keeping the mind on something, such as reading",
    Item.MOVING: "Slowed movement or speech that others notice, or restlessness",
}
"""Over the last two weeks, in this project's own words."""


_WORDS: Final[Mapping[type[Enum], Mapping[Enum, str]]] = {
    RecordState: {
        RecordState.WAITING: "waiting",
        RecordState.RUNNING: "in progress",
        RecordState.FINISHED: "finished",
        RecordState.FAILED: "failed",
        RecordState.CANCELLED: "cancelled",
    },
    AssessmentStatus: {
        AssessmentStatus.COMPLETE: "complete",
        AssessmentStatus.PARTIAL: "partial: some parts failed",
        AssessmentStatus.FAILED: "failed: no part finished",
    },
    AssessmentMode: {
        AssessmentMode.ZERO_SHOT: "without examples",
        AssessmentMode.FEW_SHOT: "with scored examples that are like the evidence",
        AssessmentMode.RANDOM_REFERENCES: "with scored examples drawn by chance",
        AssessmentMode.DESCRIPTIONS_ONLY: "with longer descriptions of the items",
    },
    Metric: {
        Metric.COHERENCE: "coherence",
        Metric.COMPLETENESS: "completeness",
        Metric.SPECIFICITY: "specificity",
        Metric.ACCURACY: "accuracy",
    },
    UnknownReason: UNKNOWN_REASONS,
    NotExaminedCause: NOT_EXAMINED_CAUSES,
    Severity: {band: band.label for band in Severity},
    Match: {
        Match.EXACT: "word for word",
        Match.NORMALISED: "the same words; case, spacing or punctuation differ",
        Match.TOLERANT: "the same words but for fillers, repeats or contractions",
    },
    Polarity: {
        Polarity.AFFIRMED: "says that it is so",
        Polarity.DENIED: "says that it is not so",
        Polarity.UNCLEAR: "says neither clearly",
    },
    Frequency: {
        Frequency.NOT_AT_ALL: "not at all",
        Frequency.SEVERAL_DAYS: "several days",
        Frequency.MORE_THAN_HALF: "more than half of the days",
        Frequency.NEARLY_EVERY_DAY: "nearly every day",
        Frequency.UNSTATED: "not stated",
    },
    Timeframe: {
        Timeframe.RECENT: "now, or within two weeks",
        Timeframe.PAST: "before, and over",
        Timeframe.UNSTATED: "not stated",
    },
    Relevance: {
        Relevance.ABOUT: "about this item",
        Relevance.UNREAD: "not determined by the rules",
        Relevance.ELSEWHERE: "about something else",
        Relevance.OTHER_PERSON: "about someone else",
        Relevance.INSTRUCTION: "an instruction, and no evidence",
    },
    QuoteRejection: {
        QuoteRejection.NOT_FOUND: "these words are not in the transcript",
        QuoteRejection.INTERVIEWER_WORDS: "these are the interviewer's words",
        QuoteRejection.CROSSES_SPEAKERS: "it joins words of several speakers",
        QuoteRejection.TOO_SHORT: "too short to show anything",
        QuoteRejection.AMBIGUOUS: "a bare answer that is given more than once",
        QuoteRejection.MEANING_CHANGED: "close to what was said, but it means something else",
        QuoteRejection.NOT_SIMILAR: "too different from what was said",
        QuoteRejection.TOO_LONG: "too long for a quote",
        QuoteRejection.TOO_COSTLY: "its words repeat so often that the search was given up",
    },
    Grounding: {
        Grounding.CHECKED: "every quote was looked up in the transcript",
        Grounding.DISABLED: "quotes were not looked up: the check is switched off",
    },
    BeliefSource: {
        BeliefSource.RULES: "the rules' reading of the quotes",
        BeliefSource.RESCORING: "scoring again, the quotes in another order",
        BeliefSource.TOKENS: "the model's token probabilities",
        BeliefSource.DECISION: "a decision model",
    },
    NoReferences: {
        NoReferences.NO_EVIDENCE: "no quote to search with",
        NoReferences.NONE_LEFT: "no example of another participant is about this item",
        NoReferences.BELOW_FLOOR: "no example is like enough",
        NoReferences.OVER_BUDGET: "no example is short enough",
        NoReferences.UNFIT: "each example's score is contradicted by its own words",
    },
    DriveVerdict: {
        DriveVerdict.EVIDENCE_DRIVEN: "the quotes drive this score",
        DriveVerdict.OVER_DETERMINED: "the quotes are enough, and other words are as well",
        DriveVerdict.NOT_EVIDENCE_DRIVEN: "the quotes do not drive this score",
        DriveVerdict.UNDETERMINED: "whether the quotes drive this score is not known",
    },
    DriveReason: {
        DriveReason.NEEDED: "without them, or with another meaning, the score changes",
        DriveReason.ENOUGH_BUT_NOT_NEEDED: "the score stays without them",
        DriveReason.SAME_IN_SILENCE: "the score is the same when nothing is said",
        DriveReason.MOVED_BY_WORDING: "the score changes with the interviewer's wording",
        DriveReason.MEANING_IGNORED: "the score stays when they mean something else",
        DriveReason.NEITHER_NEEDED_NOR_ENOUGH: "they are neither needed nor enough",
        DriveReason.CALL_FAILED: "a call that it takes gave no answer",
        DriveReason.CHANGE_NOT_MADE: "a change that it takes could not be made",
    },
    Change: {
        Change.ERASED: "quotes struck out",
        Change.ALONE: "quotes alone",
        Change.REVERSED: "quotes reversed",
        Change.TEN_YEARS_BACK: "ten years back",
        Change.REWORDED: "asked in other words",
        Change.SILENT: "nothing said",
    },
    ScoringEnd: {
        ScoringEnd.SCORED: "scored",
        ScoringEnd.NOT_DETERMINABLE: "no score",
        ScoringEnd.NOT_MADE: "not made",
        ScoringEnd.FAILED: "failed",
    },
    InterviewState: {
        InterviewState.PREPARING: "being prepared",
        InterviewState.AWAITING: "waiting for an answer",
        InterviewState.DIGESTING: "working an answer in",
        InterviewState.PAUSED: "paused by the person",
        InterviewState.FAILED: "stopped, because a model failed",
        InterviewState.REPORTING: "over; its report is still to be made",
        InterviewState.DONE: "over",
        InterviewState.SAFETY_HOLD: "held because of a sign of danger",
    },
    UnansweredReason: {
        UnansweredReason.DECLINED: "the person preferred not to say",
        UnansweredReason.AMBIGUOUS_ANSWER: "the answer was not clear",
        UnansweredReason.OFF_TOPIC: "the answer was about something else",
        UnansweredReason.UNREADABLE_ANSWER: "the answer could not be read",
        UnansweredReason.NOT_ASKED: "not asked about",
        UnansweredReason.NOT_ANSWERED: "asked about, and not answered",
        UnansweredReason.SAFETY_HOLD: "held because of a sign of danger",
    },
    RiskLevel: RISK_LEVELS,
    RiskCategory: {
        RiskCategory.SUICIDAL_IDEATION: "suicidal ideation",
        RiskCategory.SELF_HARM: "self-harm",
        RiskCategory.HARM_TO_OTHERS: "harm to others",
        RiskCategory.ABUSE: "abuse",
        RiskCategory.UNSPECIFIED: "danger of no named kind",
    },
    RiskKind: {
        RiskKind.WISH_TO_BE_DEAD: "wish to be dead",
        RiskKind.NONSPECIFIC_THOUGHTS: "thoughts of ending one's life",
        RiskKind.METHOD: "a way to do it",
        RiskKind.INTENT: "intent",
        RiskKind.PLAN: "a plan",
        RiskKind.PREPARATION: "preparation",
        RiskKind.ATTEMPT: "an attempt",
        RiskKind.INTERRUPTED_OR_ABORTED_ATTEMPT: "an interrupted or aborted attempt",
        RiskKind.SELF_INJURY: "self-injury",
        RiskKind.HARM_TO_OTHERS: "harm to others",
        RiskKind.ABUSE_BY_OTHERS: "abuse by others",
        RiskKind.COMMAND_VOICES: "voices that command harm",
        RiskKind.BURDEN_AND_DESPAIR: "being a burden, or no way on",
        RiskKind.GOODBYE: "a farewell",
        RiskKind.UNSPECIFIED: "danger of no named kind",
    },
    ReaderStatus: READER_STATES,
    RiskGroup: RISK_GROUPS,
    RiskPolarity: {
        RiskPolarity.AFFIRMED: "said to be so",
        RiskPolarity.DENIED: "denied",
        RiskPolarity.PAST: "in the past",
        RiskPolarity.HYPOTHETICAL: "as a possibility",
        RiskPolarity.UNCLEAR: "not plainly denied",
        RiskPolarity.QUOTED: "quoted or about someone else",
    },
    RiskSource: {
        RiskSource.RULES: "found by fixed phrases",
        RiskSource.MODEL: "found by a model",
        RiskSource.READER: "found by the learned reader",
    },
    ReadingStatus: {
        ReadingStatus.OFF: "no model read for danger",
        ReadingStatus.ANSWERED: "a model read for danger as well",
        ReadingStatus.FAILED: "the model that reads for danger failed",
    },
    AttemptOutcome: {
        AttemptOutcome.ACCEPTED: "accepted",
        AttemptOutcome.REJECTED: "reply refused",
        AttemptOutcome.FAILED: "call failed",
    },
    FailureCategory: {
        FailureCategory.EVIDENCE_HALLUCINATION: "quotes that were not said",
        FailureCategory.EVIDENCE_SCHEMA: "quotes in a wrong form",
        FailureCategory.AGENT_FAILED: "no usable answer",
        FailureCategory.PARTIAL_REPLY: "a part of the answer could not be read",
        FailureCategory.REFERENCES_FAILED: "examples could not be looked up",
        FailureCategory.STAGE_SKIPPED: "skipped",
        FailureCategory.TRANSCRIPT_UNREADABLE: "the transcript could not be read",
    },
    FailureSeverity: {
        FailureSeverity.WARNING: "warning",
        FailureSeverity.ERROR: "error",
    },
    FailureCode: FAILURE_CODES,
    RejectionCode: REJECTION_CODES,
    UnreadPart: UNREAD_PARTS,
    Speaker: {
        Speaker.INTERVIEWER: "interviewer",
        Speaker.PARTICIPANT: "participant",
        Speaker.OTHER: "someone else",
        Speaker.UNKNOWN: "speaker unknown",
    },
    ReadingNote: {
        ReadingNote.SYNC_MARK: "marks of the recording",
        ReadingNote.SMALL_TALK: "small talk before the interview",
        ReadingNote.BLANK_WORDS: "lines without words",
        ReadingNote.WORDS_WITHOUT_SPEAKER: "words without a speaker",
        ReadingNote.SPEAKER_SPELLING: "speakers spelt in several ways",
        ReadingNote.SPEAKER_UNKNOWN: "speakers that are not known",
        ReadingNote.SPEAKERS_ASSUMED: "no speaker labels: all words count as the participant's",
        ReadingNote.POSSIBLE_DIALOGUE: (
            "looks like questions and answers: an interviewer's words may count as the "
            "participant's; label who speaks"
        ),
        ReadingNote.ENCODING_ASSUMED: "the encoding was assumed",
        ReadingNote.SCRUBBED: "words were removed before",
        ReadingNote.UNRECOGNISED_WORDS: "words that were not recognised",
        ReadingNote.NONVERBAL: "sounds that are no words",
        ReadingNote.CODED_LINE: "lines of codes",
        ReadingNote.INTERRUPTION: "interruptions",
        ReadingNote.TIME_UNREADABLE: "times that cannot be read",
        ReadingNote.NO_INTERVIEWER: "no one is the interviewer",
        ReadingNote.UNQUOTED_SEPARATOR: "separators within words",
        ReadingNote.WORDS_WITHOUT_TIMES: "words without times",
        ReadingNote.REPEATED_WORDS: "words that captions repeat",
        ReadingNote.HEAD_SET_ASIDE: "headings and names before the first turn: no one's words",
        ReadingNote.WORDS_SET_ASIDE: (
            "stretches within the participant's turns that look like someone else's, and were not "
            "read; label them to have them read"
        ),
        ReadingNote.INTERVIEWER_ASSUMED: "the only other label counts as the interviewer's",
    },
    ReviewPhase: {
        ReviewPhase.UNSEEN: "not begun",
        ReviewPhase.BLIND: "rating blind",
        ReviewPhase.SEEN: "rating with the scores seen",
        ReviewPhase.REVEALED: "rated, and revealed",
    },
    Verdict: {
        Verdict.ACCEPTED: "accepted",
        Verdict.REJECTED: "rejected",
    },
    RejectReason: {
        RejectReason.WRONG_ITEM: "about another item",
        RejectReason.NEGATED: "it is denied",
        RejectReason.PAST: "it is past",
        RejectReason.NOT_THE_PARTICIPANT: "not about the participant",
        RejectReason.IRONY: "it is ironic",
        RejectReason.OTHER: "another reason",
    },
}
"""Kept by the kind of code first: codes of two kinds that are spelt alike are equal."""


def words(code: Enum | str) -> str:
    """Return what a code means; the name of a rule or a stage is spelt out."""
    known = _WORDS.get(type(code), {}) if isinstance(code, Enum) else {}
    if isinstance(code, Enum) and code in known:
        return known[code]
    return RULES.get(str(code), str(code).replace("_", " "))


def spoken_of(signal: RiskSignal) -> str:
    """Return how a danger is spoken of, or that a question about it was not answered."""
    return UNANSWERED if is_unanswered(signal) else words(signal.polarity)


def note_words(code: str) -> str:
    """Return what a note on the reading of a transcript means."""
    return words(ReadingNote(code)) if code in set(ReadingNote) else words(code)


def mode_words(mode: str) -> str:
    """Return what a mode of scoring means."""
    return words(AssessmentMode(mode)) if mode in set(AssessmentMode) else words(mode)
