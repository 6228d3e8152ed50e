"""A dataset: units with their labels, the issues of its files, and text read when needed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field

from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, MAX_TOTAL_SCORE, Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.transcripts.formats.known import NAMED_ENDINGS


class Cost(StrEnum):
    """What is lost by an issue."""

    NOTHING = "nothing"
    LABEL = "label"
    """A label, or a part of one."""
    UNIT = "unit"
    """The text of a unit, so that it cannot be assessed."""


_CURE: Final = (
    "say it with --participant LABEL, a row file,label,role in speakers.csv, or a first line "
    "`speakers: LABEL = participant` in the file"
)
_KEPT_ONE: Final = "the first is kept, the others are left out"


def _no_text(code: str, reason: str) -> tuple[str, str, Cost]:
    return code, f"unit kept without text: {reason}", Cost.UNIT


def _no_label(code: str, reason: str) -> tuple[str, str, Cost]:
    return code, f"unit kept without label: {reason}", Cost.LABEL


def _not_read(code: str, action: str) -> tuple[str, str, Cost, bool]:
    return code, action, Cost.UNIT, True


class IssueCode(StrEnum):
    """What is odd, what is done about it, and what that costs."""

    action: str
    cost: Cost
    is_not_read: bool
    """Whether it may be an interview and is no unit, so that no count of units has it."""

    def __new__(
        cls,
        code: str,
        action: str = "",
        cost: Cost = Cost.NOTHING,
        is_not_read: bool = False,  # noqa: FBT001, FBT002 - of the table below alone
    ) -> Self:
        """Give a code what belongs to it."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.action, member.cost, member.is_not_read = action, cost, is_not_read
        return member

    SYNC_MARK = "sync_mark", "row left out"
    SMALL_TALK = "small_talk", "rows before the interviewer's first left out"
    BLANK_WORDS = "blank_words", "row without words left out"
    WORDS_WITHOUT_SPEAKER = "words_without_speaker", "stored without a speaker: never evidence"
    SPEAKER_SPELLING = "speaker_spelling", "speaker read without case and spaces"
    SCRUBBED = "scrubbed", "left out, or a placeholder between other words"
    UNRECOGNISED_WORDS = "unrecognised_words", "kept as written"
    NONVERBAL = "nonverbal", "kept as written; quotes are compared without it"
    CODED_LINE = "coded_line", "code or spoken words kept, as the option says"
    INTERRUPTION = "interruption", "rows inside the window left out"
    TIME_UNREADABLE = "time_unreadable", "kept without a time, taken to be outside the window"
    NO_INTERVIEWER = "no_interviewer", "kept whole"
    UNQUOTED_SEPARATOR = "unquoted_separator", "kept as part of the words"
    SPEAKER_OTHER = "speaker_other", "kept as words that are not the participant's"
    SPEAKER_UNKNOWN = "speaker_unknown", "kept as words that are not the participant's"
    SPEAKERS_ASSUMED = "speakers_assumed", "no labels: all words are the participant's"
    POSSIBLE_DIALOGUE = (
        "possible_dialogue",
        "questions and answers without labels: label who speaks",
    )
    WORDS_WITHOUT_TIMES = "words_without_times", "line that belongs to no cue left out"
    ENCODING_ASSUMED = "encoding_assumed", "read in the likeliest encoding: look at a few words"
    REPEATED_WORDS = "repeated_words", "kept as written: a cue repeats the one before"
    HEAD_SET_ASIDE = "head_set_aside", "headings before the first turn: never evidence"
    WORDS_SET_ASIDE = "words_set_aside", "stored without a speaker: label them to have them read"
    INTERVIEWER_ASSUMED = "interviewer_assumed", "the only other label is the interviewer's"

    NOT_TEXT = _no_text("not_text", "the file is not text, or cannot be read")
    WRONG_HEADER = _no_text("wrong_header", "the header is not that of a transcript")
    BROKEN_ROW = _no_text("broken_row", "a row or a record is not as the form has it")
    NO_WORDS = _no_text("no_words", "there are no spoken words")
    NO_PARTICIPANT = _no_text("no_participant", "no words of a participant")
    SUBTITLES_REFUSED = _no_text("subtitles_refused", "the subtitle file is malformed")
    DOCUMENT_REFUSED = _no_text(
        "document_refused", "the document is malformed, or too large unpacked"
    )
    UNKNOWN_FORM = _no_text("unknown_form", "JSON or a table in no form that is known")
    SEVERAL_INTERVIEWS = _no_text(
        "several_interviews", "several interviews; open the file by itself"
    )
    TOO_LARGE = _no_text("too_large", "more turns or bytes than a transcript has")
    SPEAKERS_UNKNOWN = _no_text("speakers_unknown", f"the participant is not named; {_CURE}")
    SPEAKERS_MISNAMED = _no_text(
        "speakers_misnamed", f"its line of speakers cannot be used; {_CURE}"
    )
    LINE_UNREADABLE = _not_read("line_unreadable", "line left out: not JSON, or not an interview")
    APPLE_DOUBLE = "apple_double", "file left out"
    APPLE_DOUBLE_AS_TRANSCRIPT = _no_text(
        "apple_double_as_transcript", "a Mac's stub; unpack the archive again"
    )
    ARCHIVE = _not_read("archive", "not read: unpack it")
    TRANSCRIPT_REPEATED = "transcript_repeated", f"same content: {_KEPT_ONE}"
    TRANSCRIPTS_DIFFER = _no_text("transcripts_differ", "several files with different content")
    TRANSCRIPT_MISSING = _no_text("transcript_missing", "a label, but no transcript")
    FOLDER_NAME_DIFFERS = "folder_name_differs", "the file's name counts"
    ID_OUTSIDE_CORPUS = "id_outside_corpus", "kept; the corpus has no such session"
    SUBFOLDER = _not_read("subfolder", "files not read: open the folder as a dataset of its own")
    OTHER_FILE = "other_file", "not read: no transcript by its name"
    OTHER_FORM = _not_read("other_form", f"not read: save it as {NAMED_ENDINGS}")
    NOT_OF_KIND = _not_read(
        "not_of_kind", "not read: the kind that was asked for has sessions alone"
    )
    LINK_LEADS_OUT = _not_read("link_leads_out", "not read: copy the file into the folder")
    ID_MISSING = "id_missing", "the number of the line is its identifier"
    PARTICIPANT_UNUSABLE = (
        "participant_unusable",
        "no number and no short text: taken for a person of their own",
    )
    ID_REPEATED = _not_read("id_repeated", _KEPT_ONE)

    NO_LABELS = "no_labels", "units kept without labels: there is no label file"
    LABEL_MISSING = _no_label("label_missing", "in no label file")
    COLUMNS_UNKNOWN = "columns_unknown", "columns of label files that are not used"
    FIELDS_UNKNOWN = "fields_unknown", "fields of lines that are not used"
    SUMMARY_ROWS = "summary_rows", "rows of figures below the participants left out"
    NONE_AMONG_WORDS = (
        "none_among_words",
        "`None` among answers in words read as no answer",
        Cost.LABEL,
    )
    SCORES_UNKNOWN = "scores_unknown", "file not used: no column of scores is known", Cost.LABEL
    IDENTIFIER_MISSING = (
        "identifier_missing",
        "file not used: scores, but no known column of identifiers",
        Cost.LABEL,
    )
    CODES_UNCLEAR = (
        "codes_unclear",
        "labels of the file not used: no item is 0, or one is 4, as if coded from 1",
        Cost.LABEL,
    )
    OCCASIONS = (
        "occasions",
        "labels of the file not used: units have scores on several occasions",
        Cost.LABEL,
    )
    IDS_NEARLY_MATCH = (
        "ids_nearly_match",
        "units kept apart: identifiers of labels and transcripts differ in their spelling",
        Cost.LABEL,
    )
    TEXTS_IN_TABLE = (
        "texts_in_table",
        "labels read; a column of the label file holds texts, which are not",
    )
    LABEL_WITHOUT_SCORES = "label_without_scores", "unit kept without label: no scores given"
    NOT_A_LABEL_FILE = "not_a_label_file", "not read: no column of scores, none of words"
    ROW_WITHOUT_ID = "row_without_id", "row left out", Cost.LABEL
    ROW_BROKEN = _no_label("row_broken", "more or fewer columns than the header")
    ROW_REPEATED = "row_repeated", "the rows agree and are joined"
    LABELS_DIFFER = _no_label("labels_differ", "rows of label files contradict each other")
    TRAITS_DIFFER = (
        "traits_differ",
        "what label files say of the person differs: such a column is left out",
    )
    IN_TWO_SPLITS = "in_two_splits", "unit kept without a split", Cost.LABEL
    VALUE_UNREADABLE = _no_label("value_unreadable", "a value is no whole number")
    VALUE_OUT_OF_RANGE = _no_label("value_out_of_range", "a value is outside its range")
    ITEM_RECOVERED = "item_recovered", "filled with the total minus the other seven"
    ITEMS_BLANK = "items_blank", "kept unknown", Cost.LABEL
    TOTAL_NOT_SUM = "total_not_sum", "items kept, total unknown: they do not add up", Cost.LABEL
    BINARY_NOT_TOTAL = "binary_not_total", "binary label taken from the total"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataIssue:
    """One thing that is odd about one file or unit."""

    where: str
    """A unit's identifier, or a file's name relative to the dataset; never text of a transcript."""
    code: IssueCode
    line: int | None = None
    """The first line concerned, from 1."""
    count: int = 1
    """How many rows of the file, or files of the folder, are concerned."""
    labels: tuple[str, ...] = field(default=(), repr=False)
    """Of speakers, as found: they may be names, so they are shown in the check alone."""
    hint: str | None = None
    """What to do about it, where that depends on the file."""


