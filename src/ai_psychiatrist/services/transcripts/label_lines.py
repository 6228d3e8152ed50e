"""Finds the lines of a text that open with a speaker's label: which of those that may do."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import (
    ALONE,
    COLON,
    DASH,
    IN_CAPITALS,
    LINE,
    OTHERWISE,
    PLAIN_SHAPES,
    RARE_SHAPES,
    Candidate,
    LabelledLine,
    candidates,
    candidates_in,
    line_starts,
)
from ai_psychiatrist.services.transcripts.label_words import (
    LabelKind,
    is_name,
    is_of_speaker,
    kind_of,
)
from ai_psychiatrist.services.transcripts.labels_inside import labels_inside, last_words_of
from ai_psychiatrist.services.transcripts.line_ends import BREAKS, END, GAP
from ai_psychiatrist.services.transcripts.run_on_lines import lines_run_on
from ai_psychiatrist.services.transcripts.speaker_labels import (
    SpeakerLabels,
    decides,
    known_speaker,
    label_key,
    spelt_alike,
    with_pairs,
)

_BLANK_LINE: Final = re.compile(rf"{END}{GAP}*{END}\Z")
_WINDOW: Final = 40
"""Characters before a line in which a blank one is looked for."""


def labelled_lines(text: str, labels: SpeakerLabels, *, start: int = 0) -> list[LabelledLine]:
    """Return the lines that open a turn, from an offset on; none for a text without labels.

    Known and given labels count wherever they stand; others once one of those is there, or from
    two lines on: one alone is words. Ways of writing that prose has, too, count for labels that
    are known in the text already, and else only where they recur.
    """
    starts = list(line_starts(text, start))
    plain = candidates_in(text, starts, PLAIN_SHAPES)
    labels = with_pairs(labels, {one.line.label for one in plain})
    on_one_line = lines_run_on(text, start, plain, labels)
    if on_one_line:
        return on_one_line
    found = _labels_among(plain, labels, text)
    if found:
        return _with_those_written_otherwise(text, starts, found, labels)
    rare = candidates_in(text, starts, RARE_SHAPES)
    return _recurring(rare, labels, text) or _recurring(
        candidates_in(text, starts, (OTHERWISE,)), labels, text
    )


def opens_with_name(line: str) -> bool:
    """Return whether a line opens with a name and a colon, or with a known label."""
    return any(
        decides(one.line.label) or kind_of(one.line.label, is_bare=one.is_bare) is LabelKind.NAME
        for one in candidates(line, line_starts(line), (COLON,))
    )


def opens_like_label(line: str) -> bool:
    """Return whether a line could be taken for one that a label opens."""
    return any(candidates(line, line_starts(line), (*PLAIN_SHAPES, OTHERWISE)))


def _labels_among(
    candidates: list[Candidate], labels: SpeakerLabels, text: str
) -> list[LabelledLine]:
    keys = {label: label_key(label) for label in {one.line.label for one in candidates}}
    known = _known(keys, labels)
    times = Counter(keys[one.line.label] for one in candidates)
    written = {(one.line.label, one.is_bare) for one in candidates}
    kinds = {(label, is_bare): kind_of(label, is_bare=is_bare) for label, is_bare in written}
    named = {label for (label, _), kind in kinds.items() if kind is LabelKind.NAME}
    # A way of writing that is seen to be one counts for labels that stand there only once, too.
    ways = {LabelKind.NAME} | {
        kind for (label, _), kind in kinds.items() if label in known or times[keys[label]] > 1
    }
    if known:
        shapes = {one.shape for one in candidates if one.line.label in known}
        ways |= {LabelKind.BRACKETS}
        ways |= {LabelKind.PHRASE} if COLON in shapes else set()
    ways.discard(LabelKind.NONE)
    lines = [
        one.line
        for one in candidates
        if one.line.label in known or kinds[one.line.label, one.is_bare] in ways
    ]
    if known:
        return _of_speakers(lines, known, named, labels, text)
    of_speakers = [line for line in lines if not _DAY.match(text, line.start)]
    is_labelled = len(of_speakers) > 1 and not _are_entries(of_speakers, text)
    return of_speakers if is_labelled else []


def _of_speakers(
    lines: Sequence[LabelledLine],
    known: set[str],
    named: set[str],
    labels: SpeakerLabels,
    text: str,
) -> list[LabelledLine]:
    """Leave out what only looks like a label, once speakers are known.

    An unknown prefix opens a turn where it stands before all of them, is written as only speakers
    are, or recurs as speakers do; a name as well where nobody else speaks with the participant.
    """
    own = _own_keys({label_key(label) for label in known}, labels)
    sure = known | sure_speakers(lines, known, named, own, text)
    first = next(at for at, line in enumerate(lines) if line.label in known)
    kept = [line for at, line in enumerate(lines) if at < first or line.label in sure]
    is_alone = all(label_key(line.label) in own for line in kept)
    return list(lines) if is_alone else kept


def sure_speakers(
    lines: Sequence[LabelledLine], known: set[str], named: set[str], own: set[str], text: str
) -> set[str]:
    """Return the labels that are not known and yet can only be speakers'.

    `lines`: those that a label may open; `named`: labels written like names; `own`: keys of the
    participant's. A name recurs as a speaker's does where it opens several lines, is no ordinary
    word of the text, and is not one of several that stand within the participant's turns alone, as
    the subjects of single lines do.
    """
    unsure = {line.label for line in lines} - known
    keys = {label_key(label) for label in known}
    sure = {label for label in unsure if is_of_speaker(label) or spelt_alike(label, keys)}
    if any(label.islower() for label in known):
        named = named | {label for label in unsure if label.islower() and " " not in label}
    times: Counter[str] = Counter()
    outside: set[str] = set()
    before, speaker = "", ""
    for line in lines:
        if line.label in unsure:
            times[line.label] += 1
            if label_key(speaker) not in own or line.label == before:
                outside.add(line.label)
        before = line.label
        if line.label in known or line.label in sure or line.label in outside:
            speaker = line.label
    recurring = {label for label in times if times[label] > 1 and label in named}
    if not recurring:
        return sure
    ordinary = set(_ORDINARY.findall(text))
    recurring = {label for label in recurring if ordinary.isdisjoint(label_key(label).split())}
    is_one = len(times.keys() - sure) == 1
    return sure | {label for label in recurring if is_one or label in outside}


def _are_entries(lines: Sequence[LabelledLine], text: str) -> bool:
    """Return whether lines are those of a list: no name recurs, and amounts stand behind most."""
    if len(lines) < _FEWEST_ENTRIES or len({line.label for line in lines}) < len(lines):
        return False
    return 2 * sum(1 for line in lines if _AMOUNT.match(text, line.words_start)) > len(lines)


_ORDINARY: Final = re.compile(r"(?<!\w)[^\W\d_]+(?![\w'’])(?!\s?:)")
"""A word that opens no line as a label does; in lower case it is no name."""
_FEWEST_ENTRIES: Final = 3
_AMOUNT: Final = re.compile(
    rf"[^.!?{BREAKS}]{{0,20}}\d[^!?{BREAKS}]{{0,20}}(?<![.!?])(?=[{BREAKS}]|\Z)"
)
_DAY: Final = re.compile(
    rf"\W{{0,4}}\d{{1,2}}[.]?{GAP}+(?:Jan|Feb|M[aä]r|Apr|May|Mai|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])"
    r"[^\W\d]{0,6}:"
)


def _known(keys: Mapping[str, str], labels: SpeakerLabels) -> set[str]:
    """Return the labels that are given, or known to be a participant's or an interviewer's."""
    given = {label_key(label) for label, _ in labels.given}
    return {label for label, key in keys.items() if key in given or decides(label, labels)}


def _with_those_written_otherwise(
    text: str, starts: Sequence[int], found: list[LabelledLine], labels: SpeakerLabels
) -> list[LabelledLine]:
    """Add lines that a label opens which is known, or stands elsewhere, in another way of writing.

    A label that stands within a line, with a colon, opens a turn there.
    """
    met = {label_key(line.label) for line in found}
    at = {line.start for line in found}
    rest = [start for start in starts if start not in at]
    others = [
        one
        for shape in (*RARE_SHAPES, OTHERWISE, IN_CAPITALS)
        for one in candidates_in(text, rest, (shape,))
    ]
    keys = {label: label_key(label) for label in {one.line.label for one in others}}
    known = {label for label in _known(keys, labels) if len(label) > 1}
    usual = {one.shape for one in others if keys[one.line.label] in met}
    names = {label for label in keys if is_name(label)}
    in_order = sorted([*found, *(one.line for one in others)], key=lambda line: line.start)
    sure = sure_speakers(
        in_order, {line.label for line in found} | known, names, _own_keys(met, labels), text
    )
    more = [
        one.line
        for one in others
        if len(one.line.label) > 1
        and (
            one.line.label in known
            or keys[one.line.label] in met
            or (
                one.shape in usual | {DASH}
                and one.shape in RARE_SHAPES
                and is_name(one.line.label)
                and one.line.label in sure
            )
        )
    ]
    by_start = {line.start: line for line in [*more, *found]}
    lines = sorted(by_start.values(), key=lambda line: line.start)
    return list(_with_those_inside(text, lines, met, labels))


def _with_those_inside(
    text: str, lines: list[LabelledLine], met: set[str], labels: SpeakerLabels
) -> Iterator[LabelledLine]:
    """Take out of the participant's lines what another label opens; nothing is put into them."""
    own_keys, last_words = _own_keys(met, labels), last_words_of(met)
    own = {label for label in {line.label for line in lines} if label_key(label) in own_keys}
    ends = [*(line.start for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=True):
        yield line
        if line.label in own:
            for inside in labels_inside(text, line.words_start, end, last_words, labels):
                if label_key(inside["label"]) not in own_keys:
                    yield LabelledLine(
                        start=inside.start(),
                        words_start=inside.end(),
                        label=inside["label"].strip("."),
                        seconds=None,
                    )


def _own_keys(met: set[str], labels: SpeakerLabels) -> set[str]:
    """Return which of the labels are the participant's."""
    given = {label_key(label) for label, role in labels.given if role is Speaker.PARTICIPANT}
    return given or {key for key in met if known_speaker(key, labels) is Speaker.PARTICIPANT}


def _recurring(candidates: list[Candidate], labels: SpeakerLabels, text: str) -> list[LabelledLine]:
    """Return lines of labels that recur, of two speakers or more, if they are many of the lines."""
    keys = {one.line.label: label_key(one.line.label) for one in candidates}
    known = _known(keys, labels)
    names = {label for label in keys if kind_of(label, is_bare=False) is LabelKind.NAME}
    is_way = any(one.shape is ALONE and one.line.label in known for one in candidates)
    usable = [
        one.line
        for one in candidates
        if len(one.line.label) > 1
        and (
            one.line.label in known
            or (
                one.line.label in names
                and (one.shape is not ALONE or is_way or _opens_block(text, one.line))
            )
        )
    ]
    times = Counter(keys[line.label] for line in usable)
    lines = sum(1 for line in text.splitlines() if line.strip())
    both = len({keys[line.label] for line in usable if line.label in known}) > 1
    recur = len(times) > 1 and max(times.values()) > 1
    return usable if (both or recur) and 3 * len(usable) >= lines else []


def _opens_block(text: str, line: LabelledLine) -> bool:
    """Return whether words stand on the next line, with a blank line before this one."""
    before = text[max(0, line.start - _WINDOW) : line.start]
    stands_apart = _BLANK_LINE.search(before) is not None or not before.strip()
    ends_sentence = text[line.start : line.words_start].rstrip().endswith((".", "!", "?", "…"))
    following = LINE.match(text, line.words_start)
    has_words = following is not None and text[following.end() : following.end() + 1].strip() != ""
    return stands_apart and has_words and not ends_sentence
