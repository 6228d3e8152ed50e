"""Dangers in a participant's words: what is found, how it is read, and what is not one.

In the tables a statement may follow the interviewer's question and a bar.
"""

import pytest

from ai_psychiatrist.domain.risk import RiskCategory, RiskLevel, RiskPolarity, RiskReport
from ai_psychiatrist.domain.transcript import Transcript, parse_transcript
from ai_psychiatrist.services.risk.detector import detect_risk

HIGH_SUICIDE = """
I want to die
i just wanna die
i want to um kill myself
I've been thinking about ending my life
lately I keep thinking about suicide
I am going to hang myself tonight
I've been saving up my pills for weeks
three weeks ago I took an overdose
I wrote a suicide note on Sunday
I keep looking up ways to kill myself
I've had suicidal thoughts every single day
sometimes I think about jumping off the bridge
I nearly drove into a tree on the way here
I'd rather be dead
I don't know, I just want to die
not a day goes by that I don't think about suicide
I haven't got the guts to kill myself
the only reason I haven't killed myself is my dog
I can't stop thinking about killing myself
I never told anyone but I want to kill myself
dont wanna be alive
If I am honest I want to end it all
I bought a rope last week
I have given away all my things
my kids don't know that I tried to kill myself last month
Have you had thoughts of suicide? | yeah, sometimes
Have you had thoughts of suicide? | I don't know, maybe
Do you ever think of ending your life? | most nights
Are you thinking of killing yourself? | it crosses my mind
Do you think about suicide? | I have, yes, this week
Have you thought about killing yourself? | not every day
Any thoughts of suicide? | I'd rather not say
"""
MODERATE_SUICIDE = """
I don't want to be here anymore
I'd rather not wake up
they'd all be better off without me
everyone would be happier if I was gone
what's the point of being here
there is no reason to live
I have nothing to live for
i cant go on
I can't do this anymore
I don't know, I just want it all to end
I wish I had never been born
I hope I don't wake up tomorrow
I'm tired of living
life isn't worth living
I'm a burden to everyone
nobody would miss me
I just want to disappear
I would not mind if a bus hit me
I don't care whether I live or die
I wouldn't care if I didn't wake up
Do you ever wish you would not wake up? | I suppose so
"""
SELF_HARM = """
I cut myself when it gets too much
I've started cutting again
I have been hurting myself
I burn my arms with cigarettes
I bang my head against the wall until it stops
last night I cut my thighs
I can't stop self-harming
Have you hurt yourself lately? | yes, on Tuesday
Do you ever cut yourself? | only when I'm drunk
"""
HARM_TO_OTHERS = """
I want to kill my boss
I'm going to stab him
I keep thinking about hurting my wife
I've been having homicidal thoughts
I punched her last night
I'm scared I will hurt my kids
Do you think about hurting other people? | yeah, my neighbour
"""
ABUSE = """
my husband hits me
he choked me last week
my boyfriend forces me to have sex
she keeps throwing things at me
I'm scared of my husband
I don't feel safe at home
he said he'll kill me if I leave
my dad beats me
Do you feel safe at home? | no
Do you feel safe at home? | not really
Has anyone hurt you? | my partner does, when he drinks
"""
DENIED = """
I don't want to die
I would never kill myself
I'm not suicidal
I have no thoughts of suicide
I don't think I'd ever hurt myself
I've never thought about killing myself
suicide is not an option
I would never hurt anyone
he has never hit me
Have you had thoughts of suicide? | no, never
Have you had thoughts of suicide? | I'd never do that
Do you think of hurting yourself? | um, no
Do you feel safe at home? | yes, very
Have you had thoughts of suicide? | God no
Any thoughts of harming yourself? | I don't, no
"""
PAST = """
I used to cut myself when I was at school
I tried to kill myself ten years ago
back in college I thought about suicide a lot
I tried to kill myself, that was years ago
I don't cut myself anymore
I haven't hurt myself in three years
my dad used to beat me
I stopped cutting when my son was born
Have you ever hurt yourself? | not anymore
Have you thought of suicide? | when I was a teenager, yes
"""
HYPOTHETICAL = """
if it got worse I might kill myself
if she left me I'd end my life
If I lost the house I would hurt myself
"""
QUOTED = """
you're asking whether I want to kill myself
my brother killed himself
my uncle committed suicide
my sister cuts herself
are you asking if I'm suicidal?
the form asked if I wanted to die
my friend wanted to die
she said "I want to kill myself"
he used to say I want to die
"""
HARMLESS = """
this job is killing me
my knees are killing me
I'd die for a coffee
my phone died
the car died on the motorway
I'm dead tired
we played cards to kill time
shoot me an email
I'm cutting down on sugar
I cut my hours at work
I could murder a curry
I hit the gym on Mondays
we ended it in March, the contract
I broke up with him, I ended the relationship
I take pain killers for my back
I'm afraid of dying of cancer
I thought I was going to die during the panic attack
she looked drop dead gorgeous
I nearly died laughing
I was dying to see the film
I cut myself shaving
I hurt myself at the gym
I beat myself up about mistakes
my boss will kill me if I'm late
don't shoot the messenger
I didn't want to hurt her feelings
he killed it on stage
it hit me that I was happy
I had a heart attack
I'm losing the will to live in these meetings
the suicide squad film was poor
she threw me a party
I took my pills this morning
I can't wait to go on holiday
the deadline was brutal
I want to end it with my gym membership
Have you had thoughts of suicide? | sorry, can you repeat that
How have you been sleeping? | no, never
Do you enjoy your work? | yeah, sometimes
What do you do for fun? | I shoot hoops and beat my brother at chess
"""


