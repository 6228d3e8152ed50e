"""Replies of single agents that are odd, doubtful or half right, while all others answer well."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import first_attempts, only_for
from tests.fakes.replies import (
    ITEMS,
    JUDGE_TASKS,
    QUALITATIVE_TASKS,
    danger_text,
    evidence_answer,
    evidence_text,
    interviewer_quotes,
    judge_text,
    meta_review_text,
    participant_quotes,
    qualitative_text,
    scoring_answer,
    scoring_text,
)
from tests.golden.scripted_way import DANGER, EVERY_DAY, Case

_Quotes = Sequence[str]
_Answer = dict[str, Any]
_Text = Callable[[_Quotes], str]
_NOBODY_SAID: Final = "I have been counting the copper lanterns of Valparaiso."


def reply_cases() -> Iterator[Case]:
    """Yield a case for each reply; the agents that are not meant are the rule baseline."""
    agents: Mapping[str, tuple[Sequence[str], Mapping[str, _Text | str], Mapping[str, str]]] = {
        "scores": (["scoring"], _SCORES, {}),
        "evidence": (["evidence"], _EVIDENCE, {}),
        "danger": (["danger"], _DANGER, _DANGER_ALONE),
        "judged": (JUDGE_TASKS, _JUDGED, _JUDGE_ALONE),
        "reviewed": (["meta_review"], _REVIEWED, _REVIEW_ALONE),
        "findings": (QUALITATIVE_TASKS, _FINDINGS, _FINDINGS_ALONE),
    }
    for agent, (tasks, replies, settings) in agents.items():
        for name, text in replies.items():
            yield Case(
                name=f"{agent}/{name}",
                text=DANGER if agent == "danger" else EVERY_DAY,
                script=only_for(tasks, always(text)),
                settings={**_ALONE, **settings},
            )


_ALONE: Final = {
    "DANGER_MODEL": "off",
    "MODEL_QUALITATIVE_MODEL": "baseline",
    "MODEL_JUDGE_MODEL": "baseline",
    "MODEL_META_REVIEW_MODEL": "baseline",
}
_FAKE: Final = "openai-chat:fake-model"
_DANGER_ALONE: Final = {"MODEL_QUANTITATIVE_MODEL": "baseline", "DANGER_MODEL": _FAKE}
_JUDGE_ALONE: Final = {"MODEL_QUANTITATIVE_MODEL": "baseline", "MODEL_JUDGE_MODEL": _FAKE}
_REVIEW_ALONE: Final = {"MODEL_QUANTITATIVE_MODEL": "baseline", "MODEL_META_REVIEW_MODEL": _FAKE}
_FINDINGS_ALONE: Final = {"MODEL_QUANTITATIVE_MODEL": "baseline", "MODEL_QUALITATIVE_MODEL": _FAKE}


def always(text: str | _Text) -> Script:
    """Answer with a text, or with what is made of the participant's sentences."""
    return lambda request: Reply(text=text if isinstance(text, str) else text(_said(request)))


def _said(request: Request) -> _Quotes:
    return participant_quotes(request.transcript)


def _scored(change: Callable[[str, _Answer], Mapping[str, object]]) -> _Text:
    """Write a scoring reply in which the fields of each item are changed."""

    def text(quotes: _Quotes) -> str:
        answer = scoring_answer(quotes)
        return scoring_text({key: {**one, **change(key, one)} for key, one in answer.items()})

    return text


def _rewritten(change: Callable[[_Answer], object]) -> _Text:
    return lambda quotes: scoring_text(change(dict(scoring_answer(quotes))))


def _all(**fields: object) -> _Text:
    return _scored(lambda _key, _one: fields)


def _without_the_last(answer: _Answer) -> object:
    answer.pop(ITEMS[-1])
    return answer


