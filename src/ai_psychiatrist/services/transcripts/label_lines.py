"""Finds where labels open turns: at the beginning of lines, and within them."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Final, TypeAlias

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.label_candidates import (
    ALONE,
    COLON,
    COLONS,
    DASH,
    IN_CAPITALS,
    LINE,
    OTHERWISE,
    PLAIN_SHAPES,
    RARE_SHAPES,
    Candidate,
    LabelKind,
    LabelledLine,
    candidates,
    candidates_in,
    is_name,
    is_of_speaker,
    kind_of,
    line_starts,
)
from ai_psychiatrist.services.transcripts.lines import BREAKS, END, GAP
from ai_psychiatrist.services.transcripts.persons import PERSONS
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
_LABEL_INSIDE: Final = re.compile(
    rf"(?:(?<!\w)|\\n)(?P<label>[^\W\d_][\w'’]{{0,30}}\.?)[*_\])]{{0,3}}{GAP}?[{COLONS}]\**{GAP}*"
)
_ENDS: Final = (".", "!", "?", "…", "(", "[", "]")
"""Behind these what only a speaker is called is a label, met before or not."""
_ASIDE: Final = re.compile(
    rf"(?:[(\[{{<（【]{{1,2}}|(?<=\s)[/–—]){GAP}*(?P<label>[^\W\d_][\w'’.-]{{0,30}}?)"
    rf"(?P<mark>{GAP}*[{COLONS}.,–—-]|{GAP}+(?:says|said|asks|speaking)\b)?(?!\w)"
    rf"[^()\[\]{{}}<>（）【】/–—{BREAKS}]{{0,300}}(?:[)\]}}>）】]{{1,2}}|[/–—](?=\s|\Z))"
)
_ASIDE_WINDOW: Final = 400
"""Characters behind a label in which the aside that it opens ends."""
_LONGEST_OPENING: Final = 3
"""Characters between the beginning of an aside and its label."""
_OPENINGS: Final = frozenset("([{<（【/–—")
LabelsInside: TypeAlias = Callable[[str, int, int], Iterator[re.Match[str]]]
_RUN_ON_LABEL: Final = re.compile(
    rf"(?<![\w'’-])(?P<label>[^\W\d_][\w.'’-]{{0,30}}(?:{GAP}[\w.'’-]{{1,30}}){{0,2}})"
    rf"{GAP}?[{COLONS}]{GAP}+"
)
_FEWEST_LETTERS: Final = 3
"""How many labels there are where some are a letter."""
_GAPS: Final = re.compile(rf"{GAP}+")


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
        decides(one.line.label) or is_name(one.line.label)
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
    own = _own_keys(known, labels)
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
    are_own = {label: label_key(label) in own for label in {"", *unsure, *known}}
    if any(label.islower() for label in known):
        named = named | {label for label in unsure if label.islower() and " " not in label}
    times: Counter[str] = Counter()
    outside: set[str] = set()
    before, speaker = "", ""
    for line in lines:
        if line.label in unsure:
            times[line.label] += 1
            if not are_own[speaker] or line.label == before:
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
    written = {line.label for line in found}
    met = set(map(label_key, written))
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
    sure = sure_speakers(in_order, written | known, names, _own_keys(written, labels), text)
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
    return list(_with_those_inside(text, lines, written, labels))


def _with_those_inside(
    text: str, lines: list[LabelledLine], met: set[str], labels: SpeakerLabels
) -> Iterator[LabelledLine]:
    """Take out of the participant's lines what another label opens; nothing is put into them."""
    own_keys, inside_of = _own_keys(met, labels), labels_inside(last_words_of(met), labels)
    own = {label for label in {line.label for line in lines} if label_key(label) in own_keys}
    ends = [*(line.start for line in lines[1:]), len(text)]
    for line, end in zip(lines, ends, strict=True):
        yield line
        if line.label in own:
            for inside in inside_of(text, line.words_start, end):
                if label_key(inside["label"]) not in own_keys:
                    yield LabelledLine(
                        start=inside.start(),
                        words_start=inside.end(),
                        label=inside["label"].strip("."),
                        seconds=None,
                    )


def _own_keys(found: Collection[str], labels: SpeakerLabels) -> set[str]:
    """Return the keys of those labels that are the participant's, with or without a note."""
    given = {label_key(label) for label, role in labels.given if role is Speaker.PARTICIPANT}
    return given or {
        key
        for label in found
        if Speaker.PARTICIPANT
        in {known_speaker(key := label_key(label), labels), known_speaker(label, labels)}
    }


def _recurring(candidates: list[Candidate], labels: SpeakerLabels, text: str) -> list[LabelledLine]:
    """Return lines of labels that recur, of two speakers or more, if they are many of the lines."""
    keys = {one.line.label: label_key(one.line.label) for one in candidates}
    known = _known(keys, labels)
    names = {label for label in keys if is_name(label)}
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


