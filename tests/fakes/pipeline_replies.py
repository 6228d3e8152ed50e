"""Replies to the steps of pipelines: mostly good, sometimes bad, the same to the same prompt.

How a step is answered follows from its prompt alone, so that it is the same after a kill.
"""

import json
import re
import zlib
from collections.abc import Mapping
from typing import Final

from tests.fakes.exchange import Reply, Request, Script

_STEP: Final = re.compile(r"This is the step (\S+) of a pipeline")
_SYSTEM: Final = ("system", "instructions")
_KINDS: Final = 24

HANDS: Final = {
    "action_log": ["dealt", "stand"],
    "player_cards_used": ["A", "K"],
    "dealer_cards_used": ["10", "7"],
    "player_final_total": 21,
    "dealer_final_total": 17,
    "player_busted": False,
    "dealer_busted": False,
    "result": "player_wins",
    "first_action": "stand",
    "player_initial_total": 21,
}
"""A hand that is right for every strategy."""
ANSWERS: Final[Mapping[str, Mapping[str, object]]] = {
    "generate_dialog": {
        "greeting": "Good day to you.",
        "player_response_hint": "Ask for the way.",
        "tone": "Warm",
        "dialog": "The road is long, and the night is longer still, traveller.",
    },
    "score_consistency": {
        "npc_name": "Elder",
        "mood_name": "Friendly",
        "topic_name": "Directions",
        "final_tone": "warm",
        "personality_consistency": 0.9,
        "mood_responsiveness": "0.8",
        "personality_reasoning": "Speaks as an elder does.",
        "mood_reasoning": "Answers in a friendly way.",
    },
    "play_hand": HANDS,
    "analyze_difficulty": {
        "difficulty": "easy",
        "reasoning": "A natural leaves nothing to decide.",
        "strategy_name": "The Pro",
        "result": "player_wins",
    },
    "analyze": {
        "scenario_name": "Start at Position 5",
        "final_position": "10",
        "steps_taken": 25,
        "path": [5, 6, 7, 8, 9, 10],
        "outcome": "reached_ship",
    },
    "rate_sleep": {"status": "na", "score": None, "tone": "Resigned", "quotes": []},
    "sum_up": {"summary": "Nothing is known of it."},
}
_BROKEN: Final[Mapping[str, Mapping[str, object]]] = {
    # Right by schema, and found out by what expressions verify.
    "play_hand": {"player_final_total": 20},
    "score_consistency": {"personality_consistency": 0.1},
    "sum_up": {"summary": "word " * 1_000},
}


def step_of(request: Request) -> str | None:
    """Return the step of a pipeline that is asked, `None` for other requests."""
    system = next((each.content for each in request.messages if each.role == "system"), "")
    # Hosted models are given it apart from the messages.
    found = _STEP.search(system or json.dumps([request.body.get(name) for name in _SYSTEM]))
    return None if found is None else found[1]


def pipeline_replies(otherwise: Script) -> Script:
    """Answer the steps of pipelines, and all else by another script."""

    def reply(request: Request) -> Reply:
        step = step_of(request)
        return otherwise(request) if step is None else step_reply(step, request)

    return reply


def step_reply(step: str, request: Request) -> Reply:
    """Answer one step, well or badly as its prompt decides."""
    task = next(each.content for each in request.messages if each.role == "user")
    is_first = all(each.role != "assistant" for each in request.messages)
    good = json.dumps(ANSWERS[step])
    always = {
        0: Reply(text="I would rather not say."),
        1: Reply(text='{"nothing": "of use"}'),
        2: Reply(status=500, raw_body=b"{}"),
        3: Reply(text=json.dumps({**ANSWERS[step], **_BROKEN.get(step, {})})),
        4: Reply(text=f"Here it is:\n```json\n{good}\n```\nAnything else?"),
    }
    at_first = {
        5: Reply(text=good[:-9]),
        6: Reply(text=good, finish_reason="length"),
        7: Reply(text=""),
    }
    bad = always | at_first if is_first else always
    return bad.get(zlib.crc32(f"{step}|{task}".encode()) % _KINDS, Reply(text=good))
