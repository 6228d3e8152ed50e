"""Dangers told in everyday words, and talk that only sounds like one."""

import pytest

from ai_psychiatrist.domain.risk import RiskLevel, RiskReport
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

TOLD = {
    "treatment given up in order to die": """
I've stopped going to dialysis, I want it to be over
I'm refusing the chemo, I've had enough
I've given up my insulin, don't tell my wife
I pulled the drip out, just let me go
I don't take the heart pills any more, that's how I'll go
""",
    "all of one's medicine": """
I took all my tablets last night
I swallowed the whole packet of paracetamol
I took every pill in the house
""",
    "means at home, or looked at": """
I've got a rope in the garage, in case it gets too much
I counted my pills again last night, there's enough
My dad's rifle is upstairs and I went and had a look at it, I don't know why
The tablets are lined up on the bedside table, nobody knows
I keep taking the blade out of the drawer and then I put it back
""",
    "the act imagined at a place": """
I stood on the bridge and looked down at the water
I went up to the roof on Sunday and thought about letting go
I walked to the cliff and took my shoes off
I was standing on the platform and thinking about stepping off
""",
    "goodbyes and things given away": """
I gave my brother my watch, I won't need it any more
I've given my dog to the neighbour for good
I've written letters to the kids for when I'm gone
Sorry for everything, I love you all, goodbye
""",
    "violence done or planned": """
I took a swing at my wife last night
I'm going to stab him when he comes out
I'm thinking of taking the children with me
""",
    "hurt, held or threatened at home": """
He locks the front door and takes the keys with him when he goes out
My stepdad comes into my room at night
She said she'd pour acid on me
My boyfriend smashed my phone and said next time it's my face
He says he'll kill me if I leave
""",
    "with a condition before it": """
If it gets worse I know what I'll do, I have the rope
If they send me to prison I'll make sure of it
When she leaves I'm going to kill myself
If the scan is bad I've got something put by
""",
}
ONLY_SOUNDS_LIKE_ONE = {
    "harmless talk of others": """
My sister says I talk too much
He said I should go to the doctor
My mum told me I look tired
""",
    "coercion without harm": """
My boss made me come
The school made us see the head
My wife forced me to go to the dentist
My daughter made me book this appointment
""",
    "idioms of ending and dying": """
I want to die my hair red
I can't stand this tooth any more
I'm dying for a fag
I could murder a curry
If I sit through another meeting I'll lose the will to live
It was so embarrassing I wanted to die
""",
    "falls": """
I fell down the stairs at work
I twisted my ankle jumping off the bus
I came off my bike by the canal
I fell off the ladder painting the gutter
""",
    "means and plans without the topic": """
It began on Monday
I take plenty of paracetamol for my hip
I've got all my tablets in one of those boxes with the days on
My plan is to go back to work in May
I bought a rope for the tent
""",
    "what professionals tell": """
A patient of mine told me he wished he was dead
The client reported suicidal ideation and I took it to supervision
I tell my patients to ring us if they ever think of ending it
I volunteer on a helpline, people ring who are suicidal
""",
    "practice and training": """
In the training we practise asking people whether they are thinking of killing themselves
In this module you will learn the warning signs of suicide
We learnt to ask straight out, are you thinking of suicide
This chapter contains descriptions of self-harm
""",
    "films and games": """
In the film she kills herself on the bridge
I was watching a documentary about suicide
You land on an island and you kill everyone
The detective finds the suicide note in the second episode
""",
}


def read(said: str) -> RiskReport:
    """Read a participant's words after a question about something else."""
    return detect_risk(parse_transcript(f"Interviewer: How was your week?\nParticipant: {said}"))


@pytest.mark.parametrize("kind", TOLD)
def test_a_danger_in_everyday_words_alarms(kind: str) -> None:
    lines = TOLD[kind].strip().splitlines()
    missed = [line for line in lines if read(line).level.rank < RiskLevel.MODERATE.rank]
    assert missed == []


@pytest.mark.parametrize("kind", ONLY_SOUNDS_LIKE_ONE)
def test_talk_that_only_sounds_like_a_danger_does_not_alarm(kind: str) -> None:
    lines = ONLY_SOUNDS_LIKE_ONE[kind].strip().splitlines()
    alarms = [line for line in lines if read(line).level.rank >= RiskLevel.MODERATE.rank]
    assert alarms == []


@pytest.mark.parametrize("said", ["Yes.", "Okay.", "Sure, sounds good.", "Mm-hm."])
def test_agreeing_to_advice_is_no_danger(said: str) -> None:
    for advice in (
        "If you ever have thoughts of suicide, ring the number on this card.",
        "Keep your medicines out of reach of the children.",
        "I'd like you to take two paracetamol every four hours.",
        "Call 116 123, the Samaritans, at any time.",
    ):
        report = detect_risk(parse_transcript(f"Doctor: {advice}\nPatient: {said}"))
        assert report.level.rank < RiskLevel.MODERATE.rank, advice


def test_headings_and_lists_before_an_interview_are_no_danger() -> None:
    text = (
        "Interview 12\nTopics: sleep, suicide risk, self-harm\nHelpline: Samaritans 116 123"
        "\n\nInterviewer: How have you been?\nParticipant: Fine, thanks."
    )
    assert detect_risk(parse_transcript(text)).level.rank < RiskLevel.MODERATE.rank
