"""What an interviewer asks about, and what an answer to it says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.language.assertion import (
    ClauseReading,
    Status,
    is_of_concept,
    matcher,
)
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.matcher import Hit
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.vocabulary import concept_tables

_TAIL_CHARACTERS: Final = 600
_QUESTION_CLAUSES: Final = 4
_LONGEST_ANSWER: Final = 14
"""In words; what is longer is a tale, of which only the opening answers."""


class Asking(StrEnum):
    """What "yes" to a question says."""

    SYMPTOM = "symptom"
    WELL = "well"
    OPEN = "open"
    """How it is: the answer has to say."""
    DENIAL = "denial"
    """It puts a denial into the participant's mouth: only a plain "no" agrees with it."""
    ABSENCE = "absence"
    """It puts into it that wellness is gone ("you aren't sleeping?")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The concepts that a question is about, and how it asks about each."""

    asked: Mapping[str, Asking] = field(default_factory=dict)
    words: str = ""
    """The end of what was said."""


NOTHING: Final = Question()


def question_in(words: str) -> Question:
    """Read what the last question in an interviewer's words is about."""
    tail = words[-_TAIL_CHARACTERS:]
    clauses = [
        text for clause in clauses_of(tail) if (text := tail[clause.start : clause.end]).strip()
    ]
    for at in range(len(clauses) - 1, max(-1, len(clauses) - 1 - _QUESTION_CLAUSES), -1):
        text = clauses[at]
        rest = "".join(clauses[at:])
        heard = spoken(text)
        if "?" not in rest and "if" in heard.texts:
            continue
        hits = matcher().find(heard)
        if "?" not in rest and not _asks_without_mark(heard.texts, hits):
            continue
        asked = dict(_asked(hits, is_tag=any(h.cue == "tag.opening" and h.first < 2 for h in hits)))
        if asked:
            return Question(asked=asked, words=tail)
    return Question(words=tail)


def _asked(hits: tuple[Hit, ...], *, is_tag: bool) -> Iterator[tuple[str, Asking]]:
    for concept in concept_tables():
        named = [
            h
            for h in hits
            if h.cue.startswith((f"{concept}.", f"{concept}?.")) and not _is_part(concept, h, hits)
        ]
        kinds = {h.cue.partition(".")[2] for h in named} - {"look_alike"}
        if not kinds:
            continue
        named.sort(key=lambda h: (not h.cue.startswith(f"{concept}?"), h.first))
        decisive = next((k for h in named if (k := h.cue.partition(".")[2]) in _DECISIVE), None)
        if decisive is not None and "asks_symptom" not in kinds - {decisive}:
            kinds = {decisive}
        if not is_tag and any(
            h.cue in _TURNING and h.first <= min(n.last for n in named) for h in hits
        ):
            kinds = {"asks_symptom"}
        if is_tag:
            of_symptom = kinds & {"asks_symptom", "symptom", "topic"}
            yield concept, Asking.DENIAL if of_symptom else Asking.ABSENCE
        elif kinds & {"asks_symptom", "symptom"}:
            yield concept, Asking.SYMPTOM
        elif kinds & {"asks_well", "well"}:
            yield concept, Asking.WELL
        else:
            yield concept, Asking.OPEN


