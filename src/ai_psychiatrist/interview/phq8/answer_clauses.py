"""Cut an answer at its pauses, as normalised words."""

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<range>\d{1,2}\s?[-–/]\s?\d{1,2}\b)|(?P<word>[^\W_]+(?:['’ʼ][^\W_]+)*)"
    r"|(?P<stop>[.?!;:…\n,()—–]|\s-+\s)|(?P<sign>[^\s\"'“”‘’*_])"
)
# After these a leading "no" or "yes" is an answer by itself: "no I'm fine".
_AFTER_ANSWER: Final = frozenset(
    "i im ive id it its not never most nearly almost just only".split()
)
_ANSWERS: Final = frozenset("no nope nah yes yeah yep yup well oh".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerClause:
    """Words between two pauses; characters of the answer, end exclusive."""

    spoken: str
    """The words joined by spaces."""
    start: int
    end: int
    is_question: bool
    word_starts: tuple[tuple[int, int], ...] = ()
    """Of each word its first character in `spoken` and in the answer."""

    def place_of(self, at: int) -> int:
        """Return where in the answer the first word stands from a character of `spoken` on."""
        return next((place for began, place in self.word_starts if began >= at), self.end)


def answer_clauses(text: str) -> tuple[AnswerClause, ...]:
    """Cut an answer; text without any word or number has no clauses."""
    found: list[AnswerClause] = []
    words: list[tuple[str, int, int]] = []

    def close(*, is_question: bool) -> None:
        if any(word[0].isalnum() for word, _, _ in words):
            lengths = accumulate((len(word) + 1 for word, _, _ in words), initial=0)
            found.append(
                AnswerClause(
                    spoken=" ".join(word for word, _, _ in words),
                    start=words[0][1],
                    end=words[-1][2],
                    is_question=is_question,
                    word_starts=tuple(zip(lengths, (at for _, at, _ in words), strict=False)),
                )
            )
        words.clear()

    for token in _TOKEN.finditer(text):
        if token["stop"] is not None:
            close(is_question=token["stop"] == "?")
            continue
        word = _normalised(token)
        if len(words) == 1 and words[0][0] in _ANSWERS and word in _AFTER_ANSWER:
            close(is_question=False)
        words.append((word, *token.span()))
    close(is_question=False)
    return tuple(found)


def _normalised(token: re.Match[str]) -> str:
    """Return the words of a token: "3/14" as three out of fourteen, "4-5" as four to five."""
    if token["range"] is not None:
        first, last = re.findall(r"\d+", token["range"])
        return f"{first} out of {last}" if "/" in token["range"] else f"{first} to {last}"
    return re.sub(r"['’ʼ]", "", token[0].casefold())
