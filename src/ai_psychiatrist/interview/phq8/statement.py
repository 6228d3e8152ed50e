"""What one stretch of an answer says about an item."""

import re
from collections.abc import Callable
from itertools import dropwhile
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.day_counts import (
    ANY,
    MORE_THAN_HALF,
    NEARLY_EVERY_DAY,
    NONE,
    SEVERAL,
    SOME,
    Scores,
)
from ai_psychiatrist.interview.phq8.heard import NEGATION, About, Heard, hear, single_words
from ai_psychiatrist.interview.phq8.phrases import found, frame, phrases
from ai_psychiatrist.interview.phq8.said import Kind, Said
from ai_psychiatrist.interview.phq8.stretches import Stretch
from ai_psychiatrist.interview.phq8.turns import marked, turn_of
from ai_psychiatrist.services.cues.person import others_words
from ai_psychiatrist.services.cues.statement import statement_of

_DAY: Final = r"(?:days?|nights?|mornings?|evenings?|moments?)"
_NO_DAY: Final = re.compile(
    r"\b(?:not|never|no|hasnt been|wasnt|isnt|werent|havent been"
    r"|(?:cant|dont) (?:think of|remember)) "
    rf"(?:a |one |any |a single )?{_DAY} (?:(?:goes|went|has gone|passes) ?(?:by)? ?)?"
    r"(?P<link>without|that|when|where|(?=i\b)|(?<=by ))(?P<rest>.*)"
)
_NO_GOOD_DAY: Final = re.compile(
    r"\b(?:not|never|no|havent|hasnt|didnt|cant remember|dont remember)(?: (?:had|get|got|been))?"
    r" (?:one|a|a single|any|my last|the last) (?:good|decent|proper|full) (?:day|night)s?\b"
    r"(?! off| out)"
)
_HARDLY_WITHOUT: Final = re.compile(
    rf"\b(?:hardly|barely|scarcely) (?:a |one |any )?{_DAY} (?:goes by |passes )?without\b"
)
_ODD_GOOD: Final = re.compile(
    r"\b(?:with a|with some|the odd|an odd|get a few|with the odd) (?:good|decent|better)"
    r" (?:one|day|night)s?(?: in between| now and then| here and there)?\Z"
)
"""Days that are no exception worth counting."""
_UNENDING: Final = re.compile(
    r"\b(?:it|this|that|they) never (?:stops?|lets up|goes away|ends|lifts|leaves)\b"
)
_ANY_DAY: Final = re.compile(r"\b(?:on|for) (?:any|one|a single) (?:single )?(?:day|night)\b")
_NOT_SO: Final = re.compile(r"(?:that |when )?(?:i )?(?:dont|didnt|wasnt|havent|not)\b")
_NEVER: Final = re.compile(
    r"\b(?:never|not (?:once|ever)|not (?:even )?(?:a|one)(?: single)? (?:day|night|time))\b"
    r"|\b(?:not|havent|hasnt|didnt|wasnt|never|isnt)\b.*"
    r"\b(?:once|a single (?:day|night|time)|one (?:good|decent|single) (?:day|night))\b"
)
_NEVER_NOT: Final = re.compile(r"\bnever not\b")
_NEVER_ALONE: Final = frozenset(
    "never not once ever i i've ive have havent had has hasnt felt feel thought that it its this "
    "way like at all a one single day night time well really even honestly tbh actually just "
    "experienced noticed happened happens no bothered me been for in the two weeks"
    " last past over these fortnight".split()
)
_NOT_THAT_OFTEN: Final = re.compile(
    r"\b(?:not|wouldnt say|isnt|dont think|hardly|wasnt|far from|nowhere near|less than|cant say)"
    r"(?: really| quite| exactly| actually| even)?(?: its| it is)?\s*\Z"
)
_TOO_MUCH: Final = re.compile(
    r" ?(?:(?:is|was|would be|sounds|might be|thats) )?(?:a bit |way |far )?"
    r"(?:too (?:much|many|few|little)|not right|wrong|an exaggeration|exaggerated)"
)
_ONE_WEEK: Final = re.compile(r"\b(?:first|second|this|last|past|other|previous|next) week\b")
_ONLY_NOW: Final = re.compile(
    r"\b(?:today|yesterday|tonight|last night|this (?:morning|week)|(?:last|first) week|right now"
    r"|at the moment)\b"
)
_TIMES: Final = (
    r"(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|noon|midday|dawn|late|lunch"
    r"|the evening|the morning|the afternoon|the early|the small"
    r"|i feel|i felt|i cant|i burst|i drop)"
)
_MEDICINE: Final = r"(?:pills|tablets|medication|meds|help)"
_UNDER: Final = re.compile(
    r"\b(?:when|whenever|if|unless|except|before|while|as long as|provided|apart from|once i"
    r"|for (?:work|school|my job|the kids)"
    rf"|until(?! {_TIMES})"
    rf"|on the|with (?:the |my )?{_MEDICINE}|on (?:my )?{_MEDICINE})\b"
)
"""What limits a statement to some of the days."""
_WHOLE: Final = re.compile(r"\b(?:every|each|always|all|daily|constantly|most|nightly|everyday)\b")
_DENIES: Final = re.compile(
    r"\b(?:not|dont|doesnt|didnt|isnt|wasnt|havent|hasnt|cant|cannot|couldnt|wont)\b"
)
_EXCEPT: Final = re.compile(r"\b(?:but|except|bar|besides)\b")
_NEARLY: Final = re.compile(r"\b(?:nearly|almost|practically|virtually|just about|pretty much)\b")
_OF_NOTHING: Final = re.compile(r"\b(?:nothing|none|nobody|no one|little|less)\Z")
_UNREAL: Final = frozenset("if unless whether suppose".split())
_ASKING: Final = frozenset("is are do does did what why how who where which".split())
_ONLY: Final = frozenset("only just so and mainly its it was is that that's".split())
_WHEN: Final = frozenset("when whenever after because if during".split())
_SELF: Final = frozenset("i i'm im i've ive i'd i'll me my myself mine".split())

