"""Ways to change what somebody said so that it means something else; every change is inside."""

import random
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

Words = list[str]
Lie = Callable[[Words, random.Random], Words | None]
"""Changes a cut of words, or returns `None` where the change does not apply."""

_BARE: Final = re.compile(r"[^\w']+")
_SHORTEST: Final = 3
_REPEATED: Final = range(1, 5)
"""How many words may be said twice in a row without meaning more."""
_TAG: Final = re.compile(r"</?[A-Za-z_]+/?>|\[[a-z]+\]|^\w{1,3}-$")
SOUNDS: Final = frozenset("um umm uh uhh er erm hm hmm mm mmm ah eh uhm".split())
ASIDES: Final = {("you", "know"), ("i", "mean")}
_ENDINGS: Final = frozenset("n't 't 'm 's 're 've 'll 'd".split())
_NEGATIONS: Final = frozenset("not no never none nothing nobody without hardly barely".split())
_PLAIN_OF: Final = {
    "don't": "do",
    "didn't": "did",
    "doesn't": "does",
    "can't": "can",
    "isn't": "is",
    "wasn't": "was",
    "haven't": "have",
    "hasn't": "has",
    "won't": "will",
    "couldn't": "could",
}
_ENDS_OF: Final = {
    "n't": "not",
    "'m": "am",
    "'s": "is",
    "'re": "are",
    "'ve": "have",
    "'ll": "will",
    "'d": "would",
}
_SHORTENED: Final = _ENDS_OF.keys() - {"n't"}
_STEMS: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_NUMBERS: Final = "one two three four five six seven eight nine ten twelve twenty".split()
_FREQUENCIES: Final = "always sometimes never often rarely usually daily weekly constantly".split()
_QUANTITIES: Final = {
    "more": "less",
    "less": "more",
    "all": "some",
    "some": "all",
    "many": "few",
    "few": "many",
    "much": "little",
    "little": "much",
    "every": "no",
    "very": "slightly",
    "most": "some",
    "bit": "lot",
    "lot": "bit",
}
_TENSES: Final = {
    "is": "was",
    "was": "is",
    "are": "were",
    "were": "are",
    "have": "had",
    "had": "have",
    "feel": "felt",
    "felt": "feel",
    "do": "did",
    "did": "do",
    "get": "got",
    "got": "get",
    "go": "went",
    "went": "go",
    "i'm": "i was",
    "will": "would",
    "take": "took",
    "took": "take",
}
_PERSONS: Final = {
    "i": "he",
    "my": "his",
    "me": "him",
    "i'm": "he's",
    "i've": "he's",
    "we": "they",
    "he": "i",
    "she": "i",
    "they": "we",
    "his": "my",
    "her": "my",
    "you": "i",
}
_LOOKALIKES: Final = str.maketrans("aeopcx", "аеорсх")
_CONTENT: Final = (
    "hopeless restless exhausted worthless cheerful pancake driving headache garden asleep crying "
    "appetite furious window brother tablets laughing guilty shoulder silence"
).split()


def is_ending(word: str) -> bool:
    """Return whether what stands between spaces is only the end of a contraction."""
    return word.replace("’", "'").casefold() in _ENDINGS


def bare(word: str) -> str:
    """Return a word without tags and the punctuation around it, in lower case."""
    return _BARE.sub("", _TAG.sub("", word.replace("’", "'"))).lower().strip("'")


def spoken_words(words: Sequence[str]) -> Words:
    """Return bare words without sounds and asides."""
    kept: Words = []
    for word in map(bare, words):
        if not word or word in SOUNDS:
            continue
        kept.append(word)
        if tuple(kept[-2:]) in ASIDES:
            del kept[-2:]
    return kept


def core(words: Sequence[str]) -> Words:
    """Return the spoken words with what is said twice in a row once."""
    return once(spoken_words(words))


def once(words: Sequence[str]) -> Words:
    """Return words with what is said twice in a row once."""
    kept: Words = []
    for word in words:
        kept.append(word)
        for length in _REPEATED:
            while len(kept) >= 2 * length and kept[-length:] == kept[-2 * length : -length]:
                del kept[-length:]
    return kept


