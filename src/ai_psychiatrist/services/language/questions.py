"""What an interviewer asks about, and what an answer to it says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.language.assertion import ClauseReading
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.concepts import (
    Status,
    concept_of,
    is_part_of_another,
    looks_alike,
    match_concepts,
    named_at,
    says_something,
)
from ai_psychiatrist.services.language.experiencer import is_of_others
from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.phrases import Hit, MatchedText
from ai_psychiatrist.services.language.spoken import DENYING, every_word, spoken
from ai_psychiatrist.services.language.vocabulary import concept_tables, word_list, words

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
class ConceptQuestion:
    """The concepts that a question is about, and how it asks about each."""

    asked: Mapping[str, Asking] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    """Those of them that it names by their own words, so that it asks for exactly that."""
    words: str = ""
    """The end of what was said."""
    span: str = ""
    """Of which days it or a question before it asks, empty where that is not said."""
    is_of_thing: bool = False
    """Whether it asks how something is that is no concept: "how was the drive?"."""
    is_list: bool = False
    """Whether it asks for other things too, so that a yes may mean any of them."""
    is_marked: bool = False
    """Whether it is put as a question: else it may only say back what was said."""


NOTHING: Final = ConceptQuestion()
_SENTENCE_ENDS: Final = frozenset(".?!")
_LONGEST_UNMARKED: Final = 16
_HOW: Final = (("how",), ("what",))
_IS: Final = (("is",), ("was",), ("are",), ("were",))
_THE: Final = (("the",), ("that",), ("this",))
_OPENINGS: Final = frozenset({"ask.opening", "suppose.opening"})
_LONGEST_HEADING: Final = 4
_LONGEST_LEAD: Final = 3
_LEAST_PARTS: Final = 2
"""More parts than these between commas make a list."""
_LONGEST_PART: Final = 4
"""In words."""
_TAG_BEFORE: Final = 2
"""By which word a question says that it puts a denial into the participant's mouth."""
_QUALITY_BY: Final = 5
"""By which word of an answer it says how it is."""
_DECISIVE: Final = frozenset({"asks_symptom", "asks_well", "symptom", "well"})
_TURNING: Final = frozenset({"cue.negator", "cue.inability", "cue.obstacle", "cue.loss"})
_NOT_ABLE: Final = frozenset({"cue.negator", "cue.inability", "cue.obstacle"})
_SPEAKER: Final = (("i",),)
_ANSWERED: Final[Mapping[tuple[Asking, bool], Status]] = {
    (Asking.SYMPTOM, True): Status.AFFIRMED,
    (Asking.SYMPTOM, False): Status.DENIED,
    (Asking.WELL, True): Status.DENIED,
    (Asking.WELL, False): Status.AFFIRMED,
    (Asking.DENIAL, False): Status.DENIED,
    (Asking.ABSENCE, False): Status.AFFIRMED,
}
"""What yes or no to a question says of the symptom."""


def question_in(said: str) -> ConceptQuestion:
    """Read what the last question in an interviewer's words is about."""
    return _question_in(said[-_TAIL_CHARACTERS:])


@remembered(128)
def _question_in(tail: str) -> ConceptQuestion:
    is_to_person = False
    for text, is_marked in _last_clauses(tail):
        matched = match_concepts(text if is_marked else _end_of(text))
        # "Some feel that they have failed. Do you?" asks for that.
        is_own = not words("generic").isdisjoint(matched.texts)
        is_to_person = is_own or is_to_person
        if (is_marked or _asks_without_mark(matched)) and (
            asked := dict(_asked(matched, is_to_person=is_to_person))
        ):
            named = frozenset(one for one in asked if _asks_for_exactly(matched, one))
            return ConceptQuestion(
                asked=asked,
                named=named,
                words=tail,
                is_list=_is_list(text),
                is_marked=is_marked or _is_inverted(matched),
            )
        is_to_person = is_own and len(matched.texts) <= _LONGEST_LEAD
    return ConceptQuestion(words=tail, is_of_thing=_asks_of_thing(tail))


def _asks_of_thing(tail: str) -> bool:
    text = next((text for text, is_marked in _last_clauses(tail) if is_marked), "")
    texts = every_word(text).texts
    at = next((at for at, word in enumerate(texts) if word not in words("leading")), 0)
    is_how = texts[at : at + 1] in _HOW and texts[at + 1 : at + 2] in _IS
    return is_how and texts[at + 2 : at + 3] in _THE and words("generic").isdisjoint(texts)


def _is_inverted(matched: MatchedText) -> bool:
    """Return whether a clause without a mark has the order of a question: "do you have ..."."""
    return any(
        hit.cue == "ask.opening"
        and matched.texts[hit.first] in words("asking_back")
        and _is_led_by(matched.texts[: hit.first], "leading")
        for hit in matched.hits
    )