_SCORES: Final[Mapping[str, _Text]] = {
    "all_0": _all(score=0),
    "all_2": _all(score=2),
    "all_3": _all(score=3, confidence=5),
    "all_unknown": _all(score="N/A", reason="Nothing was said about it."),
    "unknown_and_certain": _all(score=None, confidence=5),
    "unknown_without_reason": _all(score="n/a", reason=""),
    "in_words": _all(score="nearly every day"),
    "in_other_words": _all(score="quite often"),
    "as_text": _all(score="3"),
    "as_fraction": _all(score=2.0),
    "as_half": _all(score=1.5),
    "of_four": _all(score=4),
    "negative": _all(score=-1),
    "as_list": _all(score=[2]),
    "confidence_of_nine": _all(confidence=9),
    "confidence_in_words": _all(confidence="high"),
    "reason_is_number": _all(reason=7),
    "evidence_is_text": _scored(lambda _, one: {"evidence": " ".join(one["evidence"])}),
    "evidence_is_null": _all(evidence=None),
    "evidence_of_nobody": _all(evidence=[_NOBODY_SAID], score=2),
    "evidence_left_out": _rewritten(
        lambda answer: {key: {"score": one["score"]} for key, one in answer.items()}
    ),
    "same_quote_for_all": lambda quotes: scoring_text(
        {key: {"evidence": quotes[:1], "reason": "So it is.", "score": 2} for key in ITEMS}
    ),
    "seven_quotes": lambda quotes: scoring_text(
        {**scoring_answer(quotes), ITEMS[0]: {"evidence": [*quotes[:7]], "score": 1}}
    ),
    "seven_items": _rewritten(_without_the_last),
    "one_item": _rewritten(lambda answer: {ITEMS[2]: answer[ITEMS[2]]}),
    "item_is_number": _rewritten(lambda answer: {**answer, ITEMS[0]: 2}),
    "items_in_other_case": _rewritten(
        lambda answer: {key.lower().replace("_", "-"): one for key, one in answer.items()}
    ),
    "item_twice": _rewritten(lambda answer: {**answer, ITEMS[0].upper(): answer[ITEMS[0]]}),
    "unknown_item": _rewritten(lambda answer: {**answer, "PHQ9_Suicide": answer[ITEMS[0]]}),
    "wrapped": _rewritten(lambda answer: {"scores": answer}),
    "wrapped_twice": _rewritten(lambda answer: {"result": {"scores": answer}}),
    "without_tags": lambda quotes: json.dumps(scoring_answer(quotes)),
    "trailing_comma": lambda quotes: scoring_text(scoring_answer(quotes)).replace("}\n", ",}\n"),
    "single_quotes": lambda quotes: f"<answer>{scoring_answer(quotes)}</answer>",
    "opened_only": lambda quotes: scoring_text(scoring_answer(quotes)).removesuffix("</answer>"),
    "total_only": lambda _: '<answer>{"total": 12}</answer>',
}


def _listed(change: Callable[[_Answer], object]) -> _Text:
    return lambda quotes: evidence_text(change(evidence_answer(quotes)))


_EVIDENCE: Final[Mapping[str, _Text]] = {
    "none": _listed(lambda answer: {key: [] for key in answer}),
    "seven_of_one": lambda quotes: evidence_text({**evidence_answer([]), ITEMS[0]: [*quotes[:7]]}),
    "same_quote_twice": _listed(lambda answer: {key: [*one, *one] for key, one in answer.items()}),
    "same_quote_for_all": lambda quotes: evidence_text({key: [*quotes[:1]] for key in ITEMS}),
    "all_quotes_swapped": lambda quotes: evidence_text(
        dict(zip(ITEMS, evidence_answer(quotes[::-1]).values(), strict=True))
    ),
    "half_of_nobody": lambda quotes: evidence_text(
        {key: [*one, _NOBODY_SAID] for key, one in _lists(quotes).items()}
    ),
    "in_other_case": lambda quotes: evidence_text(
        {key: [quote.upper() for quote in one] for key, one in _lists(quotes).items()}
    ),
    "cut_to_a_word": lambda quotes: evidence_text(
        {key: [quote.split()[-1] for quote in one] for key, one in _lists(quotes).items()}
    ),
    "with_labels": lambda quotes: evidence_text(
        {key: [f"Participant: {quote}" for quote in one] for key, one in _lists(quotes).items()}
    ),
    "joined_by_dots": lambda quotes: evidence_text(
        {**evidence_answer(quotes), ITEMS[1]: [" ... ".join(quotes[:2])]}
    ),
    "quotes_as_objects": lambda quotes: evidence_text(
        {key: [{"quote": quote} for quote in one] for key, one in _lists(quotes).items()}
    ),
    "null_for_none": _listed(lambda answer: {key: one or None for key, one in answer.items()}),
    "unknown_keys_alone": lambda quotes: evidence_text({"Sleep": [*quotes[:1]]}),
    "unknown_keys_beside": _listed(lambda answer: {**answer, "PHQ9_Suicide": ["x"]}),
    "keys_in_other_case": _listed(lambda answer: {key.upper(): one for key, one in answer.items()}),
    "wrapped": _listed(lambda answer: {"evidence": answer}),
    "task_repeated": lambda _: (
        f"Reply with one JSON object and nothing else:\n{evidence_text(evidence_answer([]))}"
    ),
}


def _lists(quotes: _Quotes) -> dict[str, list[str]]:
    return {key: one for key, one in evidence_answer(quotes).items() if isinstance(one, list)}


def _signs(**sign: object) -> _Text:
    """Write signs of the participant's sentences with these fields changed."""

    def text(quotes: _Quotes) -> str:
        answer = json.loads(danger_text(*quotes))
        return json.dumps({"signs": [{**one, **sign} for one in answer["signs"]]})

    return text