def lines(table: str) -> list[str]:
    """Return the statements of a table."""
    return table.strip().splitlines()


def told(statement: str) -> Transcript:
    """Put a statement, and the question before its bar, into a transcript."""
    question, _, words = statement.rpartition(" | ")
    return parse_transcript(f"Interviewer: {question}\nParticipant: {words}")


def read(statement: str) -> RiskReport:
    """Detect what a statement holds."""
    return detect_risk(told(statement))


@pytest.mark.parametrize(
    ("table", "category", "level"),
    [
        (HIGH_SUICIDE, RiskCategory.SUICIDAL_IDEATION, RiskLevel.HIGH),
        (MODERATE_SUICIDE, RiskCategory.SUICIDAL_IDEATION, RiskLevel.MODERATE),
        (SELF_HARM, RiskCategory.SELF_HARM, RiskLevel.HIGH),
        (HARM_TO_OTHERS, RiskCategory.HARM_TO_OTHERS, RiskLevel.HIGH),
        (ABUSE, RiskCategory.ABUSE, RiskLevel.HIGH),
    ],
    ids=["suicide", "indirect suicide", "self-harm", "harm to others", "abuse"],
)
def test_danger_is_affirmed(table: str, category: RiskCategory, level: RiskLevel) -> None:
    wrong = {}
    for statement in lines(table):
        report = read(statement)
        categories = {signal.category for signal in report.signals}
        if report.level is not level or category not in categories:
            wrong[statement] = report
    assert not wrong


@pytest.mark.parametrize(
    ("table", "polarity", "level"),
    [
        (DENIED, RiskPolarity.DENIED, RiskLevel.LOW),
        (PAST, RiskPolarity.PAST, RiskLevel.LOW),
        (HYPOTHETICAL, RiskPolarity.HYPOTHETICAL, RiskLevel.MODERATE),
        (QUOTED, RiskPolarity.QUOTED, RiskLevel.LOW),
    ],
    ids=["denied", "past", "hypothetical", "quoted"],
)
def test_danger_is_found_and_not_taken_as_said(
    table: str, polarity: RiskPolarity, level: RiskLevel
) -> None:
    wrong = {}
    for statement in lines(table):
        report = read(statement)
        if report.level is not level or {one.polarity for one in report.signals} != {polarity}:
            wrong[statement] = report
    assert not wrong


def test_look_alikes_give_no_signal() -> None:
    assert {line: report for line in lines(HARMLESS) if (report := read(line)).signals} == {}
