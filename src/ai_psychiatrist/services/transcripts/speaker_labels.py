"""Whom a label stands for: the built-in table, what settings add, and what the caller says."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias

import rtoml

from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown
from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.lines import CLOCK, INVISIBLE
from ai_psychiatrist.services.transcripts.persons import MANNERS, PERSONS
from ai_psychiatrist.services.transcripts.utterances import ReadingNote

Roles: TypeAlias = tuple[tuple[str, Speaker], ...]
"""Labels, each with whom it stands for."""

HOW_TO_TELL: Final = (
    "name the participant: --participant LABEL on the command line, participant=LABEL in Python, "
    'speakers {"LABEL": "participant"} over HTTP, a first line `speakers: LABEL = participant` in '
    "the file, or a speakers.csv in a folder; TRANSCRIPT_PARTICIPANT_LABELS names one for all"
)
_NOT_TOLD: Final = (
    "the transcript has speaker labels, but none is known to be the participant's; " + HOW_TO_TELL
)
_NOT_THERE: Final = f"the transcript does not have the named label; {HOW_TO_TELL}"

EVERYBODY: Final = "*"
"""Instead of a label: all words, whatever labels they have."""
GIVEN_ROLES: Final = (Speaker.PARTICIPANT, Speaker.INTERVIEWER, Speaker.OTHER)
LONGEST_LABEL: Final = 60
_BLANKS: Final = re.compile(r"[\s_-]+")
_NOTE: Final = re.compile(r"(?:[(\[（<][^()\[\]（）<>]{0,40}[)\]）>]|(?<=\S) ?:\d{1,2})\s*\Z")
_NUMBER: Final = re.compile(r" ?\d+\Z")
_UNSEEN: Final = re.compile(f"[{INVISIBLE}]")
_DIGITS: Final = re.compile(r"\d+")
_SHORTEST_MISSPELT: Final = 5
_LEAST_ALIKE: Final = 0.8
_MOST_SPEAKERS: Final = 20
"""Of a text whose labels are compared for slips of the pen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerLabels:
    """What is said about labels beyond the built-in table; compared as `label_key` does."""

    participant: tuple[str, ...] = ()
    """Further labels of a participant, as good as the built-in ones."""
    interviewer: tuple[str, ...] = ()
    given: Roles = ()
    """Who is who in this one transcript; where a participant is named, nobody else is one."""


DEFAULT_LABELS: Final = SpeakerLabels()


def label_key(label: str) -> str:
    """Return the form in which labels are compared."""
    if label.isascii() and label.isalpha():
        # Most labels are a plain word, and each line's is looked at many times.
        return label.lower()
    plain = nfkc(without_note(_UNSEEN.sub("", label))).casefold().replace("\u0307", "")
    return _BLANKS.sub(" ", plain).strip(" .")


def without_note(label: str) -> str:
    """Cut off what stands behind a label in brackets: `Patient (Tom)` is a patient."""
    return _NOTE.sub("", label).strip() or label.strip()


_LABELS: Final[Mapping[str, Mapping[str, list[str]]]] = rtoml.loads(
    files(__package__).joinpath("labels.toml").read_bytes().decode()
)
_QUESTIONS: Final = tuple(_LABELS["question"]["all"])
_ANSWERS: Final = tuple(_LABELS["answer"]["all"])
_BUILT_IN: Final = {
    label_key(label): role
    for role in GIVEN_ROLES
    for written in _LABELS[role].values()
    for label in written
}


def given_roles(roles: Mapping[str, str], *, field: str) -> Roles:
    """Read label → role as a caller gives it. Raises `InputError` naming the field and the cure."""
    given = []
    for label, role in roles.items():
        if not label.strip() or len(label) > LONGEST_LABEL:
            msg = f"{field}: a label has 1-{LONGEST_LABEL} characters, or is * for everybody"
            raise InputError(msg, field=field)
        if role.casefold() not in GIVEN_ROLES:
            msg = f"{field}: the role of a label is one of {', '.join(GIVEN_ROLES)}"
            raise InputError(msg, field=field)
        given.append((label, Speaker(role.casefold())))
    return tuple(given)