def _is_part(concept: str, hit: Hit, hits: tuple[Hit, ...]) -> bool:
    """Whether a longer phrase of another concept holds this one: "gone off your food"."""
    return any(
        other.first <= hit.first
        and hit.last <= other.last
        and other.last - other.first > hit.last - hit.first
        and is_of_concept(other)
        and not other.cue.startswith((f"{concept}.", f"{concept}?."))
        for other in hits
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """How a clause opens as an answer."""

    says: bool | None
    """Yes or no, `None` where it says neither."""
    quality: bool | None
    """Whether it says only how it is, and then whether well."""
    is_faint: bool
    """Whether how it is is only "okay", which may as well acknowledge what was said."""
    is_short: bool


def reply_in(clause: ClauseReading) -> Reply:
    """Read a clause as the answer to a question."""
    words = clause.words
    hits = clause.hits
    opening = [h for h in hits if h.first == 0 or _is_opening(words.texts[: h.first])]
    says = None
    if opening:
        first = max(opening, key=lambda h: h.last - h.first)
        kinds = {h.cue for h in opening if h.first == opening[0].first}
        if "answer.no" in kinds:
            says = False
        elif "answer.yes" in kinds:
            says = True
        del first
    about = [
        h
        for h in clause.hits
        if h.cue in {"quality.good", "quality.bad"}
        and h.first <= _QUALITY_BY
        and not (words.texts[h.first : h.last + 1] == ("well",) and h.first == 0)
    ]
    named = [h for h in clause.hits if is_of_concept(h) and h.last > h.first]
    quality = None
    if about and about[0].first == 0 and words.texts[0] in {"no", "never", "not", "nothing"}:
        says = None
    is_taken_up = any(h.cue == "answer.taken_up" for h in hits)
    if about and not named and not is_taken_up and clause.experiencer is not Status.OTHER:
        value = about[0].cue == "quality.good"
        flips = sum(
            h.cue in {"cue.negator", "cue.inability"} and h.last < about[0].first
            for h in clause.hits
        )
        opened = opening[0].last if opening and says is False else -1
        flips -= sum(
            h.cue == "cue.negator" and h.last <= opened and h.last < about[0].first
            for h in clause.hits
        )
        quality = value if flips % 2 == 0 else not value
    if any(h.cue in {"modality.mixed", "modality.doubt"} for h in clause.hits):
        says = quality = None
    is_faint = _FAINT.issuperset(words.texts)
    return Reply(
        says=says, quality=quality, is_faint=is_faint, is_short=len(words.texts) <= _LONGEST_ANSWER
    )


def answered(asking: Asking, reply: Reply) -> Status | None:
    """Return what a reply says of a symptom that was asked about, `None` where nothing."""
    match asking:
        case Asking.SYMPTOM if reply.says is not None:
            return Status.AFFIRMED if reply.says else Status.DENIED
        case Asking.WELL if reply.says is not None:
            return Status.DENIED if reply.says else Status.AFFIRMED
        case Asking.DENIAL if reply.says is False:
            return Status.DENIED
        case Asking.ABSENCE if reply.says is False:
            return Status.AFFIRMED
    if reply.quality is None or asking in {Asking.DENIAL, Asking.ABSENCE}:
        return None
    if reply.is_faint and asking is Asking.SYMPTOM:
        return None
    return Status.DENIED if reply.quality else Status.AFFIRMED


_LONGEST_HEADING: Final = 4
_QUALITY_BY: Final = 5
"""By which word of an answer it says how it is."""
_LEADING: Final = frozenset("and okay so right now well then but or alright good i see um".split())
_DECISIVE: Final = frozenset({"asks_symptom", "asks_well", "symptom", "well"})
_FAINT: Final = frozenset("okay ok alright right fine good thats great well all".split())
_TURNING: Final = frozenset({"cue.negator", "cue.inability", "cue.obstacle", "cue.loss"})
_OPENINGS: Final = frozenset("well oh no yes yeah and but i mean ah okay look you know now".split())


def _asks_without_mark(texts: tuple[str, ...], hits: tuple[Hit, ...]) -> bool:
    """Whether it asks by its opening, is a heading ("and energy"), or supposes ("you must be")."""
    if any(h.cue == "ask.opening" and _leads(texts[: h.first]) for h in hits):
        return True
    return len(texts) <= _LONGEST_HEADING or any(h.cue == "suppose.opening" for h in hits)


def _leads(words: tuple[str, ...]) -> bool:
    return len(words) <= 3 and _LEADING.issuperset(words)


def _is_opening(words: tuple[str, ...]) -> bool:
    return len(words) <= 3 and _OPENINGS.issuperset(words)