_JOINING: Final = frozenset(
    "and but also although though or then more like for me its it's".split()
)
_MARKERS: Final = frozenset("ok okay right alright so well oh ah ugh".split())
_OF_DAYS: Final = re.compile(r" (?:or so )?of (?:just |simply )?(?:not |\w+ing\b)")
_FIRST_PERSON: Final = re.compile(
    r"(?:^|\b(?:days?|nights?|time|not|and|where|when|week|seven) )(?:i|i'm|im|ive)\b"
)
_KEPT_FROM: Final = re.compile(
    r"\b(?:cant|cannot|couldnt|(?:can|could) (?:hardly|barely)"
    r"|(?:didnt|dont)(?: \w+)? (?:want|fancy|care|feel like)|not (?:being able|caring|wanting))\b"
)


def is_refusal(stretch: Stretch) -> bool:
    """Whether a stretch says that no answer will be given."""
    fillers = single_words("filler") | single_words("yes")
    texts = stretch.words.texts
    return any(
        hit.cue == "within" or fillers.issuperset((*texts[: hit.first], *texts[hit.last + 1 :]))
        for hit in found(phrases("refusal"), stretch.words)
    )


def read_stretch(item: Item, text: str, stretch: Stretch) -> Said:
    """Read one stretch of the answer `text`."""
    heard = hear(item, text, stretch)
    turn = turn_of(heard, stretch)
    if turn is not None:
        return turn
    said = next(said for said in (read(heard) for read in _READERS) if said is not None)
    return marked(heard, said)


def _aside(heard: Heard) -> Said | None:
    """Set apart what is said of others, of the past, or of nothing."""
    texts = heard.words.texts
    if len(others_words(texts)) > 0 and _SELF.isdisjoint(texts[1:]):
        return Said(kind=Kind.OTHER)
    if heard.has("past"):
        return Said(kind=Kind.PAST)
    if _MARKERS.issuperset(texts):
        return Said(kind=Kind.VAGUE)
    is_aside = heard.is_whole("tail") or _ODD_GOOD.search(heard.spoken) is not None
    return Said(kind=Kind.EMPTY) if is_aside else None


def _plain(heard: Heard) -> Said | None:
    rest = tuple(dropwhile(_JOINING.__contains__, heard.words.texts))
    if heard.is_whole("none") or rest in frame("none").cues:
        return Said(kind=Kind.NO, scores=NONE)
    return Said(kind=Kind.DOUBT) if heard.is_in_doubt else None