def labels_inside(last_words: Collection[str], labels: SpeakerLabels) -> LabelsInside:
    """Return a function that yields, between two offsets, the labels within what is said.

    `last_words`: of the labels that open lines of the text.
    """
    # The same few labels may stand in a text thousands of times.
    is_inside = cache(partial(_is_inside, last_words=last_words, labels=labels))

    def found(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
        for label in _LABEL_INSIDE.finditer(text, start, end):
            at = label.start()
            before = text[max(start, at - _LONGEST_OPENING) : at]
            if at == start or not is_inside(label["label"], before[-2:].strip()[-1:]):
                continue
            if _OPENINGS.isdisjoint(before) or not _is_in_aside(
                text, start, end, label, last_words
            ):
                yield label

    return found


def _is_in_aside(
    text: str, start: int, end: int, label: re.Match[str], names: Collection[str]
) -> bool:
    """Return whether a label opens an aside that begins right before it and ends behind it."""
    at = label.start()
    asides = (
        _ASIDE.match(text, begin, min(end, label.end() + _ASIDE_WINDOW))
        for begin in range(max(start, at - _LONGEST_OPENING), at)
    )
    first = next((aside for aside in asides if aside and _is_anothers(aside, names, ())), None)
    return first is not None and first.end() > at


def aside_of(
    text: str, start: int, end: int, names: Collection[str], own: Collection[str]
) -> re.Match[str] | None:
    """Return the next aside in brackets, or between dashes, that another's label opens."""
    found = _ASIDE.finditer(text, start, end)
    return next((aside for aside in found if _is_anothers(aside, names, own)), None)


def _is_anothers(aside: re.Match[str], names: Collection[str], own: Collection[str]) -> bool:
    key, mark = label_key(aside["label"]), (aside["mark"] or "").strip()
    is_dashed = aside[0][0] in "/–—"
    if key in own or (is_dashed and mark != ":"):
        return False
    is_letter = len(key) == 1 and aside["label"].isupper() and mark in {":", ".", "-", "–", "—"}
    is_known = key in names and (len(key) > 1 or bool(mark))
    is_labelled = not is_dashed and mark in set(COLONS)
    return is_letter or is_known or is_labelled or (key in PERSONS and bool(mark))


def last_words_of(labels: Iterable[str]) -> set[str]:
    """Return by what alone labels are known within a line: `Smith` for `Dr. Smith`."""
    return {key.split()[-1] for key in map(label_key, labels) if key}


def _is_inside(
    label: str, before: str, *, last_words: Collection[str], labels: SpeakerLabels
) -> bool:
    key = label_key(label)
    is_known = key in last_words or key in PERSONS or decides(label, labels)
    if len(label) == 1:
        return is_known and label.isupper() and before in {"(", "[", *_ENDS}
    return is_known or (before in _ENDS and is_of_speaker(label))


def lines_run_on(
    text: str, start: int, at_line_starts: Sequence[Candidate], labels: SpeakerLabels
) -> list[LabelledLine]:
    """Return where the labels of both speakers open turns, within lines as well.

    Nothing where the text does not begin with one of them, and where more stand at the beginning
    of a line than within one.
    """
    first = next(iter(at_line_starts), None)
    if first is None or text[start : first.line.start].strip():
        return []
    words_start = first.line.words_start
    inside = [*_RUN_ON_LABEL.finditer(text, words_start)]
    written = {
        one["label"].split()[-1]
        for one in (*_RUN_ON_LABEL.finditer(text, start, words_start), *inside)
    }
    role_of = _role_of(with_pairs(labels, written), first.line.label)
    if role_of(first.line.label) is None:
        return []
    found = [first.line, *_run_on(inside, role_of)]
    starts = {one.line.words_start for one in at_line_starts if role_of(one.line.label)}
    within = sum(1 for line in found if line.words_start not in starts)
    speakers = {role_of(line.label) for line in found}
    is_of_both = Speaker.PARTICIPANT in speakers and len(speakers) > 1
    is_sure = len(found) >= _FEWEST_LETTERS or all(len(line.label) > 1 for line in found)
    is_said = all(text[line.words_start : after.start].strip() for line, after in pairwise(found))
    return found if is_of_both and is_sure and is_said and within >= len(starts) else []


def _role_of(labels: SpeakerLabels, first: str) -> Callable[[str], Speaker | None]:
    """Return whom labels name that are given, known, or that the text begins with."""
    given = {label_key(label): role for label, role in labels.given}
    if is_name(first) and not any(decides(word, labels) for word in first.split()):
        given.setdefault(label_key(first), known_speaker(first, labels) or Speaker.OTHER)

    # A text has few labels, and each of them many times.
    @cache
    def role_of(label: str) -> Speaker | None:
        key = label_key(label)
        is_person = Speaker.OTHER if key in PERSONS else None
        return given.get(key) or known_speaker(label, labels) or is_person

    return role_of


def _run_on(
    found: Iterable[re.Match[str]], role_of: Callable[[str], Speaker | None]
) -> Iterator[LabelledLine]:
    """Yield the last words before each colon that are a label."""

    @cache
    def labels_of(written: str) -> list[tuple[int, str]]:
        starts = [0, *(gap.end() for gap in _GAPS.finditer(written))]
        endings = [(at, " ".join(_GAPS.split(written[at:]))) for at in starts]
        return [
            (at, label)
            for at, label in endings
            if (label[0].isupper() or label.casefold() == label.upper()) and role_of(label)
        ]

    for written in found:
        for at, label in labels_of(written["label"])[:1]:
            start = written.start("label") + at
            yield LabelledLine(start=start, words_start=written.end(), label=label, seconds=None)
