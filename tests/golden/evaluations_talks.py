"""Made-up interviews of known labels, and datasets of them in the forms that are read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ITEMS: Final = (
    *("NoInterest", "Depressed", "Sleep", "Tired"),
    *("Appetite", "Failure", "Concentrating", "Moving"),
)
HEADER: Final = ",".join(f"PHQ8_{item}" for item in ITEMS)
AVEC: Final = f"Participant_ID,PHQ8_Binary,PHQ8_Score,Gender,{HEADER}"
ZEROS: Final = "0,0,1,0,0,0,0,0,0,0,0"
TIRED: Final = (
    "Interviewer: How have you been?\n"
    "Participant: I have been tired nearly every day, and I hardly sleep at all.\n"
)
PLAIN: Final = (("Ellie", "hello"), ("Participant", "i hardly sleep, nearly every night"))

_ASKED: Final = (
    "Do you still enjoy the things you like?",
    "How has your mood been?",
    "How do you sleep?",
    "And your energy?",
    "What about your appetite?",
    "How do you feel about yourself?",
    "Can you concentrate?",
    "Have you been slowed down or restless?",
)
_SAID: Final = (
    (
        "I still enjoy my hobbies a lot.",
        "I had little interest in things on several days.",
        "More than half the days I have no interest in anything.",
        "I have lost interest in everything, nearly every day.",
    ),
    (
        "I am not depressed at all, my mood is good.",
        "I feel down on some days.",
        "I feel hopeless more than half the days.",
        "I feel depressed nearly every day.",
    ),
    (
        "I sleep well, no trouble sleeping.",
        "I sleep badly some nights.",
        "I cannot fall asleep on most nights.",
        "I lie awake until four nearly every night.",
    ),
    (
        "I have plenty of energy.",
        "I am tired on several days.",
        "I am tired most days.",
        "I am exhausted every day.",
    ),
    (
        "I eat well, my appetite is good.",
        "I had no appetite for a few days.",
        "I have a poor appetite most days.",
        "I have been overeating nearly every day.",
    ),
    (
        "I do not feel like a failure.",
        "I feel bad about myself some days.",
        "Most days I feel that I let my family down.",
        "I feel like a failure every day.",
    ),
    (
        "I have no trouble concentrating.",
        "I cannot concentrate on some days.",
        "I have trouble concentrating more than half the days.",
        "I cannot focus on anything, nearly every day.",
    ),
    (
        "I am not restless and not slowed down.",
        "I was restless on several days.",
        "I am so restless most days that I pace around.",
        "I move and speak so slowly every day that people notice.",
    ),
)
_MORE: Final[Mapping[int, str]] = {
    3: "Interviewer: What else?\nParticipant: I want to kill myself.\n",
    5: "Interviewer: Any thoughts of suicide?\nParticipant: No, never.\n",
    7: "Interviewer: Más?\nParticipant: Duermo muy mal, no puedo dormir todas las noches.\n",
    9: "Sister: She cries every day.\nSister: She never eats.\n",
    11: "Interviewer: And before?\nParticipant: Ten years ago I took an overdose.\n",
}
_UNSAID: Final = 4
"""What stands for an item that nobody talks about."""


def said_scores(number: int) -> list[int]:
    """Return what a person says of each item, 4 for nothing."""
    mixed = [(number * 37 + at * 101 + number * at * 13) // 7 % 5 for at in range(len(ITEMS))]
    return [one % _UNSAID for one in mixed] if number % 4 == 0 else mixed


def true_scores(number: int) -> list[int]:
    """Return the labels of a person: mostly what was said."""
    return [
        (number + at) % 4 if one == _UNSAID else min(3, one + ((number * 7 + at * 3) % 11 == 0))
        for at, one in enumerate(said_scores(number))
    ]


def second_scores(number: int) -> list[int]:
    """Return the labels of a second rater."""
    return [abs(one - ((number + at) % 9 == 0)) for at, one in enumerate(true_scores(number))]


def talk(number: int) -> str:
    """Return the interview of a person."""
    lines = [
        f"Interviewer: {_ASKED[at]}\nParticipant: {_SAID[at][one]}\n"
        for at, one in enumerate(said_scores(number))
        if one != _UNSAID
    ]
    greeting = f"Interviewer: Hello.\nParticipant: Hello, I am number {number}.\n"
    return greeting + "".join(lines) + _MORE.get(number, "")


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def labelled_texts(folder: Path, numbers: Sequence[int]) -> Path:
    """Write a folder of texts whose labels, of two raters, are in a file for each of two splits."""
    second = ",".join(f"{name}_rater2" for name in HEADER.split(","))
    header = f"unit_id,{HEADER},PHQ8_Score,{second}"
    rows = {number: _row(number) for number in numbers}
    return write(
        folder,
        {f"p{number:02}.txt": talk(number) for number in numbers}
        | {
            f"{split}_split.csv": "\n".join(
                [header, *(row for number, row in rows.items() if number % 3 in rest), ""]
            )
            for split, rest in (("train", {0, 1}), ("test", {2}))
        },
    )


def _row(number: int) -> str:
    scores = true_scores(number)
    cells = [f"p{number:02}", *scores, sum(scores), *second_scores(number)]
    return ",".join(map(str, cells))


def three_texts(folder: Path) -> Path:
    """Write three short interviews without labels."""
    return write(folder, {f"{name}.txt": f"{TIRED}Participant: I am {name}.\n" for name in "abc"})


def jsonl(path: Path, records: Sequence[object]) -> Path:
    """Write records, and lines that are given as text, into a file."""
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def labelled_records(numbers: Sequence[int], **more: object) -> Iterator[dict[str, object]]:
    """Yield a line for each person: the four forms of a talk in turn, with labels."""
    for number in numbers:
        turns = [line.split(": ", 1) for line in talk(number).splitlines()]
        said = [{"speaker": who, "text": words} for who, words in turns]
        roles = [{"role": who, "text": words} for who, words in turns]
        messages = [{"role": who, "content": words} for who, words in turns]
        forms: Sequence[dict[str, object]] = (
            {"text": talk(number)},
            {"turns": said},
            {"conversations": [roles]},
            {"messages": messages},
        )
        names = ("id", "unit_id", "sample_id", "id")
        record = {names[number % 4]: f"u{number:02}"} | forms[number % 4]
        yield record | {"participant_id": 500 + number // 2, "items": true_scores(number)} | more


def daic(*rows: tuple[str, str], start: float = 1.0) -> str:
    """Return a DAIC-WOZ transcript with a row a second."""
    lines = [
        f"{start + at}\t{start + at + 0.5}\t{speaker}\t{words}"
        for at, (speaker, words) in enumerate(rows)
    ]
    return "\n".join(["start_time\tstop_time\tspeaker\tvalue", *lines, ""])


def session(number: int, content: str | bytes | None = None) -> dict[str, str | bytes]:
    """Return the file of one DAIC-WOZ session."""
    return {f"{number}_P/{number}_TRANSCRIPT.csv": daic(*PLAIN) if content is None else content}