def _no_day(heard: Heard) -> Said | None:
    """Read "there was no day when I slept" and "not a day without tears"."""
    if _NO_GOOD_DAY.search(heard.spoken) or _HARDLY_WITHOUT.search(heard.spoken):
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    match = _NO_DAY.search(heard.spoken)
    if match is None:
        is_always = _NEVER_NOT.search(heard.spoken) is not None
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY) if is_always else None
    rest, is_without = match["rest"].strip(), match["link"] == "without"
    votes = {vote.polarity for vote in statement_of(rest).votes}
    if not rest or _NOT_SO.match(rest) or (is_without and not votes):
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    if len(votes) != 1 or votes == {Polarity.UNCLEAR}:
        return _no_day_of(heard.polarity)
    is_never = (votes == {Polarity.AFFIRMED}) != is_without
    return Said(kind=Kind.CLAIM, scores=NONE if is_never else NEARLY_EVERY_DAY)


def _no_day_of(polarity: Polarity | None) -> Said:
    """Read by what the whole says of the item, as "there was no day when I could sit still"."""
    if polarity is Polarity.AFFIRMED:
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    return Said(kind=Kind.DOUBT)


def _elsewhere(heard: Heard) -> Said | None:
    if heard.about is About.ANOTHER:
        return Said(kind=Kind.OTHER)
    if heard.words.texts[0] in _UNREAL and heard.frequencies:
        return Said(kind=Kind.DOUBT)
    return Said(kind=Kind.UNKNOWN) if heard.words.texts[0] in _ASKING else None


def _never(heard: Heard) -> Said | None:
    """Read "I never sleep" as every night and "I never felt low" as not at all."""
    if _UNENDING.search(heard.spoken):
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    if heard.is_vague or _NEVER.search(heard.spoken) is None:
        return None
    polarity = heard.polarity if heard.about is About.THIS else None
    negations = len(NEGATION.findall(heard.spoken))
    if (
        polarity is None
        and _NEVER_ALONE.issuperset(heard.spoken.replace("about myself", "").split())
        and negations == 1
    ):
        return Said(kind=Kind.NO, scores=NONE)
    if negations > 1 or polarity is Polarity.UNCLEAR or "enough" in heard.words.texts:
        return Said(kind=Kind.DOUBT)
    if polarity is Polarity.AFFIRMED:
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    return Said(kind=Kind.UNKNOWN if polarity is None else Kind.WELL, scores=NONE)


def _often(heard: Heard) -> Said | None:
    """Read what names a frequency."""
    if all(frequency.scores == ANY for frequency in heard.frequencies):
        return None
    scores = frozenset.intersection(*(frequency.scores for frequency in heard.frequencies))
    if scores and (_NOT_THAT_OFTEN.search(heard.before) or _TOO_MUCH.match(heard.after)):
        return Said(kind=Kind.VAGUE, denied=scores)
    if not scores or _is_limited(heard, scores):
        return Said(kind=Kind.DOUBT)
    return _as_it_is(heard, scores)


def _is_limited(heard: Heard, scores: Scores) -> bool:
    """Whether a frequency holds for a part of the two weeks only, or is denied."""
    said = heard.spoken[heard.frequencies[0].start : heard.frequencies[-1].end]
    is_under = _UNDER.search(heard.after) or _DENIES.search(heard.before)
    is_of_one_week = scores != SEVERAL and _ONE_WEEK.search(heard.spoken)
    return bool(is_of_one_week or (_WHOLE.search(said) and is_under))