_DANGER: Final[Mapping[str, _Text]] = {
    "affirmed": _signs(),
    "denied": _signs(polarity="denied", level="low"),
    "denied_without_level": _signs(polarity="denied", level="none"),
    "of_others": _signs(polarity="quoted", kind="abuse_by_others", level="moderate"),
    "in_other_words": _signs(kind="Wish to be dead", level="critical", polarity="Affirmed"),
    "unknown_kind": _signs(kind="sadness"),
    "unknown_level": _signs(level="seven"),
    "unknown_polarity": _signs(polarity="perhaps"),
    "nothing_but_quotes": lambda quotes: json.dumps({"signs": [{"quote": one} for one in quotes]}),
    "quotes_as_texts": lambda quotes: json.dumps({"signs": [*quotes]}),
    "list_alone": lambda quotes: json.dumps(json.loads(danger_text(*quotes))["signs"]),
    "of_nobody": lambda _: danger_text(_NOBODY_SAID, "And I bought the rope in spring."),
    "half_of_nobody": lambda quotes: danger_text(*quotes, _NOBODY_SAID),
    "of_the_interviewer": lambda _: danger_text(*interviewer_quotes(DANGER)),
    "twice": lambda quotes: danger_text(*quotes, *quotes),
    "cut_off": lambda quotes: danger_text(*quotes)[:-40],
    "no_signs": lambda _: "{}",
    "in_prose": lambda _: "The participant is in danger and should be seen today.",
}

_JUDGED: Final[Mapping[str, str]] = {
    "best": judge_text("5"),
    "worst_of_all": judge_text("1"),
    "of_five": judge_text("4/5"),
    "of_ten": judge_text("8/10"),
    "zero": judge_text("0"),
    "six": judge_text("6"),
    "in_words": judge_text("four"),
    "range": judge_text("3-4"),
    "said_anew": judge_text("2, no wait, 4"),
    "bold": "**Explanation:** It hangs together.\n**Score:** [4]",
    "score_first": "Score: 4\nExplanation: It hangs together.",
    "score_alone": "4",
    "without_explanation": "Score: 4",
    "explanation_of_the_task": judge_text("4", "what you found"),
    "without_score": "Explanation: It hangs together.",
    "as_json": '{"explanation": "It hangs together.", "score": 4}',
    "two_scores": "Explanation: First.\nScore: 2\nExplanation: Then.\nScore: 5",
}

_REVIEWED: Final[Mapping[str, str]] = {
    "minimal": meta_review_text("0"),
    "severe": meta_review_text("4"),
    "of_five": meta_review_text("5"),
    "in_a_word": meta_review_text("severe"),
    "with_words": meta_review_text("3 (moderately severe)"),
    "bold": meta_review_text("**2**"),
    "half": meta_review_text("2.5"),
    "as_json": '{"severity": 3, "explanation": "Several symptoms are present."}',
    "as_json_in_words": '{"severity": "mild", "explanation": "Few symptoms are present."}',
    "without_explanation": "<severity>2</severity>",
    "empty_explanation": meta_review_text("2", " "),
    "explanation_alone": "<explanation>Several symptoms are present.</explanation>",
    "severity_cut_off": "<explanation>Several symptoms.</explanation>\n<severity>2",
    "twice": meta_review_text("1") + meta_review_text("3"),
}


def _found(**changes: str) -> _Text:
    """Write findings in which some pieces of text are others."""

    def text(quotes: _Quotes) -> str:
        written = qualitative_text(quotes[:3])
        for old, new in changes.items():
            written = written.replace(_PIECES[old], new)
        return written

    return text


_PIECES: Final = {
    "opening": "<social_factors>",
    "closing": "</risk_factors>",
    "last": "</exact_quotes>",
    "remark": "The participant is tired.",
    "bullet": "- ",
}
_FINDINGS: Final[Mapping[str, _Text]] = {
    "without_a_tag": _found(opening=""),
    "not_closed": _found(closing=""),
    "quotes_not_closed": _found(last=""),
    "empty_sections": _found(remark=""),
    "other_case": lambda quotes: qualitative_text(quotes[:2]).replace("PHQ8_", "phq8_"),
    "numbered_quotes": _found(bullet="1. "),
    "no_quotes": lambda _: qualitative_text([]),
    "placeholders": lambda _: qualitative_text(["None.", "N/A", "not assessed in interview"]),
    "quotes_of_nobody": lambda quotes: qualitative_text([_NOBODY_SAID, *quotes[:1]]),
    "many_quotes": lambda quotes: qualitative_text([*quotes, *(f"Line {n}." for n in range(80))]),
    "twice": lambda quotes: qualitative_text(quotes[:1], "A draft.") + qualitative_text(quotes[:2]),
    "markup": _found(remark="<b>Tired</b> & \x1b[31mred\x1b[0m, <script>alert(1)</script>"),
}


def bettered(first: str, then: str) -> Script:
    """Let the judge score the first findings in one way and the later ones in another."""
    judged = first_attempts(1, always(judge_text(first)), then=always(judge_text(then)))
    return only_for(JUDGE_TASKS, judged)
