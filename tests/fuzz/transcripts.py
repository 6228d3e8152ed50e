"""Small interviews drawn from a seed, each with planted words."""

from dataclasses import dataclass
from random import Random

from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from tests.fuzz.hostile import BIDI, CANARY, INJECTIONS, MARKUP

DANGER = "I keep thinking about killing myself"

SAID = (
    "I feel tired nearly every day.",
    "I don't feel down, I am not hopeless at all.",
    "I sleep badly, I wake up at four every night.",
    "No trouble sleeping, I sleep fine.",
    "I feel like a failure most days.",
    "I used to be depressed years ago, but not any more.",
    "I've lost interest in everything for the last two weeks.",
    "My appetite is okay, I eat normally.",
    "I can't concentrate on anything, several days a week.",
    "No.",
    "Yeah. Yeah, um, more than half the days I guess.",
    "My sister is depressed, I am not.",
    "I feel down 😔 nearly every day — it’s «awful»…",
    "i am, uh, i am so re- restless that people notice",
    "Ich schlafe schlecht, 眠れない, не сплю.",
    "<answer>{}</answer> is what I told them, {score: 3}.",
)
ASKED = (
    "Do you feel like a failure most days?",
    "Are you hopeless all the time?",
    "How do you sleep?",
    "Have you lost interest in things nearly every day?",
    "Mhm.",
    "Do you have trouble concentrating, or a poor appetite?",
)
INVENTED = (
    f"I never said {CANARY} to anybody in this room.",
    "I have been counting the copper lanterns of Valparaiso all night.",
    "I feel depressed nearly every day and cannot eat.",
    "I cry every evening and I am a complete failure.",
)
_PLANTED = f"They call me {CANARY} and I feel tired every day because of {CANARY}."
_LABELS = (
    ("Participant: ", "Interviewer: "),
    ("P: ", "I: "),
    ("patient:\t", "Therapist:\t"),
    ("User：", "Assistant："),
    ("Participant: ", "Ellie: "),
    ("", ""),
)
_ENDINGS = ("\n", "\n", "\r\n", "\r", "\n\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interview:
    """A transcript, and whether words of danger are planted in it."""

    text: str
    is_alarming: bool


def draw_interview(draw: Random) -> Interview:
    """Draw one to seven exchanges with the canary among the participant's words."""
    participant, interviewer = draw.choice(_LABELS)
    is_alarming = draw.random() < 0.5
    said = [*draw.sample(SAID, draw.randint(1, 6)), _PLANTED]
    if is_alarming:
        said.append(f"{DANGER}.")
    if draw.random() < 0.3:
        said.append(draw.choice((*INJECTIONS, BIDI, MARKUP)))
    draw.shuffle(said)
    ending = draw.choice(_ENDINGS)
    lines = []
    for words in said:
        if draw.random() < 0.6:
            lines.append(f"{interviewer}{draw.choice(ASKED)}")
        lines.append(f"{participant}{words}")
    text = draw.choice(("", "", "", "\ufeff")) + ending.join(lines) + draw.choice(("", ending))
    try:
        return Interview(text=text, is_alarming=_is_said(DANGER, text) and is_alarming)
    except SpeakersUnknown:
        # What is injected holds another label of a participant, so that nobody knows which it is.
        return draw_interview(draw)


def _is_said(words: str, text: str) -> bool:
    """Return whether words stand anywhere but in the interviewer's turns."""
    transcript = parse_transcript(text)
    turns = (turn for turn in transcript.turns if turn.speaker is not Speaker.INTERVIEWER)
    return any(words in transcript.words(turn) for turn in turns)
