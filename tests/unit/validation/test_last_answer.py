"""A draft that can be read, and a final answer that cannot: never is the draft the answer."""

import json
from collections.abc import Callable
from itertools import product

import pytest
from tests.fakes.replies import ITEMS

from ai_psychiatrist.agents.extractors import extract_evidence, extract_quantitative
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected


def scores(score: int) -> dict[str, object]:
    item = {"evidence": ["I am tired"], "reason": "It is said.", "score": score, "confidence": 4}
    return dict.fromkeys(ITEMS, item)


def quotes(quote: str) -> dict[str, object]:
    return {item: [quote, f"{quote} and more"] for item in ITEMS}


Answer = tuple[Callable[[str], ModelOutput], dict[str, object], dict[str, object]]

ANSWERS: dict[str, Answer] = {
    "scoring": (extract_quantitative, scores(0), scores(2)),
    "evidence": (extract_evidence, quotes("I sleep well"), quotes("I am tired")),
}

FRAMES = {
    "alone": "{}",
    "fenced": "```json\n{}\n```",
    "fence_without_language": "```\n{}\n```",
    "tagged": "<answer>\n{}\n</answer>",
    "tagged_fence": "<answer>\n```json\n{}\n```\n</answer>",
}
BETWEEN = {"words": "\n\nOn reflection, that is not right. My final answer:\n\n", "none": "\n"}


def _cut(text: str, share: float) -> str:
    return text[: int(len(text) * share)]


FAULTS: dict[str, Callable[[str], str]] = {
    "cut_early": lambda text: _cut(text, 0.3),
    "cut_late": lambda text: _cut(text, 0.9),
    "last_bracket_lost": lambda text: text[:-1],
    "comma_doubled": lambda text: text.replace("[", "[,", 1),
    "value_lost": lambda text: text.replace(": [", ": ", 1),
    "mark_lost": lambda text: text.replace('"]', "]", 1),
    "colon_lost": lambda text: text.replace(": ", " ", 1),
    "escape_of_nothing": lambda text: text.replace("tired", r"tired\q", 1),
    "not_finite": lambda text: text.replace('["I am tired"', "[NaN", 1),
    "key_twice": lambda text: text.replace("PHQ8_Sleep", "PHQ8_Tired"),
    "words_for_a_value": lambda text: text.replace('"I am tired', "I am tired", 1),
    "ellipsis": lambda text: text.replace("]", ", ...]", 1),
}

IN_A_FRAME = tuple(product(BETWEEN, FAULTS, (False, True)))


@pytest.mark.parametrize("task", ANSWERS)
@pytest.mark.parametrize("frame", FRAMES)
def test_an_earlier_answer_is_never_taken_in_place_of_the_last(task: str, frame: str) -> None:
    extract, first, last = ANSWERS[task]
    draft = FRAMES["alone" if frame != "alone" else "fenced"].replace("{}", json.dumps(first))
    expected = extract(json.dumps(last))
    taken = [
        case
        for case in IN_A_FRAME
        if read_or_refused(extract, draft + ending(last, frame, *case)) not in (expected, None)
    ]
    assert not taken, "\n".join(map(repr, taken))


def ending(
    last: dict[str, object],
    frame: str,
    between: str,
    fault: str,
    is_indented: bool,
) -> str:
    """Return what follows the draft: the last answer in its frame, with a fault."""
    faulty = FAULTS[fault](json.dumps(last, indent=2 if is_indented else None))
    framed = FRAMES[frame].replace("{}", faulty)
    if fault.startswith("cut"):
        framed = framed[: framed.index(faulty) + len(faulty)]
    return BETWEEN[between] + framed


def read_or_refused(extract: Callable[[str], ModelOutput], reply: str) -> ModelOutput | None:
    try:
        return extract(reply).model_copy(update={"repaired": False, "coercions": 0})
    except ReplyRejected:
        return None


def test_the_set_is_whole() -> None:
    assert len(ANSWERS) * len(FRAMES) * len(IN_A_FRAME) == 480