ItemScore = Annotated[int, Field(ge=0, le=MAX_ITEM_SCORE)]


class DatasetKind(StrEnum):
    """The forms that a dataset can have."""

    DAIC_WOZ = "daic-woz"
    E_DAIC = "e-daic"
    JSONL = "jsonl"
    TEXT = "text"
    """Files of any form that is known, one interview each."""
    MIXED = "mixed"
    """Sessions of DAIC-WOZ or E-DAIC, and other interviews next to them."""
    TABLE = "table"
    """A table with an interview in each row."""


CORPORA: Final = frozenset({DatasetKind.DAIC_WOZ, DatasetKind.E_DAIC})
"""The kinds of which every interview is a session with a number."""


class SpeakerFilter(StrEnum):
    """Whose words the text of a unit holds."""

    PARTICIPANT_ONLY = "participant-only"
    BOTH = "both"
    QUESTION_CONTEXT = "question-context"
    """The participant's lines, each with the line of another speaker directly before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What is known of a unit's true scores."""

    items: Mapping[Item, ItemScore | None]
    """Empty when the dataset has no item scores; else all eight, 0–3, `None` where blank."""
    total: Annotated[int, Field(ge=0, le=MAX_TOTAL_SCORE)] | None
    """0–24; the sum of the items where the dataset gives none."""
    binary: bool | None
    """Whether the total is at least 10; `None` without a total and without a label of its own."""
    is_recovered: bool = False
    """Whether one blank item was filled with the total minus the other seven."""
    second_items: Mapping[Item, ItemScore | None] = field(default_factory=dict)
    """Those of a second rater of the same interview; empty when there is none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What label files say of the person in short words, such as `Gender` and `site`."""

    @property
    def has_all_items(self) -> bool:
        """Whether all eight item scores are known."""
        return bool(self.items) and None not in self.items.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One interview, by its identifier; its text may be missing all the same."""

    unit_id: Annotated[str, Field(min_length=1)]
    participant_id: int | str | None = None
    """Who spoke, where several units may be of one participant."""
    split: str | None = None
    """The split that the dataset itself puts the unit into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetUnit(Unit):
    """One interview of a dataset."""

    labels: Labels | None
    """`None` when there are none or they cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFile:
    """What the columns of a label file were taken for."""

    name: str
    columns: Mapping[str, str]
    """`unit_id`, `participant`, an item, `total`, `binary` or `split` → the name of its column."""
    kept: Sequence[str]
    """The columns that are kept of each unit: groups."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Units in a fixed order, and a way to their texts."""

    kind: DatasetKind
    path: Path
    units: tuple[DatasetUnit, ...]
    issues: tuple[DataIssue, ...]
    digest: str
    """SHA-256 over the texts' files in order and the options of their reading; hexadecimal."""
    labels_digest: str = ""
    """SHA-256 over the label files and the options of their reading; "" without labels."""
    label_files: tuple[LabelFile, ...] = ()
    """Those with a row that names a unit."""
    reading: str = ""
    """SHA-256 over the options alone that decide on the texts."""
    speakers: SpeakerFilter
    unreadable: frozenset[str] = frozenset()
    """Identifiers of units whose text is missing or cannot be used; the issues say why."""
    selection: str | None = None
    """Digest over the identifiers that were chosen of all; `None` when none were left out."""
    transcript: Callable[[str], Transcript] = field(repr=False, compare=False)
    """Returns the interview of a unit, of the speakers that are wanted, read from its file again.

    Raises `TranscriptUnreadable` when there is no file, the file is no transcript or has changed
    since the dataset was opened, and `InputError` for a unit that is not there.
    """

    @cached_property
    def by_id(self) -> Mapping[str, DatasetUnit]:
        """The units by their ids."""
        return {unit.unit_id: unit for unit in self.units}

    @cached_property
    def labelled(self) -> Sequence[Labels]:
        """The labels of the units that have any."""
        return [unit.labels for unit in self.units if unit.labels is not None]

    @cached_property
    def issues_by_code(self) -> Mapping[IssueCode, Sequence[DataIssue]]:
        """Code → its places, costly codes first."""
        order = [Cost.UNIT, Cost.LABEL, Cost.NOTHING]
        codes = sorted(
            {one.code for one in self.issues}, key=lambda one: (order.index(one.cost), one)
        )
        return {code: [one for one in self.issues if one.code is code] for code in codes}

    @property
    def is_whole(self) -> bool:
        """Whether no unit and no label was lost."""
        return all(issue.code.cost is Cost.NOTHING for issue in self.issues)

    @property
    def not_read(self) -> dict[str, int]:
        """What is left out although it may hold an interview: code → how many files or lines."""
        left_out: Counter[str] = Counter()
        for issue in self.issues:
            if issue.code.is_not_read:
                left_out[issue.code.value] += issue.count
        return dict(sorted(left_out.items()))