def only_leaves_out_repetitions(quote: Words, words: Words) -> bool:
    """Return whether a quote leaves out of words in a row only what is said again right after."""
    places = {at for at, word in enumerate(words) if word == quote[0]} if quote else set()
    for wanted in quote:
        places = {at + 1 for at in _said_again(places, words) if words[at : at + 1] == [wanted]}
    return bool(places)


def _said_again(places: set[int], words: Words) -> set[int]:
    """Return places, and those where the words that begin there are said again."""
    reached, pending = set(places), [*places]
    while pending:
        at = pending.pop()
        for length in _REPEATED:
            again = at + length
            is_again = words[at:again] == words[again : again + length] != []
            if is_again and again not in reached:
                reached.add(again)
                pending.append(again)
    return reached


def without_pronouns_said_again(words: Sequence[str]) -> Words:
    """Return bare words without what is said again as a contraction: "I" in "I, I'm"."""
    return [
        word
        for word, following in zip_longest(words, words[1:], fillvalue="")
        if word not in {following.removesuffix(end) for end in _SHORTENED if following != word}
    ]


def _inner(words: Words) -> range:
    return range(1, len(words) - 1)


def _swap(table: dict[str, str]) -> Lie:
    def lie(words: Words, choose: random.Random) -> Words | None:
        places = [at for at in _inner(words) if bare(words[at]) in table]
        if not places:
            return None
        at = choose.choice(places)
        return [*words[:at], table[bare(words[at])], *words[at + 1 :]]

    return lie


def _another(group: Sequence[str]) -> Lie:
    def lie(words: Words, choose: random.Random) -> Words | None:
        places = [at for at in _inner(words) if bare(words[at]) in group]
        if not places:
            return None
        at = choose.choice(places)
        other = choose.choice([word for word in group if word != bare(words[at])])
        return [*words[:at], other, *words[at + 1 :]]

    return lie


def negation_removed(words: Words, choose: random.Random) -> Words | None:
    """Drop a negation, or make "don't" a "do"."""
    places = [at for at in _inner(words) if bare(words[at]) in _NEGATIONS | _PLAIN_OF.keys()]
    if not places:
        return None
    at = choose.choice(places)
    plain = _PLAIN_OF.get(bare(words[at]))
    return [*words[:at], *([plain] if plain else []), *words[at + 1 :]]


def negation_added(words: Words, choose: random.Random) -> Words | None:
    """Put a "not" or "never" between two words."""
    at = choose.choice(_inner(words))
    return [*words[:at], choose.choice(["not", "never", "no"]), *words[at:]]


def content_changed(words: Words, choose: random.Random) -> Words | None:
    """Replace a word by another one."""
    at = choose.choice(_inner(words))
    return [*words[:at], choose.choice(_CONTENT), *words[at + 1 :]]


def content_added(words: Words, choose: random.Random) -> Words | None:
    """Put a word between two."""
    at = choose.choice(_inner(words))
    return [*words[:at], choose.choice(_CONTENT), *words[at:]]


def content_removed(words: Words, choose: random.Random) -> Words | None:
    """Leave a long word out."""
    places = [at for at in _inner(words) if len(bare(words[at])) > 4]
    if not places:
        return None
    at = choose.choice(places)
    return [*words[:at], *words[at + 1 :]]


def homoglyph(words: Words, choose: random.Random) -> Words | None:
    """Replace letters of a word by letters that look the same."""
    places = [at for at in _inner(words) if words[at].translate(_LOOKALIKES) != words[at]]
    if not places:
        return None
    at = choose.choice(places)
    return [*words[:at], words[at].translate(_LOOKALIKES), *words[at + 1 :]]


def letter_swap(words: Words, choose: random.Random) -> Words | None:
    """Swap two neighbouring letters of a word."""
    places = [at for at in _inner(words) if len(bare(words[at])) > 3 and words[at].isalpha()]
    if not places:
        return None
    at = choose.choice(places)
    word = words[at]
    letter = choose.randrange(len(word) - 1)
    swapped = word[:letter] + word[letter + 1] + word[letter] + word[letter + 2 :]
    return None if swapped.lower() == word.lower() else [*words[:at], swapped, *words[at + 1 :]]


