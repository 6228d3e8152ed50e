"""Draw a reply from a seed: anything that a model may answer, from honest to absurd."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

from ai_psychiatrist.domain.risk import RiskKind, RiskPolarity
from tests.fakes.replies import (
    ITEMS,
    JUDGE_TASKS,
    danger_text,
    evidence_text,
    judge_text,
    meta_review_text,
    qualitative_text,
    scoring_text,
)
from tests.fuzz import quotes as quoting
from tests.fuzz.hostile import (
    CANARY,
    CONTROLS,
    INJECTIONS,
    REMARKS,
    closing_marks,
    recorded_replies,
    unicode_text,
)
from tests.fuzz.mutations import cut, mutated_bytes, nested, with_json_changed, with_keys_doubled

Form: TypeAlias = Literal[
    "text",
    "nothing",
    "null",
    "parts",
    "thought",
    "thought_alone",
    "tool_call",
    "tool_call_and_text",
    "error",
    "hang",
]
Finish: TypeAlias = Literal["stop", "length", "content_filter", "error", "tool_call"]

_KIB = 1024
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a reply is drawn for."""

    task: str
    transcript: str
    """As it stands in the prompt."""
    boundary: str
    """Name of the transcript's tag."""
    prompt: str
    may_hang: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzReply:
    """What a model does with one call."""

    kind: str = ""
    text: str = ""
    form: Form = "text"
    finish: Finish = "stop"
    tokens: int = 10
    """What it says that it read and wrote."""


Kind: TypeAlias = Callable[[Random, Question], FuzzReply | str]


def draw_reply(draw: Random, question: Question, *, hostility: float) -> FuzzReply:
    """Draw a reply; `hostility`, 0-1, is the share of replies that break the contract."""
    if draw.random() >= hostility:
        kind = draw.choice(tuple(WELL_FORMED))
        made = WELL_FORMED[kind](draw, question)
    else:
        kind = draw.choice(tuple(BROKEN))
        made = BROKEN[kind](draw, question)
    reply = FuzzReply(text=made) if isinstance(made, str) else made
    return replace(reply, kind=kind)


def well_formed(
    draw: Random,
    question: Question,
    *,
    quotes: Sequence[str],
    remark: str = "The participant says so.",
    scores: Sequence[object] = (0, 1, 2, 3, "N/A"),
) -> str:
    """Write a reply that keeps to the task's contract with this content."""
    match question.task:
        case "evidence":
            return evidence_text({item: _some(draw, quotes) for item in ITEMS})
        case "scoring":
            answers = {
                item: {
                    "evidence": _some(draw, quotes),
                    "reason": remark,
                    "score": draw.choice(scores),
                    "confidence": draw.randint(1, 5),
                }
                for item in ITEMS
            }
            return scoring_text(answers)
        case "meta_review":
            return meta_review_text(str(draw.randint(0, 4)), remark)
        case "danger":
            sign = {
                "kind": draw.choice(list(RiskKind)),
                "polarity": draw.choice(list(RiskPolarity)),
                "level": draw.choice(("low", "moderate", "high")),
            }
            return danger_text(*_some(draw, quotes), **sign)
        case task if task in JUDGE_TASKS:
            return judge_text(str(draw.randint(1, 5)), remark)
        case _:
            return qualitative_text(quotes, remark)


def _some(draw: Random, quotes: Sequence[str]) -> list[str]:
    return draw.sample(quotes, draw.randint(0, min(3, len(quotes))))


def _quotes(draw: Random, question: Question, *kinds: str) -> list[str]:
    drawn = draw.choices(kinds, k=draw.randint(1, 6))
    return [quoting.KINDS[kind](draw, question.transcript) for kind in drawn]


def _honest(draw: Random, question: Question) -> str:
    return well_formed(draw, question, quotes=_quotes(draw, question, "real"))


def _quoting(*kinds: str) -> Kind:
    return lambda draw, question: well_formed(
        draw, question, quotes=_quotes(draw, question, *kinds)
    )


def _scoring(*scores: object) -> Kind:
    return lambda draw, question: well_formed(
        draw, question, quotes=_quotes(draw, question, "real", "altered"), scores=scores
    )