def _asks_for_exactly(matched: MatchedText, concept: str) -> bool:
    """Return whether a question names a concept, and does not ask for a thought or a plan."""
    named = named_at(matched, concept)
    if not named:
        return False
    if any(hit.cue == "elsewhere.asking" and hit.first < named[0] for hit in matched.hits):
        return False
    # "With that rough sleep, have you thought of ...?" asks for what comes after.
    return not any(
        hit.cue == "ask.opening"
        and hit.first > named[-1]
        and hit.first in matched.words.after_comma
        and matched.texts[hit.last + 1 : hit.last + 2] == ("you",)
        for hit in matched.hits
    )


def _is_list(text: str) -> bool:
    """Return whether short parts between commas name something that is no concept."""
    parts = text.split(",")
    return len(parts) > _LEAST_PARTS and any(map(_is_of_something_else, parts))


def _is_of_something_else(part: str) -> bool:
    matched = match_concepts(part)
    content = set(matched.texts) - words("asking_on")
    is_named = any(named_at(matched, concept) for concept in concept_tables())
    return 0 < len(content) <= _LONGEST_PART and "you" not in matched.texts and not is_named


def _last_clauses(tail: str) -> Iterator[tuple[str, bool]]:
    """Yield the clauses of the last sentence from its end, and whether a question mark ends it.

    What was said before is another matter, unless the last words only go on about it.
    """
    texts = [tail[clause.start : clause.end] for clause in clauses_of(tail)]
    texts = [text for text in texts if text.strip()]
    is_marked, goes_on, words_after = False, True, 0
    for back, text in enumerate(reversed(texts[-_QUESTION_CLAUSES:])):
        end = text.rstrip()[-1:]
        if not back and _asks_for_assent(text):
            end = "."
        if back and end in _SENTENCE_ENDS and not (goes_on and is_marked):
            return
        is_marked = is_marked or end == "?"
        yield text, is_marked
        said = spoken(text).texts
        words_after += len(said)
        goes_on = words_after <= _LONGEST_LEAD and words("asking_on").issuperset(said)


def _asks_for_assent(text: str) -> bool:
    """Return whether a question only asks whether that is all right: "..., okay?"."""
    return words("assent").issuperset(spoken(text.rpartition(",")[2]).texts)


def _end_of(text: str) -> str:
    """Return the last words of a clause: without marks it may hold many sentences."""
    spans = spoken(text).spans[-_LONGEST_UNMARKED:]
    return text[spans[0][0] :] if spans else text


def _asks_without_mark(matched: MatchedText) -> bool:
    """Whether it asks by its opening, is a heading ("and energy"), or supposes ("you must be")."""
    if not words("conditions").isdisjoint(matched.texts):
        return False
    return len(matched.texts) <= _LONGEST_HEADING or any(
        hit.cue in _OPENINGS and _is_led_by(matched.texts[: hit.first], "leading")
        for hit in matched.hits
    )


def _is_led_by(before: tuple[str, ...], kind: str) -> bool:
    return len(before) <= _LONGEST_LEAD and words(kind).issuperset(before)


def _asked(matched: MatchedText, *, is_to_person: bool) -> Iterator[tuple[str, Asking]]:
    if is_of_others(matched.texts) and not is_to_person:
        return
    is_tag = any(hit.cue == "tag.opening" and hit.first < _TAG_BEFORE for hit in matched.hits)
    for concept in concept_tables():
        named = [
            hit
            for hit in matched.hits
            if concept_of(hit) == concept
            and hit.cue not in {f"{concept}.function", f"{concept}.well"}
            and not is_part_of_another(hit, matched.hits)
            and not looks_alike(matched, hit, concept)
            and not _is_what_mind_is_on(matched, hit)
        ]
        kinds = {hit.kind for hit in named}
        # "You aren't sleeping" denies no symptom, and a "no" to it may agree or not.
        if not kinds or (is_tag and any(_holds_denial(matched, hit) for hit in named)):
            continue
        kinds = _decided(concept, kinds, named)
        yield concept, _denied(kinds) if is_tag else _put(matched, kinds, named)


def _is_what_mind_is_on(matched: MatchedText, hit: Hit) -> bool:
    """Return whether another concept is asked for with this as its object: "focus on reading"."""
    return hit.kind == "asks_open" and any(
        other.kind == "asks_symptom"
        and concept_of(other) != concept_of(hit)
        and matched.texts[other.last + 1 : hit.first] == ("on",)
        for other in matched.hits
    )


def _holds_denial(matched: MatchedText, hit: Hit) -> bool:
    return matched.texts[hit.first] in DENYING or any(
        cue.cue == "cue.negator" and hit.first <= cue.first and cue.last <= hit.last
        for cue in matched.hits
    )


def _decided(concept: str, kinds: set[str], named: list[Hit]) -> set[str]:
    """Return the kind of phrase that tells how it is asked: those of questions, and the first."""
    named.sort(key=lambda hit: (hit.subject == concept, hit.first))
    decisive = next((hit.kind for hit in named if hit.kind in _DECISIVE), None)
    if decisive is None or "asks_symptom" in kinds - {decisive}:
        return kinds
    return {decisive}


def _denied(kinds: set[str]) -> Asking:
    is_of_symptom = not kinds.isdisjoint({"asks_symptom", "symptom", "topic"})
    return Asking.DENIAL if is_of_symptom else Asking.ABSENCE