def known_speaker(label: str, labels: SpeakerLabels) -> Speaker | None:
    """Tell whom a label stands for by the table and the settings; `None` for an unknown one."""
    known = _table(labels.interviewer, labels.participant)
    key = label_key(label)
    speaker = known.get(key) or known.get(_NUMBER.sub("", key))
    note = note_of(label)
    if speaker is None:
        # "Anna (patient)" says who she is; "Mother (patient)" may be the patient's.
        return known.get(note) if len(note) > 1 and key not in PERSONS else None
    # "Patient (mother)" is not the patient.
    is_another = any(word in known or word in PERSONS for word in note.split())
    return Speaker.OTHER if is_another else speaker


def note_of(label: str) -> str:
    """Return what stands behind a label and tells who it is; not how, or when, it is said."""
    note = label_key(label.removeprefix(without_note(label)).strip(" ()[]（）<>:"))
    first = note.split()[:1] or [""]
    is_manner = first[0] in MANNERS or first[0].endswith(("ing", "ly")) or CLOCK.fullmatch(note)
    return "" if is_manner else note


def with_pairs(labels: SpeakerLabels, found: Iterable[str]) -> SpeakerLabels:
    """Return labels that know questions and answers where labels of both are found."""
    plain = {_NUMBER.sub("", key) for key in map(label_key, found)}
    if plain.isdisjoint(_QUESTIONS) or plain.isdisjoint(_ANSWERS):
        return labels
    return replace(
        labels,
        participant=(*labels.participant, *_ANSWERS),
        interviewer=(*labels.interviewer, *_QUESTIONS),
    )


def spelt_alike(label: str, keys: Collection[str]) -> str | None:
    """Return the one of the labels that another is a slip of the pen for, if there is one.

    `keys`: labels as `label_key` gives them. Numbers are never spelt wrongly.
    """
    key = label_key(label)
    if len(key) < _SHORTEST_MISSPELT or key in PERSONS or len(keys) > _MOST_SPEAKERS:
        return None
    for one in sorted(keys):
        is_near = abs(len(key) - len(one)) <= 1 and key[:1] == one[:1] and key != one
        if is_near and _DIGITS.findall(key) == _DIGITS.findall(one):
            matcher = SequenceMatcher(None, key, one, autojunk=False)
            is_role = one in _BUILT_IN
            if matcher.ratio() >= _LEAST_ALIKE and (is_role or sorted(key) == sorted(one)):
                return one
    return None


def decides(label: str, labels: SpeakerLabels = DEFAULT_LABELS) -> bool:
    """Return whether a label is known to be a participant's or an interviewer's."""
    return known_speaker(label, labels) in {Speaker.PARTICIPANT, Speaker.INTERVIEWER}


def speakers_of(found: Iterable[str], labels: SpeakerLabels) -> dict[str, Speaker]:
    """Return whom each label of one transcript stands for: given, else known, else another.

    Raises `SpeakersUnknown` where no label is a participant's, a given one is not there, or the
    participants have several labels.
    """
    times = Counter(found)
    names = tuple(times)
    labels = with_pairs(labels, names)
    given = {label_key(label): speaker for label, speaker in labels.given}
    everybody = given.pop(EVERYBODY, None)
    if not given.keys() <= set(map(label_key, names)):
        raise SpeakersUnknown(_NOT_THERE, labels=_distinct(names))
    is_told = Speaker.PARTICIPANT in (everybody, *given.values())
    speakers = {}
    for name in names:
        speaker = given.get(label_key(name)) or everybody or known_speaker(name, labels)
        if is_told and label_key(name) not in given and everybody is not Speaker.PARTICIPANT:
            speaker = Speaker.OTHER if speaker is Speaker.PARTICIPANT else speaker
        speakers[name] = speaker or Speaker.OTHER
    unknown = _unknown(names, labels)
    meant = _misspelt(times, unknown)
    speakers.update((name, speakers[right]) for name, right in meant.items())
    if everybody is not Speaker.PARTICIPANT:
        _part_by_notes(speakers, {label_key(label): note_of(label) for label, _ in labels.given})
    participants = [
        name for name in names if speakers[name] is Speaker.PARTICIPANT and name not in meant
    ]
    is_open = _are_several(participants) or _is_one_letter(participants, speakers, labels)
    if not participants or (not is_told and is_open):
        raise SpeakersUnknown(_NOT_TOLD, labels=_distinct(names))
    others = {label_key(name) for name in names} - set(map(label_key, participants))
    if everybody is None and len(others - set(map(label_key, meant))) == 1:
        # Who alone speaks with a participant asks the questions.
        speakers.update((name, Speaker.INTERVIEWER) for name in unknown if name not in meant)
    return speakers