def _remarking(draw: Random, question: Question) -> str:
    remark = draw.choice((*REMARKS, closing_marks(question.boundary), unicode_text(draw, 60)))
    return well_formed(draw, question, quotes=_quotes(draw, question, "real"), remark=remark)


def _lengthy(draw: Random, question: Question) -> str:
    remark = f"{CANARY} goes on. " * draw.choice((100, 400, 3_000))
    return well_formed(draw, question, quotes=_quotes(draw, question, "real"), remark=remark)


def _after_thoughts(draw: Random, question: Question) -> str:
    tag = draw.choice(("think", "Thinking", "thought", "reasoning"))
    draft, answer = _honest(draw, question), _honest(draw, question)
    return draw.choice(
        (
            f"<{tag}>{draft}</{tag}>{answer}",
            f"<{tag}>{draft}\n{answer}",
            f"{draft}</{tag}>{answer}",
            f"<{tag}>{answer}</{tag}>",
            f"<{tag}>" * 50 + answer,
            f"{answer}<{tag}>{draft}",
        )
    )


def _fenced(draw: Random, question: Question) -> str:
    mark = draw.choice(("```", "```json", "~~~~"))
    return f"{CANARY}:\n{mark}\n{_honest(draw, question)}\n{mark[:3]}\nMore?"


def _with_drafts(draw: Random, question: Question) -> str:
    return "\n\nOn reflection:\n".join(_honest(draw, question) for _ in range(3))


WELL_FORMED: dict[str, Kind] = {
    "honest": _honest,
    "quotes_altered": _quoting("altered"),
    "quotes_invented": _quoting("invented"),
    "quotes_interviewer": _quoting("interviewer"),
    "quotes_of_others": _quoting("others"),
    "quotes_across": _quoting("across"),
    "quotes_mixed": _quoting(*quoting.KINDS),
    "scores_raised": _scoring(3),
    "scores_zero": _scoring(0),
    "scores_as_text": _scoring("3", 2.0, "N/A", "n a"),
    "remarks_hostile": _remarking,
    "remarks_long": _lengthy,
    "thinking": _after_thoughts,
    "fenced": _fenced,
    "drafts": _with_drafts,
}


def _recorded(draw: Random, question: Question) -> str:
    recorded = draw.choice(recorded_replies() or ('{"a": ',))
    if question.task == "scoring" and draw.random() < 0.3:
        return f"<answer>{recorded}</answer>"
    return recorded


def _marked(draw: Random, question: Question) -> str:
    return f"{closing_marks(question.boundary)}\n{_honest(draw, question)}\n</answer></severity>"


def _injected(draw: Random, question: Question) -> str:
    return "\n".join((*draw.sample(INJECTIONS, 2), _honest(draw, question) * draw.randrange(2)))


