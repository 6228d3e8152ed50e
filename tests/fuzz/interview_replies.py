"""Draw what a model does when an interview agent asks it: from good tool calls to none at all."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, Literal, TypeAlias

from tests.fakes.interview_replies import NOT_SURE, TOOLS, Arguments, Brief, good_reply
from tests.fuzz.hostile import CANARY, INJECTIONS, REMARKS, unicode_text
from tests.fuzz.mutations import cut, mutated_bytes, nested, with_json_changed

Form: TypeAlias = Literal[
    "as_asked",
    "prose",
    "text_in_place_of_call",
    "other_tool",
    "called_twice",
    "called_beside_another",
    "arguments_as_text",
    "text_and_call",
    "thought_and_call",
    "thought_alone",
    "null_text",
    "nothing",
    "error",
]
Finish: TypeAlias = Literal["stop", "length", "content_filter", "error", "tool_call"]

_NUMBERS: Final[tuple[Any, ...]] = (
    150,
    -5,
    "50",
    50.7,
    True,
    None,
    101,
    100.0,
    0,
    11,
    10**30,
    "n/a",
    "50%",
    [50],
    float("nan"),
    float("inf"),
)
_IDS: Final = (
    "g0",
    "g99",
    "G1",
    " g1",
    "",
    "wrap_up",
    "1",
    "q1",
    CANARY,
    "Find out what became of",
)
_LARGE_CHARACTERS: Final = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCall:
    """What a model does with one call."""

    kind: str = ""
    text: str
    """The arguments as JSON, or what stands in their place."""
    form: Form = "as_asked"
    finish: Finish = "stop"
    tokens: int = 10


Kind: TypeAlias = Callable[[Random, str, Brief], "DrawnCall | Arguments | str"]


def draw_call(draw: Random, tool: str, brief: Brief, *, hostility: float) -> DrawnCall:
    """Draw a reply; `hostility`, 0-1, is the share of replies that break the contract."""
    kinds = WELL_FORMED if draw.random() >= hostility else BROKEN
    kind = draw.choice(tuple(kinds))
    made = kinds[kind](draw, tool, brief)
    if isinstance(made, dict):
        made = json.dumps(made)
    drawn = DrawnCall(text=made) if isinstance(made, str) else made
    return replace(drawn, kind=kind)


def _good(draw: Random, tool: str, brief: Brief) -> Arguments:
    return good_reply(tool, draw, brief)


def _off_topic(draw: Random, tool: str, brief: Brief) -> Arguments:
    return good_reply(tool, draw, replace(brief, is_addressed=False))


def _nothing_gained(draw: Random, tool: str, brief: Brief) -> Arguments:
    return good_reply(tool, draw, replace(brief, open_goals={}))


def _much_gained(draw: Random, tool: str, brief: Brief) -> Arguments:
    return good_reply(tool, draw, replace(brief, most_gain=95))


def _asking_again(draw: Random, tool: str, brief: Brief) -> Arguments:
    made = good_reply(tool, draw, brief)
    return made | {"question": "What happened then?"} if "question" in made else made


def _remarking(draw: Random, tool: str, brief: Brief) -> Arguments:
    """Fill the free texts with what no terminal, template or log should meet."""
    remark = draw.choice((*REMARKS, unicode_text(draw, 60)))
    changed = _with_texts(good_reply(tool, draw, brief), lambda old: f"{old} {remark}")
    assert isinstance(changed, dict)
    return changed


def _with_texts(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    match value:
        case dict():
            return {key: _with_texts(inner, change, key) for key, inner in value.items()}
        case list():
            return [_with_texts(inner, change, name) for inner in value]
        case str() if value and name not in {"goal_id", "target_goal_id", "status", "confidence"}:
            return change(value)
        case _:
            return value


WELL_FORMED: Final[dict[str, Kind]] = {
    "good": _good,
    "good again": _good,
    "off topic": _off_topic,
    "nothing gained": _nothing_gained,
    "much gained": _much_gained,
    "asking again": _asking_again,
    "remarks hostile": _remarking,
}


def _plain(brief: Brief) -> Brief:
    """Leave out what nobody may see: damage could move it to where it may be seen."""
    return replace(brief, rationale="Because.")


def _json_changed(draw: Random, tool: str, brief: Brief) -> str:
    return with_json_changed(draw, json.dumps(_good(draw, tool, _plain(brief))))


def _bytes_mutated(draw: Random, tool: str, brief: Brief) -> str:
    return mutated_bytes(draw, json.dumps(_good(draw, tool, _plain(brief))))


def _truncated(draw: Random, tool: str, brief: Brief) -> DrawnCall:
    finish: Finish = draw.choice(("length", "stop"))
    return DrawnCall(text=cut(draw, json.dumps(_good(draw, tool, _plain(brief)))), finish=finish)


def _numbers_wrong(draw: Random, tool: str, brief: Brief) -> Arguments:
    """Put a wrong value in the place of every number, and numbers in that of words."""

    def changed(value: Any, name: str = "") -> Any:
        match value:
            case dict():
                return {key: changed(inner, key) for key, inner in value.items()}
            case list():
                return [changed(inner, name) for inner in value]
            case bool():
                return draw.choice((value, "true", 1, None))
            case int():
                return draw.choice(_NUMBERS)
            case _:
                return draw.choice((value, value, value, 7, ["x"], {"text": value}, None))

    wrong = changed(_much_gained(draw, tool, _plain(brief)))
    assert isinstance(wrong, dict)
    return wrong


def _counts_wrong(draw: Random, tool: str, brief: Brief) -> Arguments:
    """Make each list too short, too long, or hold the same again and again."""

    def changed(value: Any) -> Any:
        match value:
            case dict():
                return {key: changed(inner) for key, inner in value.items()}
            case list() if value:
                return draw.choice((value[1:], [*value, value[0]], value[:1] * 4, value * 60, []))
            case _:
                return value

    wrong = changed(_good(draw, tool, brief))
    assert isinstance(wrong, dict)
    return wrong


def _ids_wrong(draw: Random, tool: str, brief: Brief) -> Arguments:
    ids = (*_IDS, *brief.open_goals)

    def changed(value: Any) -> Any:
        match value:
            case dict():
                return {
                    key: draw.choice(ids) if key.endswith("goal_id") else changed(inner)
                    for key, inner in value.items()
                }
            case list():
                return [changed(inner) for inner in value]
            case _:
                return value

    wrong = changed(_good(draw, tool, brief))
    assert isinstance(wrong, dict)
    return wrong


def _words_empty(draw: Random, tool: str, brief: Brief) -> Arguments:
    blank = draw.choice(("", " \n\t", "\u200b", "…", "?!", "\x00"))
    wrong = _with_texts(_good(draw, tool, brief), lambda old: draw.choice((old, blank)))
    assert isinstance(wrong, dict)
    return wrong


def _rules_broken(draw: Random, tool: str, brief: Brief) -> str:
    """Break what no schema says: early completion, no way back, no unsure answer, odd shares."""
    text = json.dumps(_off_topic(draw, tool, brief))
    for old, new in (
        ('"in_progress"', '"complete"'),
        ("Let us come back to what I asked.", ""),
        (NOT_SURE, "I am very sure of it."),
        ('"percentage": ', '"percentage": 1'),
    ):
        text = text.replace(old, new)
    return text


def _keys_doubled(draw: Random, tool: str, brief: Brief) -> str:
    text = json.dumps(_good(draw, tool, brief))
    key = draw.choice([part for part in text.split('"') if part.isidentifier()])
    return f'{{"{key}": {json.dumps(draw.choice(_NUMBERS))}, {text[1:]}'


def _surrogates(draw: Random, tool: str, brief: Brief) -> str:
    broken = draw.choice(("\ud800", "\udfff tail", unicode_text(draw, 9, surrogates=True)))
    wrong = _with_texts(_good(draw, tool, _plain(brief)), lambda old: f"{old}{broken}")
    return json.dumps(wrong, ensure_ascii=draw.random() < 0.5)


def _huge(draw: Random, tool: str, brief: Brief) -> str:
    unit = draw.choice(("a", " ", "é ", '"', "\\", CANARY, "[", "{"))
    tail = unit * draw.choice((300, 9_000, _LARGE_CHARACTERS // len(unit)))
    return json.dumps(_with_texts(_good(draw, tool, brief), lambda old: old + tail))


def _deep(draw: Random, tool: str, brief: Brief) -> str:
    brackets = nested(draw.choice((33, 200, 5_000)))
    text = json.dumps(_good(draw, tool, brief))
    return draw.choice((brackets, text.replace('": "', f'": {brackets}, "x": "', 1)))


def _blank(draw: Random, _tool: str, _brief: Brief) -> str:
    return draw.choice(("", " ", "{}", "[]", "null", '""', "\x00", "{", "N/A", '{"answer": {}}'))


def _of_another_agent(draw: Random, tool: str, brief: Brief) -> Arguments:
    other = draw.choice([name for name in TOOLS if name != tool])
    return good_reply(other, draw, _plain(brief))


def _random_text(draw: Random, _tool: str, _brief: Brief) -> str:
    return unicode_text(draw, draw.choice((1, 40, 2_000)))


def _prose(draw: Random, _tool: str, _brief: Brief) -> DrawnCall:
    said = (*INJECTIONS, f"I would rather talk about something else, {CANARY}.", CANARY)
    return DrawnCall(text=draw.choice(said), form="prose")


def _formed(*forms: Form) -> Kind:
    return lambda draw, tool, brief: DrawnCall(
        text=json.dumps(_good(draw, tool, _plain(brief))), form=draw.choice(forms)
    )


def _stopped(draw: Random, tool: str, brief: Brief) -> DrawnCall:
    finish: Finish = draw.choice(("length", "content_filter", "error", "tool_call"))
    text = json.dumps(_good(draw, tool, _plain(brief)))
    return DrawnCall(text=draw.choice((text, "")), finish=finish)


def _odd_usage(draw: Random, tool: str, brief: Brief) -> DrawnCall:
    text = json.dumps(_good(draw, tool, brief))
    return DrawnCall(text=text, tokens=draw.choice((0, -5, 2**63, 10**40)))


BROKEN: Final[dict[str, Kind]] = {
    "json changed": _json_changed,
    "bytes mutated": _bytes_mutated,
    "truncated": _truncated,
    "numbers wrong": _numbers_wrong,
    "counts wrong": _counts_wrong,
    "ids wrong": _ids_wrong,
    "words empty": _words_empty,
    "rules broken": _rules_broken,
    "keys doubled": _keys_doubled,
    "surrogates": _surrogates,
    "huge": _huge,
    "nested": _deep,
    "blank": _blank,
    "of another agent": _of_another_agent,
    "random text": _random_text,
    "prose": _prose,
    "text in place of call": _formed("text_in_place_of_call"),
    "other tool": _formed("other_tool"),
    "called twice": _formed("called_twice", "called_beside_another"),
    "arguments as text": _formed("arguments_as_text", "text_and_call", "thought_and_call"),
    "thought alone": _formed("thought_alone", "null_text", "nothing"),
    "stopped": _stopped,
    "odd usage": _odd_usage,
    "error": _formed("error"),
}