def assumptions(
    found: Iterable[str], speakers: Mapping[str, Speaker], labels: SpeakerLabels
) -> dict[ReadingNote, set[str]]:
    """Return what `speakers_of` assumed of labels that are not given → these labels."""
    times = Counter(found)
    unknown = _unknown(times, labels)
    slips = _misspelt(times, unknown).keys()
    strangers = unknown - slips
    return {
        ReadingNote.SPEAKER_UNKNOWN: {
            name for name in strangers if speakers[name] is Speaker.OTHER
        },
        ReadingNote.INTERVIEWER_ASSUMED: {
            name for name in strangers if speakers[name] is Speaker.INTERVIEWER
        },
        ReadingNote.SPEAKER_SPELLING: set(slips),
    }


def _unknown(names: Iterable[str], labels: SpeakerLabels) -> set[str]:
    """Return the labels that are not given and that no table knows."""
    found = set(names)
    labels = with_pairs(labels, found)
    given = {label_key(label) for label, _ in labels.given}
    return {
        name
        for name in found
        if label_key(name) not in given and known_speaker(name, labels) is None
    }


def _misspelt(times: Mapping[str, int], unknown: Iterable[str]) -> dict[str, str]:
    """Return label → the one that it is a slip for, of unknown labels that stand there once."""
    slips = {name for name in unknown if times[name] == 1}
    usual = {label_key(name): name for name in times if name not in slips}
    found = {name: spelt_alike(name, usual) for name in slips}
    return {name: usual[key] for name, key in found.items() if key is not None}


def _part_by_notes(speakers: dict[str, Speaker], wanted: Mapping[str, str]) -> None:
    """Tell apart labels that differ by a note only: `Patient` and `Patient (GP)` are two.

    Raises `SpeakersUnknown` where each of several has another note.
    """
    own = [name for name, speaker in speakers.items() if speaker is Speaker.PARTICIPANT]
    for key in set(map(label_key, own)):
        notes = {name: note_of(name) for name in own if label_key(name) == key}
        meant = wanted.get(key) or ""
        if len({*notes.values()}) > 1 and meant not in notes.values():
            raise SpeakersUnknown(_NOT_TOLD, labels=speakers)
        if len({*notes.values()}) > 1 or meant:
            speakers.update((name, Speaker.OTHER) for name, note in notes.items() if note != meant)


def _distinct(names: Iterable[str]) -> Iterable[str]:
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(label_key(name), name)
    return first.values()


def _are_several(participants: Iterable[str]) -> bool:
    """Return whether labels are those of several people, or of one who cannot be identified.

    Answers are numbered like their questions, and are one person's.
    """
    keys = set(map(label_key, participants))
    return len({base if (base := _NUMBER.sub("", key)) in _ANSWERS else key for key in keys}) > 1


def _is_one_letter(
    participants: Iterable[str], speakers: Mapping[str, Speaker], labels: SpeakerLabels
) -> bool:
    """Return whether the participant goes by a letter, and none of the others is an interviewer.

    `P` and `C` may be a psychologist and a client.
    """
    said = set(map(label_key, labels.participant))
    is_short = all(len(_NUMBER.sub("", key)) == 1 for key in map(label_key, participants))
    is_said = said.issuperset(map(label_key, participants))
    is_alone = len(set(map(label_key, speakers))) == 1
    return (
        is_short and not is_said and not is_alone and Speaker.INTERVIEWER not in speakers.values()
    )


def known_labels(labels: SpeakerLabels) -> frozenset[str]:
    """Return the keys of all known labels that are not words for relatives, too."""
    return frozenset(_table(labels.interviewer, labels.participant)) - PERSONS


# Remembered by what settings say; what is said of one transcript would stay for ever.
@cache
def _table(interviewer: tuple[str, ...], participant: tuple[str, ...]) -> Mapping[str, Speaker]:
    table = dict(_BUILT_IN)
    table.update((label_key(label), Speaker.INTERVIEWER) for label in interviewer)
    table.update((label_key(label), Speaker.PARTICIPANT) for label in participant)
    return table
