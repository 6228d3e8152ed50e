"""What can be odd about a dataset's files, what is done about it, and what that costs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Cost(StrEnum):
    """What is lost by an oddity."""

    NOTHING = "nothing"
    LABEL = "label"
    """A label, or a part of one."""
    UNIT = "unit"
    """The text of a unit, so that it cannot be assessed."""


class OddityCode(StrEnum):
    """What is odd."""

    SYNC_MARK = "sync_mark"
    SMALL_TALK = "small_talk"
    BLANK_WORDS = "blank_words"
    WORDS_WITHOUT_SPEAKER = "words_without_speaker"
    SPEAKER_SPELLING = "speaker_spelling"
    SCRUBBED = "scrubbed"
    UNRECOGNISED_WORDS = "unrecognised_words"
    NONVERBAL = "nonverbal"
    CODED_LINE = "coded_line"
    INTERRUPTION = "interruption"
    TIME_UNREADABLE = "time_unreadable"
    NO_INTERVIEWER = "no_interviewer"
    UNQUOTED_SEPARATOR = "unquoted_separator"
    SPEAKER_OTHER = "speaker_other"
    SPEAKER_UNKNOWN = "speaker_unknown"
    SPEAKERS_ASSUMED = "speakers_assumed"
    WORDS_WITHOUT_TIMES = "words_without_times"
    ENCODING_ASSUMED = "encoding_assumed"
    REPEATED_WORDS = "repeated_words"

    NOT_TEXT = "not_text"
    WRONG_HEADER = "wrong_header"
    BROKEN_ROW = "broken_row"
    NO_WORDS = "no_words"
    NO_PARTICIPANT = "no_participant"
    SUBTITLES_REFUSED = "subtitles_refused"
    DOCUMENT_REFUSED = "document_refused"
    UNKNOWN_FORM = "unknown_form"
    SEVERAL_INTERVIEWS = "several_interviews"
    TOO_LARGE = "too_large"
    SPEAKERS_UNKNOWN = "speakers_unknown"
    SPEAKERS_MISNAMED = "speakers_misnamed"
    LINE_UNREADABLE = "line_unreadable"
    APPLE_DOUBLE = "apple_double"
    APPLE_DOUBLE_AS_TRANSCRIPT = "apple_double_as_transcript"
    ARCHIVE = "archive"
    TRANSCRIPT_REPEATED = "transcript_repeated"
    TRANSCRIPTS_DIFFER = "transcripts_differ"
    TRANSCRIPT_MISSING = "transcript_missing"
    FOLDER_NAME_DIFFERS = "folder_name_differs"
    ID_OUTSIDE_CORPUS = "id_outside_corpus"
    SUBFOLDER = "subfolder"
    OTHER_FILE = "other_file"
    OTHER_FORM = "other_form"
    NOT_OF_KIND = "not_of_kind"
    LINK_LEADS_OUT = "link_leads_out"
    ID_MISSING = "id_missing"
    ID_REPEATED = "id_repeated"

    NO_LABELS = "no_labels"
    LABEL_MISSING = "label_missing"
    LABEL_WITHOUT_SCORES = "label_without_scores"
    NOT_A_LABEL_FILE = "not_a_label_file"
    ROW_WITHOUT_ID = "row_without_id"
    ROW_BROKEN = "row_broken"
    ROW_REPEATED = "row_repeated"
    LABELS_DIFFER = "labels_differ"
    IN_TWO_SPLITS = "in_two_splits"
    VALUE_UNREADABLE = "value_unreadable"
    VALUE_OUT_OF_RANGE = "value_out_of_range"
    ITEM_RECOVERED = "item_recovered"
    ITEMS_BLANK = "items_blank"
    TOTAL_NOT_SUM = "total_not_sum"
    BINARY_NOT_TOTAL = "binary_not_total"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Treatment:
    action: str
    cost: Cost = Cost.NOTHING


def _no_text(reason: str) -> _Treatment:
    return _Treatment(action=f"unit kept without text: {reason}", cost=Cost.UNIT)


def _no_label(reason: str) -> _Treatment:
    return _Treatment(action=f"unit kept without label: {reason}", cost=Cost.LABEL)


_CURE: Final = (
    "say it with --participant LABEL, a row file,label,role in speakers.csv, or a first line "
    "`speakers: LABEL = participant` in the file"
)
_KEPT_ONE: Final = "the first is kept, the others are left out"
_TREATMENTS: Final = {
    OddityCode.SYNC_MARK: _Treatment(action="row left out"),
    OddityCode.SMALL_TALK: _Treatment(action="rows before the interviewer's first left out"),
    OddityCode.BLANK_WORDS: _Treatment(action="row without words left out"),
    OddityCode.WORDS_WITHOUT_SPEAKER: _Treatment(action="kept as nobody's words: never evidence"),
    OddityCode.SPEAKER_SPELLING: _Treatment(action="speaker read without case and spaces"),
    OddityCode.SCRUBBED: _Treatment(action="left out, or a placeholder between other words"),
    OddityCode.UNRECOGNISED_WORDS: _Treatment(action="kept as written"),
    OddityCode.NONVERBAL: _Treatment(action="kept as written; quotes are compared without it"),
    OddityCode.CODED_LINE: _Treatment(action="code or spoken words kept, as the option says"),
    OddityCode.INTERRUPTION: _Treatment(action="rows inside the window left out"),
    OddityCode.TIME_UNREADABLE: _Treatment(
        action="kept without a time, taken to be outside the window"
    ),
    OddityCode.NO_INTERVIEWER: _Treatment(action="kept whole"),
    OddityCode.UNQUOTED_SEPARATOR: _Treatment(action="kept as part of the words"),
    OddityCode.SPEAKER_OTHER: _Treatment(action="kept as words that are not the participant's"),
    OddityCode.SPEAKER_UNKNOWN: _Treatment(action="kept as words that are not the participant's"),
    OddityCode.SPEAKERS_ASSUMED: _Treatment(action="no labels: all words are the participant's"),
    OddityCode.WORDS_WITHOUT_TIMES: _Treatment(action="line that belongs to no cue left out"),
    OddityCode.ENCODING_ASSUMED: _Treatment(
        action="read in the likeliest encoding: look at a few words"
    ),
    OddityCode.REPEATED_WORDS: _Treatment(action="kept as written: a cue repeats the one before"),
    OddityCode.NOT_TEXT: _no_text("the file is not text, or cannot be read"),
    OddityCode.WRONG_HEADER: _no_text("the header is not that of a transcript"),
    OddityCode.BROKEN_ROW: _no_text("a row or a record is not as the form has it"),
    OddityCode.NO_WORDS: _no_text("nobody says a word"),
    OddityCode.NO_PARTICIPANT: _no_text("no words of a participant"),
    OddityCode.SUBTITLES_REFUSED: _no_text("the subtitle file is malformed"),
    OddityCode.DOCUMENT_REFUSED: _no_text("the document is malformed, or too large unpacked"),
    OddityCode.UNKNOWN_FORM: _no_text("JSON or a table in no form that is known"),
    OddityCode.SEVERAL_INTERVIEWS: _no_text("several interviews; open the file by itself"),
    OddityCode.TOO_LARGE: _no_text("more turns or bytes than a transcript has"),
    OddityCode.SPEAKERS_UNKNOWN: _no_text(f"nobody has said who the participant is; {_CURE}"),
    OddityCode.SPEAKERS_MISNAMED: _no_text(f"its line of speakers cannot be used; {_CURE}"),
    OddityCode.LINE_UNREADABLE: _Treatment(
        action="line left out: not JSON, or not an interview", cost=Cost.UNIT
    ),
    OddityCode.APPLE_DOUBLE: _Treatment(action="file left out"),
    OddityCode.APPLE_DOUBLE_AS_TRANSCRIPT: _no_text("a Mac's stub; unpack the archive again"),
    OddityCode.ARCHIVE: _Treatment(action="not read: unpack it", cost=Cost.UNIT),
    OddityCode.TRANSCRIPT_REPEATED: _Treatment(action=f"same content: {_KEPT_ONE}"),
    OddityCode.TRANSCRIPTS_DIFFER: _no_text("several files with different content"),
    OddityCode.TRANSCRIPT_MISSING: _no_text("a label, but no transcript"),
    OddityCode.FOLDER_NAME_DIFFERS: _Treatment(action="the file's name counts"),
    OddityCode.ID_OUTSIDE_CORPUS: _Treatment(action="kept; the corpus has no such session"),
    OddityCode.SUBFOLDER: _Treatment(
        action="files not read: open the folder as a dataset of its own", cost=Cost.UNIT
    ),
    OddityCode.OTHER_FILE: _Treatment(action="not read: no transcript by its name"),
    OddityCode.OTHER_FORM: _Treatment(
        action="not read: save it as .txt, .docx, .csv, .json, .vtt or .srt", cost=Cost.UNIT
    ),
    OddityCode.NOT_OF_KIND: _Treatment(
        action="not read: the kind that was asked for has sessions alone", cost=Cost.UNIT
    ),
    OddityCode.LINK_LEADS_OUT: _Treatment(
        action="not read: copy the file into the folder", cost=Cost.UNIT
    ),
    OddityCode.ID_MISSING: _Treatment(action="the number of the line is its identifier"),
    OddityCode.ID_REPEATED: _Treatment(action=_KEPT_ONE, cost=Cost.UNIT),
    OddityCode.NO_LABELS: _Treatment(action="units kept without labels: there is no label file"),
    OddityCode.LABEL_MISSING: _no_label("in no label file"),
    OddityCode.LABEL_WITHOUT_SCORES: _Treatment(action="unit kept without label: no scores given"),
    OddityCode.NOT_A_LABEL_FILE: _Treatment(action="not read: no column of scores, none of words"),
    OddityCode.ROW_WITHOUT_ID: _Treatment(action="row left out", cost=Cost.LABEL),
    OddityCode.ROW_BROKEN: _no_label("more columns than the header"),
    OddityCode.ROW_REPEATED: _Treatment(action="the rows agree and are joined"),
    OddityCode.LABELS_DIFFER: _no_label("label files contradict each other"),
    OddityCode.IN_TWO_SPLITS: _Treatment(action="unit kept without a split", cost=Cost.LABEL),
    OddityCode.VALUE_UNREADABLE: _no_label("a value is no whole number"),
    OddityCode.VALUE_OUT_OF_RANGE: _no_label("a value is outside its range"),
    OddityCode.ITEM_RECOVERED: _Treatment(action="filled with the total minus the other seven"),
    OddityCode.ITEMS_BLANK: _Treatment(action="kept unknown", cost=Cost.LABEL),
    OddityCode.TOTAL_NOT_SUM: _Treatment(
        action="items kept, total unknown: they do not add up", cost=Cost.LABEL
    ),
    OddityCode.BINARY_NOT_TOTAL: _Treatment(action="binary label taken from the total"),
}


NOT_READ: Final = frozenset(
    {
        OddityCode.ARCHIVE,
        OddityCode.ID_REPEATED,
        OddityCode.LINE_UNREADABLE,
        OddityCode.LINK_LEADS_OUT,
        OddityCode.NOT_OF_KIND,
        OddityCode.OTHER_FORM,
        OddityCode.SUBFOLDER,
    }
)
"""What may be an interview and is no unit, so that no count of units has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """One thing that is odd about one file or unit."""

    where: str
    """A unit's identifier, or a file's name relative to the dataset; never text of a transcript."""
    code: OddityCode
    line: int | None = None
    """The first line concerned, from 1."""
    count: int = 1
    """How many rows of the file, or files of the folder, are concerned."""
    labels: tuple[str, ...] = field(default=(), repr=False)
    """Of speakers, as found: names maybe, so for whoever checks the dataset and nobody else."""

    @property
    def action(self) -> str:
        """What was done about it."""
        return _TREATMENTS[self.code].action

    @property
    def cost(self) -> Cost:
        """What is lost by it."""
        return _TREATMENTS[self.code].cost


def tallied(where: str, found: Iterable[tuple[OddityCode, int | None]]) -> Iterator[Oddity]:
    """Join findings (code, line) of one file into an oddity per code, in the order first seen."""
    lines: dict[OddityCode, list[int | None]] = {}
    for code, line in found:
        lines.setdefault(code, []).append(line)
    for code, seen in lines.items():
        yield Oddity(where=where, code=code, line=seen[0], count=len(seen))