def _as_it_is(heard: Heard, scores: Scores) -> Said:
    polarity = heard.polarity
    is_subordinate = _is_subordinate(heard.after)
    if (
        polarity is Polarity.DENIED
        and scores == MORE_THAN_HALF
        and _FIRST_PERSON.search(heard.spoken)
    ):
        # "Fine most of the time" leaves the other days.
        is_denied = NEGATION.search(heard.spoken) is not None
        return (
            Said(kind=Kind.DOUBT)
            if is_denied
            else Said(kind=Kind.CLAIM, scores=SEVERAL | MORE_THAN_HALF)
        )
    if heard.about is About.NOTHING and polarity is Polarity.AFFIRMED and _is_own(heard):
        return Said(kind=Kind.CLAIM, scores=scores)
    if heard.about is About.NOTHING and polarity is not None:
        polarity = None if is_subordinate else Polarity.UNCLEAR
    if polarity is Polarity.AFFIRMED:
        return Said(kind=Kind.CLAIM, scores=scores)
    if polarity is Polarity.DENIED and scores == NEARLY_EVERY_DAY:
        # "I'm not tired every day" and "fine nearly every day" leave open how often it is.
        is_denied = any(denies.search(heard.spoken) for denies in (NEGATION, _EXCEPT, _NEARLY))
        return Said(kind=Kind.DOUBT) if is_denied else Said(kind=Kind.WELL, scores=NONE)
    is_turned = NEGATION.search(heard.before) or NEGATION.search(heard.after)
    if polarity is not None or heard.names_topic or is_turned:
        return Said(kind=Kind.DOUBT)
    is_framed = single_words("filler").issuperset(heard.before.split()) and is_subordinate
    is_known = not heard.has_unknown or heard.has("anaphor") or is_framed
    return Said(kind=Kind.BARE if is_known else Kind.UNKNOWN, scores=scores)


def _is_own(heard: Heard) -> bool:
    """Whether it is the speaker who is kept from something, or nothing else is named."""
    if not heard.has_unknown or _OF_DAYS.match(heard.after):
        return True
    return (
        _FIRST_PERSON.search(heard.spoken) is not None
        and _KEPT_FROM.search(heard.spoken) is not None
    )


def _is_subordinate(tail: str) -> bool:
    words = tail.split()
    return not words or words[0] in single_words("subordinators")


def _when(heard: Heard) -> Said | None:
    """Set apart what only says when, as "only when I lost the job" does."""
    opening = next((word for word in heard.words.texts if word not in _ONLY), "")
    return Said(kind=Kind.EMPTY) if opening in _WHEN else None


def _whether(heard: Heard) -> Said | None:
    """Read what says that the difficulty is there, or not, and no frequency."""
    if heard.polarity is Polarity.UNCLEAR:
        return Said(kind=Kind.DOUBT)
    if heard.is_vague:
        return Said(kind=Kind.VAGUE)
    if heard.polarity is Polarity.AFFIRMED:
        return _troubled(heard)
    is_turned = _OF_NOTHING.search(heard.spoken) is not None
    is_limited = is_turned or _ONLY_NOW.search(heard.spoken) or _UNDER.search(heard.spoken)
    if heard.polarity is Polarity.DENIED:
        return Said(kind=Kind.DOUBT) if is_limited else Said(kind=Kind.WELL, scores=NONE)
    if heard.has_unknown:
        return None
    return _yes_or_no(heard, is_limited=bool(is_limited))


def _troubled(heard: Heard) -> Said:
    """Read "I had no appetite on any day" as every day, and other difficulties as some days."""
    is_unbroken = _ANY_DAY.search(heard.spoken) and NEGATION.search(heard.spoken)
    if is_unbroken and heard.about is About.THIS:
        return Said(kind=Kind.CLAIM, scores=NEARLY_EVERY_DAY)
    return Said(kind=Kind.TROUBLE, scores=SOME)


def _yes_or_no(heard: Heard, *, is_limited: bool) -> Said | None:
    is_no, is_yes = heard.has("none"), heard.has("yes")
    if is_no and (is_yes or heard.is_more_than_none):
        return Said(kind=Kind.DOUBT)
    if is_no:
        return Said(kind=Kind.VAGUE) if is_limited else Said(kind=Kind.NO, scores=NONE)
    return Said(kind=Kind.YES, scores=SOME) if is_yes else None


def _rest(heard: Heard) -> Said:
    if not heard.has_unknown:
        return Said(kind=Kind.EMPTY)
    return Said(kind=Kind.VAGUE if heard.about is About.THIS else Kind.UNKNOWN)


# The first that has something to say counts.
_READERS: Final[tuple[Callable[[Heard], Said | None], ...]] = (
    _aside,
    _plain,
    _no_day,
    _elsewhere,
    _never,
    _often,
    _when,
    _whether,
    _rest,
)
