"""Synthetic interviews of a wanted size, the same for the same seed."""

import random

QUESTIONS = (
    "How have you been sleeping these days?",
    "What do you enjoy doing in your free time?",
    "How has your appetite been?",
    "Can you tell me about your energy during the day?",
    "How do you feel about yourself lately?",
    "Is it hard to keep your mind on things?",
    "How have you been feeling in the last two weeks?",
    "Have others noticed you being slow or restless?",
    "Who do you talk to when things get difficult?",
    "What did you do last weekend?",
)
OPENINGS = (
    "Um, well, to be honest,",
    "I guess",
    "It is hard to say, but",
    "Most days",
    "Since the summer",
    "You know,",
)
STATEMENTS = (
    "I wake up at four and cannot get back to sleep.",
    "I feel tired nearly every day and have to sit down a lot.",
    "I stopped going to the choir because nothing about it is fun anymore.",
    "I feel down and hopeless more than half the days.",
    "I eat very little, maybe one meal when my sister insists.",
    "I keep thinking that I have let my family down.",
    "I read the same page several times and nothing stays.",
    "I move so slowly that my neighbour asked whether I was ill.",
    "the stairs creak at night, and my cat sits on them.",
    "my brother calls on Sundays, and that helps a bit.",
    "work has been the same as always, I fix bicycles in a small shop.",
    "we went to the market and bought tomatoes, that was alright.",
    "my knee hurts when it rains, so I take the bus.",
    "the flat is small, but I like the window to the yard.",
)
SENTENCES_PER_ANSWER = 4


def synthetic_interview(size_chars: int = 10_000, *, seed: int = 0) -> str:
    """Write an interview of at most `size_chars`, short of it by less than two turns."""
    choose = random.Random(seed)  # noqa: S311 - repeatable text, no secret
    turns: list[str] = []
    written_chars = 0
    while True:
        exchange = _question_and_answer(choose)
        written_chars += len(exchange)
        if written_chars > size_chars:
            return "".join(turns)
        turns.append(exchange)


def numbered_interview(interview: str, number: int) -> str:
    """Make a distinct interview from another, so that nothing is answered from a cache."""
    return f"{interview}Participant: This was my conversation number {number} with you.\n"


def _question_and_answer(choose: random.Random) -> str:
    sentences = " ".join(
        f"{choose.choice(OPENINGS)} {statement}"
        for statement in choose.sample(STATEMENTS, choose.randint(1, SENTENCES_PER_ANSWER))
    )
    return f"Interviewer: {choose.choice(QUESTIONS)}\nParticipant: {sentences}\n"
