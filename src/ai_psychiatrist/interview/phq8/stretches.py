"""Cut an answer into stretches that each make one statement, as normalised words."""

import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.services.cues.lexicon import Words

_TOKEN: Final = re.compile(
    r"(?P<range>\d{1,2}\s?[-–/]\s?\d{1,2}\b)|(?P<percent>\d{1,3}\s?%)"
    r"|(?P<word>[^\W_]+(?:['’ʼ][^\W_]+)*)|(?P<stop>(?<!\b[Dd]ay in)[.?!;:…\n,()—–]|\s-+\s)"
)
_SENTENCE_ENDS: Final = frozenset(".?!;\n")
_CONTRASTS: Final = frozenset("but though although otherwise because except".split())
# "All but two days", "every day except Sunday".
_EXCEPTIONS: Final = frozenset(
    {("all", "but"), ("day", "except"), ("days", "except"), ("night", "except"), ("all", "except")}
)
_OPENINGS: Final = frozenset("no nope nah yes yeah yep yup well oh".split())
# After these words a leading "no" is an answer by itself and negates nothing that follows.
_AFTER_ANSWER: Final = frozenset(
    "i i'm i've i'd im ive my not it it's its there there's they these this that that's actually "
    "well wait no sorry never only just most every nearly almost maybe about daily always "
    "all he she we".split()
)
_KEEPS_APOSTROPHE: Final = ("'ll", "'re", "'d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Words between two pauses of an answer."""

    words: Words
    is_question: bool
    """Whether it ends in a question mark."""
    is_contrast: bool
    """Whether a word such as "but" or "otherwise" opens it."""
    opens_sentence: bool
    """Whether a sentence begins with it."""

    def part(self, first: int, after: int) -> "Stretch":
        """Return the words from `first` to the one before `after`; there must be some."""
        texts, spans = self.words.texts[first:after], self.words.spans[first:after]
        return Stretch(
            words=Words(texts=texts, spans=spans),
            is_question=self.is_question and after == len(self.words.texts),
            is_contrast=texts[0] in _CONTRASTS,
            opens_sentence=self.opens_sentence and first == 0,
        )

    @property
    def start(self) -> int:
        """The first character in the answer."""
        return self.words.spans[0][0]

    @property
    def end(self) -> int:
        """The character after the last."""
        return self.words.spans[-1][1]


def stretches_of(text: str) -> tuple[Stretch, ...]:
    """Cut an answer; text without any word or number has no stretches."""
    found: list[Stretch] = []
    words: list[tuple[str, tuple[int, int]]] = []
    opens_sentence = True
    for token in _TOKEN.finditer(text):
        if token["stop"] is not None:
            had_words = bool(words)
            _close(found, words, opens_sentence=opens_sentence, is_question=token["stop"] == "?")
            ends = token["stop"] in _SENTENCE_ENDS
            opens_sentence = ends or (opens_sentence and not had_words)
            continue
        spoken = _normalised(token)
        if spoken[0] in _CONTRASTS and words and (words[-1][0], spoken[0]) not in _EXCEPTIONS:
            _close(found, words, opens_sentence=opens_sentence, is_question=False)
            opens_sentence = False
        is_after_answer = spoken[0] in _AFTER_ANSWER or [word for word, _ in words] == ["well"]
        if is_after_answer and len(words) == 1 and words[0][0] in _OPENINGS:
            _close(found, words, opens_sentence=opens_sentence, is_question=False)
            opens_sentence = False
        words.extend((word, token.span()) for word in spoken)
    _close(found, words, opens_sentence=opens_sentence, is_question=False)
    return tuple(found)


def _close(
    found: list[Stretch],
    words: list[tuple[str, tuple[int, int]]],
    *,
    opens_sentence: bool,
    is_question: bool,
) -> None:
    if words:
        found.append(
            Stretch(
                words=Words(
                    texts=tuple(word for word, _ in words), spans=tuple(span for _, span in words)
                ),
                is_question=is_question,
                is_contrast=words[0][0] in _CONTRASTS,
                opens_sentence=opens_sentence,
            )
        )
        words.clear()


def _normalised(token: re.Match[str]) -> list[str]:
    """Return the words of a token: "3/14" as three out of fourteen, "4-5" as four to five."""
    if token["range"] is not None:
        first, last = re.findall(r"\d+", token["range"])
        if (first, last) == ("24", "7"):
            return ["constantly"]
        return [first, "out", "of", last] if "/" in token["range"] else [first, "to", last]
    if token["percent"] is not None:
        return [token["percent"].rstrip("% ").strip(), "percent"]
    folded = token[0].casefold().replace("’", "'").replace("ʼ", "'")
    return [folded if folded.endswith(_KEEPS_APOSTROPHE) else folded.replace("'", "")]