def word_order(words: Words, choose: random.Random) -> Words | None:
    """Swap two neighbouring words."""
    at = choose.choice(_inner(words))
    swapped = [*words[:at], words[at + 1], words[at], *words[at + 2 :]]
    # Beside the same words said again, a swap may only leave those out.
    return None if core(swapped) == core(words) else swapped


def distant_splice(words: Words, choose: random.Random) -> Words | None:
    """Leave three words out of the middle."""
    if len(words) < 8:
        return None
    at = choose.randrange(2, len(words) - 5)
    return [*words[:at], *words[at + 3 :]]


def cut_behind_filler(words: Words, choose: random.Random) -> Words | None:
    """Leave out the word after a leading filler, or the one before a filler at the end."""
    words = joined(words)
    places = [
        at for at in range(_SHORTEST + 1, len(words) - _SHORTEST - 1) if bare(words[at]) in SOUNDS
    ]
    if not places:
        return None
    at, length = choose.choice(places), choose.randint(_SHORTEST, 10)
    if choose.random() < 0.5:
        rest = words[at + 2 : at + 2 + length]
        left_out, beside, lie = words[at + 1], rest[0], [words[at], *rest]
    else:
        rest = words[max(0, at - 1 - length) : at - 1]
        left_out, beside, lie = words[at - 1], rest[-1], [*rest, words[at]]
    if any(bare(word) in SOUNDS for word in rest) or bare(left_out) in SOUNDS:
        return None
    pair = without_pronouns_said_again([bare(left_out), bare(beside)])
    # Half of an aside, or of a word that is said again, is another change.
    is_another = len(once(pair)) == 1 or not all(pair) or {"know", "mean"} & {*pair}
    return None if is_another else lie


def cut_in_contraction(words: Words, choose: random.Random) -> Words | None:
    """End before the second word of a contraction, or begin with it."""
    spoken = joined(words)
    places = [at for at, word in enumerate(spoken) if _halves(word)]
    if not places:
        return None
    at = choose.choice(places)
    halves = _halves(spoken[at]) or ("", "")
    if choose.random() < 0.5:
        lie = [*spoken[max(0, at - 8) : at], halves[0]]
    else:
        lie = [halves[1], *spoken[at + 1 : at + 9]]
    return lie if len(lie) > _SHORTEST else None


def joined(words: Sequence[str]) -> Words:
    """Return words with "do n't" as one."""
    kept: Words = []
    for word in words:
        if kept and is_ending(word):
            kept[-1] += word
        else:
            kept.append(word)
    return kept


def written_out(words: Sequence[str]) -> Words:
    """Return spoken words with contractions written out."""
    kept: Words = []
    for word in words:
        kept.extend(_halves(word) or (word,))
    return kept


def _halves(word: str) -> tuple[str, str] | None:
    spoken = bare(word)
    if spoken == "gonna":
        return "going", "to"
    for ending, verb in _ENDS_OF.items():
        stem = spoken.removesuffix(ending)
        if stem and spoken not in (stem, "ain't"):
            return _STEMS.get(stem, stem), verb
    return None


BEHIND_FILLER: Final = "cut behind a filler"
IN_CONTRACTION: Final = "cut in a contraction"
LIES: Final[dict[str, Lie]] = {
    "negation removed": negation_removed,
    "negation added": negation_added,
    "number changed": _another(_NUMBERS),
    "frequency changed": _another(_FREQUENCIES),
    "quantity changed": _swap(_QUANTITIES),
    "tense changed": _swap(_TENSES),
    "person changed": _swap(_PERSONS),
    "content changed": content_changed,
    "content added": content_added,
    "content removed": content_removed,
    "homoglyph": homoglyph,
    "letter swap": letter_swap,
    "word order": word_order,
    "distant splice": distant_splice,
    BEHIND_FILLER: cut_behind_filler,
    IN_CONTRACTION: cut_in_contraction,
}
