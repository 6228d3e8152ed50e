"""Systems that do not read: what a figure of a challenge is worth is told by what they reach."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item
from ai_psychiatrist.evaluation.challenge.folder import InterviewTruth
from ai_psychiatrist.evaluation.challenge.prediction import (
    OUTCOMES,
    ChallengePrediction,
    GivenQuote,
    ItemAnswer,
)
from ai_psychiatrist.evaluation.challenge.tally import INVENTED
from ai_psychiatrist.evaluation.challenge.wordings import PARTICIPANT

Predictions = dict[str, ChallengePrediction]
System = Callable[[Mapping[str, str], Mapping[str, InterviewTruth]], Predictions]

_WORDS: Final = {
    Item.NO_INTEREST: r"interest|enjoy|fun|joy|pleasure|hobb",
    Item.DEPRESSED: r"depress|sad|down|hopeless|mood|cry|happy",
    Item.SLEEP: r"sleep|awake|night|wake",
    Item.TIRED: r"tired|energy|exhaust",
    Item.APPETITE: r"appetite|eat|food|meal",
    Item.FAILURE: r"failure|worthless|myself|blame",
    Item.CONCENTRATING: r"concentrat|focus|mind",
    Item.MOVING: r"restless|slow|fidget|sit still|pace",
}
_OFTEN: Final = (
    (3, r"every day|day in day out|thirteen"),
    (2, r"half|most|more days|five days|nine|greater"),
    (0, r"\b(?:no|not|don't|never|fine|good|well)\b"),
)
_DANGER: Final = r"\b(?:kill\w*|die\w*|dead|death|pills?|rope|gun|hurt|suicid\w*)\b"


def always_unknown(texts: Mapping[str, str], _: Mapping[str, InterviewTruth]) -> Predictions:
    """Say nothing."""
    return _same(texts, dict.fromkeys(Item, ItemAnswer(score=None)))


def always_zero(texts: Mapping[str, str], _: Mapping[str, InterviewTruth]) -> Predictions:
    """Find everybody well."""
    return _same(texts, dict.fromkeys(Item, ItemAnswer(score=0)))


def prior_only(texts: Mapping[str, str], truth: Mapping[str, InterviewTruth]) -> Predictions:
    """Know how frequent each score is in this very challenge, and give the one that costs least."""
    return _same(texts, {item: _prior(item, truth) for item in Item})


def keywords(texts: Mapping[str, str], _: Mapping[str, InterviewTruth]) -> Predictions:
    """Quote every line of the participant with a word of the item in it."""
    return {
        unit_id: ChallengePrediction(
            unit_id=unit_id,
            items={item: _keyword_answer(item, text) for item in Item},
            danger=any(re.search(_DANGER, words) for _, words in _lines(text)),
        )
        for unit_id, text in texts.items()
    }


SYSTEMS: Final[Mapping[str, System]] = {
    "always-unknown": always_unknown,
    "always-zero": always_zero,
    "prior-only": prior_only,
    "keywords": keywords,
}


def _same(texts: Mapping[str, str], items: Mapping[Item, ItemAnswer]) -> Predictions:
    return {
        unit_id: ChallengePrediction(unit_id=unit_id, items=items, danger=False)
        for unit_id in texts
    }


def _prior(item: Item, truth: Mapping[str, InterviewTruth]) -> ItemAnswer:
    counts = Counter(one.items[item].score for one in truth.values())

    def cost(guess: int) -> float:
        return sum(
            count * (INVENTED if score is None else abs(score - guess))
            for score, count in counts.items()
        )

    shares = tuple(counts[outcome] / len(truth) for outcome in OUTCOMES)
    guess = min(range(MAX_ITEM_SCORE + 1), key=cost)
    return ItemAnswer.model_validate({"score": guess, "probabilities": shares})


def _keyword_answer(item: Item, text: str) -> ItemAnswer:
    quotes = []
    scores = []
    for start, words in _lines(text):
        if re.search(_WORDS[item], words):
            score = next((score for score, often in _OFTEN if re.search(often, words)), 1)
            polarity = Polarity.AFFIRMED if score else Polarity.DENIED
            end = start + len(words)
            quotes.append(GivenQuote(text=words, start=start, end=end, polarity=polarity))
            scores.append(score)
    return ItemAnswer(score=max(scores, default=None), quotes=tuple(quotes))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the participant's lines and where they begin."""
    for found in re.finditer(rf"^{PARTICIPANT}: (.+)$", text, re.MULTILINE):
        yield found.start(1), found[1]