def _put(matched: MatchedText, kinds: set[str], named: list[Hit]) -> Asking:
    first = min(hit.last for hit in named)
    turning = [hit for hit in matched.hits if hit.cue in _TURNING and hit.first <= first]
    # "Don't you feel proud?" asks what "do you feel proud?" asks.
    is_turned = any(hit.cue != "cue.negator" or hit.first > 0 for hit in turning)
    if is_turned or not kinds.isdisjoint({"asks_symptom", "symptom"}):
        return Asking.SYMPTOM
    return Asking.OPEN if kinds.isdisjoint({"asks_well", "well"}) else Asking.WELL


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOpening:
    """How a clause opens as an answer."""

    says: bool | None
    """Yes or no, `None` where it says neither."""
    quality: bool | None
    """Whether it says only how it is, and then whether well."""
    is_faint: bool
    """Whether how it is is only "okay", which may as well acknowledge what was said."""
    is_short: bool


def answer_opening(clause: ClauseReading) -> AnswerOpening:
    """Read a clause as the answer to a question."""
    matched = clause.matched
    cues = {hit.cue for hit in matched.hits}
    opening = [hit for hit in matched.hits if _is_led_by(matched.texts[: hit.first], "opening")]
    says, quality = _plain_answer(matched, opening), None
    about = next((hit for hit in matched.hits if _is_early_quality(matched, hit)), None)
    if about is not None:
        is_of_more = "answer.taken_up" in cues or clause.experiencer is Status.OTHER
        if about.first == 0 and matched.texts[0] in words("denying_quality"):
            says = None
        names_concept = any(says_something(hit) and hit.last > hit.first for hit in matched.hits)
        if not is_of_more and not names_concept:
            quality = _is_well(
                matched, about, answer_until=opening[0].last if says is False else -1
            )
    if not cues.isdisjoint({"modality.mixed", "modality.doubt"}) or _asks_back(matched, opening):
        says = quality = None
    return AnswerOpening(
        says=says,
        quality=quality,
        is_faint=words("faint").issuperset(matched.texts),
        is_short=len(matched.texts) <= _LONGEST_ANSWER,
    )


def _asks_back(matched: MatchedText, opening: list[Hit]) -> bool:
    """Return whether a clause asks something after its first words: "okay, does it throb?"."""
    return any(
        hit.cue == "ask.opening"
        and matched.texts[hit.last + 1 : hit.last + 2]
        and matched.texts[hit.last + 1] in words("asked_of")
        and matched.texts[hit.first] in words("asking_back")
        for hit in opening
    ) and "answer.no" not in {hit.cue for hit in opening}


def _plain_answer(matched: MatchedText, opening: list[Hit]) -> bool | None:
    """Return whether an answer opens with yes or no: "I don't", but not "I don't know"."""
    first = {hit for hit in opening if hit.first == opening[0].first}
    if any(
        hit.cue == "cue.pass" and one.first < one.last and hit.first <= one.last < hit.last
        for hit in matched.hits
        for one in first
    ) or any(_only_dates(matched, one) for one in first):
        return None
    kinds = {hit.cue for hit in first}
    if "answer.no" in kinds:
        return False
    return True if "answer.yes" in kinds else None


def _only_dates(matched: MatchedText, hit: Hit) -> bool:
    """Return whether words only say on which days the speaker cannot: "some days I can't eat"."""
    after = hit.last + 1
    is_often = matched.texts[hit.first] in word_list("clauses", "how_often")
    if not is_often or matched.texts[after : after + 1] not in _SPEAKER:
        return False
    return any(cue.cue in _NOT_ABLE and cue.first == after + 1 for cue in matched.hits)


def _is_early_quality(matched: MatchedText, hit: Hit) -> bool:
    if hit.cue not in {"quality.good", "quality.bad"} or hit.first > _QUALITY_BY:
        return False
    return hit.last > 0 or matched.texts[0] not in words("hesitating")


def _is_well(matched: MatchedText, about: Hit, *, answer_until: int) -> bool:
    """Return whether a word says that it is well, with the denials that do not only answer."""
    flips = sum(
        hit.last < about.first
        and (hit.cue == "cue.inability" or (hit.cue == "cue.negator" and hit.last > answer_until))
        for hit in matched.hits
    )
    return (about.cue == "quality.good") is (flips % 2 == 0)


def answered(asking: Asking, reply: AnswerOpening, *, is_marked: bool) -> Status | None:
    """Return what a reply says of a symptom that was asked about, `None` where nothing.

    `is_marked`: whether it was asked for as a question, and not only said back.
    """
    if reply.says is not None and (asking, reply.says) in _ANSWERED:
        return _ANSWERED[asking, reply.says]
    if reply.quality is None or asking in {Asking.DENIAL, Asking.ABSENCE}:
        return None
    if asking is Asking.SYMPTOM and (reply.is_faint or not is_marked):
        return None
    return Status.DENIED if reply.quality else Status.AFFIRMED
