"""What each code of a result means, in words for whoever reads the page."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ai_psychiatrist.domain.assessment import AssessmentMode, AssessmentStatus, Metric
from ai_psychiatrist.domain.belief import BeliefSource
from ai_psychiatrist.domain.drive import Change, DriveReason, DriveVerdict, ScoringEnd
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
from ai_psychiatrist.domain.phq8 import NotExaminedCause, Severity, UnknownReason
from ai_psychiatrist.domain.reader import ReaderStatus
from ai_psychiatrist.domain.references import NoReferences
from ai_psychiatrist.domain.review import RejectReason, ReviewPhase, Verdict
from ai_psychiatrist.domain.risk import (
    ReadingStatus,
    RiskCategory,
    RiskGroup,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSource,
)
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.results.page.failure_words import (
    FAILURE_CODES,
    REJECTION_CODES,
    RULES,
    UNREAD_PARTS,
)
from ai_psychiatrist.results.wording import (
    NOT_EXAMINED_CAUSES,
    READER_STATES,
    RISK_GROUPS,
    RISK_LEVELS,
    UNKNOWN_REASONS,
)
from ai_psychiatrist.services.transcripts.utterances import ReadingNote

_WORDS: Final[Mapping[type[Enum], Mapping[Enum, str]]] = {
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
        Relevance.UNREAD: "not told by the rules",
        Relevance.ELSEWHERE: "about something else",
        Relevance.OTHER_PERSON: "about somebody else",
        Relevance.INSTRUCTION: "an instruction, and no evidence",
    },
    QuoteRejection: {
        QuoteRejection.NOT_FOUND: "these words are not in the transcript",
        QuoteRejection.INTERVIEWER_WORDS: "these are the interviewer's words",
        QuoteRejection.CROSSES_SPEAKERS: "it joins words of several speakers",
        QuoteRejection.TOO_SHORT: "too short to tell anything",
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
        RiskPolarity.QUOTED: "about, or in the words of, somebody else",
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
        FailureCategory.EVIDENCE_HALLUCINATION: "quotes that nobody said",
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
        Speaker.OTHER: "somebody else",
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
        ReadingNote.ENCODING_ASSUMED: "the encoding was assumed",
        ReadingNote.SCRUBBED: "words were removed before",
        ReadingNote.UNRECOGNISED_WORDS: "words that were not recognised",
        ReadingNote.NONVERBAL: "sounds that are no words",
        ReadingNote.CODED_LINE: "lines of codes",
        ReadingNote.INTERRUPTION: "interruptions",
        ReadingNote.TIME_UNREADABLE: "times that cannot be read",
        ReadingNote.NO_INTERVIEWER: "nobody is the interviewer",
        ReadingNote.UNQUOTED_SEPARATOR: "separators within words",
        ReadingNote.WORDS_WITHOUT_TIMES: "words without times",
        ReadingNote.REPEATED_WORDS: "words that captions repeat",
        ReadingNote.HEAD_SET_ASIDE: "headings and names before the first turn: nobody's words",
        ReadingNote.WORDS_SET_ASIDE: (
            "stretches within the participant's turns that look like somebody else's, and were not "
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


def note_words(code: str) -> str:
    """Return what a note on the reading of a transcript means."""
    return words(ReadingNote(code)) if code in set(ReadingNote) else words(code)


def mode_words(mode: str) -> str:
    """Return what a mode of scoring means."""
    return words(AssessmentMode(mode)) if mode in set(AssessmentMode) else words(mode)