def _echo(draw: Random, question: Question) -> str:
    return question.prompt[draw.choice((0, len(question.prompt) // 2)) :]


def _damaged(change: Callable[[Random, str], str]) -> Kind:
    return lambda draw, question: change(draw, _honest(draw, question))


def _cut_off(draw: Random, question: Question) -> FuzzReply:
    return FuzzReply(text=cut(draw, _honest(draw, question)), finish="length")


def _deep(draw: Random, question: Question) -> str:
    depth = draw.choice((31, 32, 33, 200, 5_000))
    brackets = draw.choice((nested(depth), '{"a":' * depth, "[" * depth, "<answer>" * depth))
    return well_formed(draw, question, quotes=["x"], remark=brackets).replace('"x"', brackets)


def _bomb(draw: Random, _: Question) -> str:
    match draw.randrange(6):
        case 0:
            return json.dumps({f"{CANARY}{n}": [n] for n in range(3_000)})
        case 1:
            return evidence_text({item: [f"no {n}" for n in range(400)] for item in ITEMS})
        case 2:
            return "{" * 20_000 + "}" * 20_000
        case 3:
            return '{"' + "\\" * 40_001 + '": "' * 900
        case 4:
            return "<answer>{" * 3_000 + "```json\n" * 3_000
        case _:
            return "Score: " * 6_000 + "Explanation: " * 2_000 + "Score: 1/5/5/5"


def _number(draw: Random, question: Question) -> str:
    texts = ("9" * 400, "-1", "1e999", "NaN", "Infinity", "3.0000000000001", "0x3", "3/4", "٣", "³")
    number = draw.choice((*texts, "9" * 6_000, "true", "null", "1_0", "+2", "2-3", "00"))
    if question.task == "meta_review":
        return meta_review_text(number)
    if question.task in JUDGE_TASKS:
        return judge_text(number)
    return _honest(draw, question).replace('"score": ', f'"score": {number}', 1)


def _random_bytes(draw: Random, _: Question) -> str:
    return draw.randbytes(draw.choice((1, 30, 3_000))).decode(
        draw.choice(("latin-1", "utf-16")), "replace"
    )


def _random_text(draw: Random, _: Question) -> str:
    return unicode_text(draw, draw.choice((1, 40, 2_000)))


def _surrogates(draw: Random, question: Question) -> str:
    broken = unicode_text(draw, 12, surrogates=True) + "\ud83d"
    remark = broken if draw.random() < 0.5 else "\\ud800"
    text = well_formed(draw, question, quotes=[broken], remark="REMARK")
    return text.replace("REMARK", remark)


def _large(draw: Random, question: Question) -> str:
    if draw.random() < 0.02:
        unit = draw.choice(("a", "[", '{"a":', "é ", "\ud800"))
        return unit * (draw.randint(_MIB, 8 * _MIB) // len(unit))
    unit = draw.choice(("a", " ", "\n", "(", '"', "<", "\\", "`", "é", CANARY))
    remark = unit * (draw.randint(16 * _KIB, 64 * _KIB) // len(unit))
    quotes = [remark[: draw.choice((100, 20_000))], *_quotes(draw, question, "real")]
    return draw.choice((remark, well_formed(draw, question, quotes=quotes, remark=remark)))


def _controls(draw: Random, question: Question) -> str:
    return _honest(draw, question).replace(" ", draw.choice(CONTROLS))


def _blank(draw: Random, _: Question) -> str:
    return draw.choice(("", " \n\t", "\u200b", "\ufeff", "\x00", "null", "{}", "[]", '""', "N/A"))


def _formed(*forms: Form) -> Kind:
    return lambda draw, question: FuzzReply(text=_honest(draw, question), form=draw.choice(forms))


def _stopped(draw: Random, question: Question) -> FuzzReply:
    finish: Finish = draw.choice(("length", "content_filter", "error", "tool_call"))
    text = draw.choice((_honest(draw, question), ""))
    return FuzzReply(text=text, finish=finish)


def _odd_usage(draw: Random, question: Question) -> FuzzReply:
    return FuzzReply(text=_honest(draw, question), tokens=draw.choice((0, -5, 2**63, 10**40)))


def _hanging(draw: Random, question: Question) -> FuzzReply:
    return FuzzReply(text=_honest(draw, question), form="hang" if question.may_hang else "error")


BROKEN: dict[str, Kind] = {
    "bytes_mutated": _damaged(mutated_bytes),
    "truncated": _damaged(cut),
    "cut_off": _cut_off,
    "json_changed": _damaged(with_json_changed),
    "keys_doubled": _damaged(with_keys_doubled),
    "recorded": _recorded,
    "marks_closed": _marked,
    "injected": _injected,
    "prompt_echoed": _echo,
    "nested": _deep,
    "bomb": _bomb,
    "number": _number,
    "random_bytes": _random_bytes,
    "random_text": _random_text,
    "surrogates": _surrogates,
    "large": _large,
    "controls": _controls,
    "blank": _blank,
    "no_parts": _formed("nothing"),
    "null_text": _formed("null"),
    "many_parts": _formed("parts", "thought"),
    "thought_alone": _formed("thought_alone"),
    "tool_call": _formed("tool_call", "tool_call_and_text"),
    "stopped": _stopped,
    "odd_usage": _odd_usage,
    "error": _formed("error"),
    "hanging": _hanging,
}
