"""Dangers in a participant's words: what is found, how it is read, and what is not one.

In the tables a statement may follow the interviewer's question and a bar.
"""

import time
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from benchmarks.risk import (
    INTERVIEW_HELD_OUT,
    INTERVIEW_STATEMENTS,
    alarm_shares,
    readings,
    shares,
)
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.risk import (
    MOST_SIGNALS,
    RiskCategory,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskReport,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

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
Have you ever hurt yourself? | ten years ago, not since
Have you thought of suicide? | when I was a teenager, but it stopped
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
How have you been sleeping? | no, never
Do you enjoy your work? | yeah, sometimes
What do you do for fun? | I shoot hoops and beat my brother at chess
"""

OBLIQUE_HIGH = """
I looked up how many sleeping pills it takes to die
I checked which tablets are lethal
I've thought about driving my car into a tree so that it's all over
I loaded my dad's gun
I held the kitchen knife against my throat
I pray every night that I die
I'd prefer death to another year of this
I took every tablet in the cabinet on Saturday and then I got scared
my head keeps telling me to step in front of a train
I sat in the car with the engine on and the hose in the window
I'm gonna kill myself and nobody can stop me
i swallowed bleach last week
I've chosen the day, it's the fourteenth
I have a rope in the garage
Suicide is the only thing I can think about
I'm suicidal
I can't promise I won't kill myself
I almost jumped yesterday
I have been cutting since Christmas
I dig a razor into my leg
I punch myself in the face when I'm angry
I'm going to beat the living daylights out of him
I'm so angry I could stab her, I've got the knife ready
I shook the baby, I couldn't stop myself
I'll kill that man, I swear
my wife punches me in the stomach
my uncle touches me when mum's at work
he raped me on Friday
he won't let me see my friends and he checks my phone
my son takes my money and pushes me around
my partner strangled me until I passed out
Have you thought about how you would do it? | yeah, pills
Is there anyone at home who hurts you? | my stepdad
Do you have thoughts of killing yourself? | all the time
Are you having thoughts of suicide? | kind of
I have got this overwhelming desire to be dead
my plan is to do it on my birthday
I swallowed forty paracetamol on Thursday night
I tied a sheet to the door handle but it broke
honestly I'm just thinking of topping myself
every time I cross that bridge I imagine throwing myself off
I can see myself hanging there
I told my sister where to find my will and my bank details because I won't need them
I held the knife to my wrist this morning
I've been googling how to tie a noose
I'm a danger to myself
I don't trust myself with the car keys, I'd crash it
I get this voice saying kill yourself kill yourself
I relapsed, there are new cuts on my legs
I hurt myself because it's the only way to feel anything
I hit my own face till it's bruised
I pour boiling water on my hands
I swear I will murder that man if he comes near my daughter
I grabbed my wife by the throat
I fantasise about poisoning my mother in law
I've hit my kids and I'm ashamed
I'm going to make her suffer
my girlfriend slapped me and threw a plate at my head
he locks me in the bedroom when he goes out
my father comes into my bed
he says he'll hurt the children if I leave
he held me down and wouldn't stop when I said no
my carer shouts and shoves me when I'm slow
Are you thinking about suicide right now? | Yes.
Have you been hurting yourself? | a bit
Does he ever get physical with you? | he does, yeah
Do you want to be alive? | no
When did you last self-harm? | this morning
I've thought about how I'd do it and I'd use the gas
there's enough insulin in my fridge to finish me off
I took my belt and went to the woods but someone saw me
I can't keep myself safe tonight
I want to go under a train
I tried to drown myself in the bath on Monday
my mind is made up, I'm ending it this weekend
I messaged my mates to say goodbye last night
I keep having images of myself dead
yes I'm having thoughts of taking my life
I slashed my arm on Friday, it needed stitches
I've gone back to burning myself with a lighter
I starve myself as punishment
I bash my head on the desk
I feel like smashing my boss's skull in
if he touches my girl I'll kill him
I pushed my mum down the stairs
I've been carrying a blade since those boys jumped me, next time I'll use it
I get urges to hurt the baby
my husband put his hands round my neck
my mum burns me with her cigarettes
he makes me have sex even when I say no
I get beaten when dinner is late
she hits me with the broom handle
the staff at the home tie me to the chair
Have you been having thoughts of harming yourself? | on and off
Any suicidal thoughts? | they come and go
"""
OBLIQUE_MODERATE = """
I'd be happier dead
it would be better if I disappeared for good and never came back
I've been starving for it all to end
being dead has to be easier than this
I wish that fall had killed me
sometimes I think the world would be better without me in it
I just don't see the point in living any more
I go to sleep praying I don't wake up
I wish the ground would swallow me and that would be it
I've lost the will to live
I can't see myself being here next year
there's nothing keeping me here
why am I still alive
I don't want to exist
I'm just so tired of being alive
it would be easier if I wasn't around
if I got hit by a car tomorrow I wouldn't mind
I wish I could just fall asleep and never wake up
I feel like my family would cope better without me
I've been thinking a lot about death
honestly there is no point to me
it would be a relief to just not exist any more
I'm ready to go, I've had enough of this life
I can't keep living like this
I feel trapped and the only way out is death
I don't want to wake up in the morning
I don't see myself living past thirty
nobody would even notice if I was gone
life has no meaning for me any more
I wish it would all stop
I keep hoping I'll get some fatal illness
Have you felt that life wasn't worth living? | quite often
I sometimes think about not being around any more
I feel like I'm just waiting to die
they'd get over me
I wish I'd never woken up from the operation
the kids deserve a better mum, they'd be fine without me
I'm fed up of being alive
I don't know how much longer I can do this
it's not worth carrying on
I pray to God every night to take me
"""
OBLIQUE_LOW = """
I'd never act on it, I'd never kill myself
I wouldn't ever do anything like that, suicide I mean
my cousin hanged himself last year
I overdosed when I was nineteen
my ex used to hit me, but that's over
I was abused as a child
I had suicidal thoughts in my twenties but not since
Have you ever tried to kill yourself? | once, years ago, and never again
my grandfather shot himself in the war
there was a time I wanted to die, about fifteen years ago
I took an overdose back in 2009
I was cutting in high school but I stopped
my stepfather molested me when I was seven
a girl at my school hurt herself
Have you attempted suicide? | a long time ago, not since
my best mate took his own life at Christmas
I used to be suicidal but that was before the medication
I self-harmed as a teenager
Do you think about suicide? | I did, a few years ago, it stopped
"""
OBLIQUE_DENIED = """
I've never once wanted to kill myself
no I don't have any suicidal thoughts
killing myself isn't something I would do
I have never wanted to harm anybody
Do you have thoughts of hurting others? | nope
I have no intention of ending my life
I'm not going to hurt myself, I promise
he isn't violent, he has never laid a hand on me
Have you had any thoughts of harming others? | no, nothing like that
no plans to hurt myself or anyone
"""
OBLIQUE_HARMLESS = """
I wouldn't be happier dead
I looked up how many pills are in a pack
I looked up the easiest way to go to the airport
I was reading how many people die of flu
I drove my car into a tree last year, an accident
the taxi crashed into a barrier
the barber held a razor to my throat
I loaded the nail gun
I pray my heart stops racing at night
I prefer death metal to pop
I'm better at dead lifts than squats
I'm one step away from a promotion
my back is killing me today
I was bored to death in that lecture
I nearly died of embarrassment
the plants keep dying on me
I'd kill for a good night's sleep
I have to cut the grass this weekend
my team got beaten on Sunday
I'm worried I will die young like my father, from his heart
my mother died two years ago and I miss her
I jumped in the pool with the kids
I hung up on him
the dentist hurt me a bit
I've had enough of this weather
I'm done with that course now
I can't go on working nights
I want to end my lease early
I don't want to live in the city anymore
I take all my pills in the morning
I hit my thumb with a hammer
I shot some great photos
they fired me and it hurt
we're fighting the council about the flat
I would rather stay home than go out
it hurts when I walk
I burned the dinner
I gave up smoking
he's a lovely man, he never shouts
How do you sleep? | not anymore, not well
I threw out my old things
I don't see the point in that training
I'm dying for a cigarette
my computer killed my whole afternoon
we killed off the idea
the exam was suicide
my arms hurt from the gym
I cut my finger chopping onions
my daughter died in March and I miss her every day
he hung the picture
I can't take this medication any more, it makes me sick
I don't want to be here all day, can we be quick
it would be better if I moved closer to work
I jumped out of bed
I overdid it at the weekend
I was beaten to the last ticket
I punched in late this morning
the kids are driving me up the wall
he pushed me to apply for the job
I'm scared of heights
I'm scared I'll die on the operating table
my ex and I ended things on good terms
my wife threatened to leave
I feel dead on my feet
they shot the film near my house
I'm at the end of my rope with this printer
I burn easily in the sun
I've got a plan for the garden
I can't live without my coffee
I gave away the old sofa
my dad passed away last spring
I wouldn't hurt for company
I bruise easily
there's no way out of the car park after six
my boss is abusing the overtime rules
I always take the stairs instead of the lift
I wrote a letter to the council
my nephew is a little terror, he bites
it's a dead end job
I missed the train
I love my life
I'm drowning in paperwork
the heat is murder
it cost an arm and a leg
he's a lady killer
I took two ibuprofen for the headache
the cold goes right to my bones
my legs give out on the stairs
it's a matter of life and death for the business
my son wants to be a soldier
I'd rather be at home in bed
I hope to be off the ventilator soon
I don't want to go on statins
I hurt my shoulder moving a sofa
my knee gets hurt when I run
I fell and hit my head
I have been thinking about moving house
we were thinking of getting a dog
I burned myself on the oven tray
I'm going to hit the road soon
he hit the ball right at me
it's hard living without my mum
I miss her, I wish she was here
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
        (DENIED, RiskPolarity.DENIED, RiskLevel.NONE),
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


@pytest.mark.parametrize(
    ("table", "level"),
    [
        (OBLIQUE_HIGH, RiskLevel.HIGH),
        (OBLIQUE_MODERATE, RiskLevel.MODERATE),
        (OBLIQUE_LOW, RiskLevel.LOW),
        (OBLIQUE_DENIED, RiskLevel.NONE),
        (OBLIQUE_HARMLESS, RiskLevel.NONE),
    ],
    ids=["high", "moderate", "low", "denied", "harmless"],
)
def test_the_level_of_what_is_said_in_other_words(table: str, level: RiskLevel) -> None:
    assert {line: found for line in lines(table) if (found := read(line).level) is not level} == {}


def test_look_alikes_give_no_signal() -> None:
    assert {line: report for line in lines(HARMLESS) if (report := read(line)).signals} == {}


def test_an_interviewers_words_alone_give_no_signal() -> None:
    questions = "Do you want to die?\nInterviewer: People kill themselves. I want to die."
    transcript = parse_transcript(f"Interviewer: {questions}\nParticipant: No, never.")

    assert detect_risk(transcript).level is RiskLevel.NONE


def test_text_without_labels_is_the_participants() -> None:
    assert detect_risk(parse_transcript("I want to kill myself")).level is RiskLevel.HIGH


@pytest.mark.parametrize(
    ("statement", "span"),
    [
        ("Well, um, I wanna die, you know", "wanna die"),
        ("Have you had thoughts of suicide? | yeah, sometimes", "yeah, sometimes"),
        ("I don’t want to be here anymore", "don’t want to be here"),
    ],
)
def test_a_span_covers_the_phrase_or_the_answer(statement: str, span: str) -> None:
    transcript = told(statement)

    (signal,) = detect_risk(transcript).signals

    assert transcript.text[signal.start : signal.end] == span


def test_an_either_or_question_is_answered_for_what_is_named() -> None:
    report = read("Are these thoughts about hurting yourself, or someone else? | someone else")

    assert [signal.category for signal in report.signals] == [RiskCategory.HARM_TO_OTHERS]


def test_a_question_that_is_repeated_and_then_affirmed_is_affirmed() -> None:
    assert read("Suicidal thoughts? Yes.").level is RiskLevel.HIGH
    assert read("Suicidal thoughts? No.").level is RiskLevel.NONE


def test_an_answer_to_a_later_question_is_not_read_by_an_earlier_one() -> None:
    report = read("Suicide worries many people. How well have you been sleeping lately? | not well")

    assert report.level is RiskLevel.NONE


words = st.sampled_from(
    "i not never want to die kill myself him me my husband hits if used yes no ? . , \n".split(" ")
)


@given(st.lists(words, min_size=1, max_size=40).map(" ".join), st.text(max_size=80))
def test_spans_lie_in_participant_turns_and_in_order(spoken: str, noise: str) -> None:
    text = f"Doctor: Any thoughts of suicide?\nPatient: x {spoken}\nDoctor: ok\nPatient: x {noise}"
    transcript = parse_transcript(text.encode("utf-8", "replace").decode("utf-8"))

    signals = detect_risk(transcript).signals

    for signal in signals:
        turn = transcript.turns[signal.turn]
        assert turn in transcript.participant_turns()
        assert turn.words_start <= signal.start < signal.end <= turn.end
    assert [one.turn for one in signals] == sorted(one.turn for one in signals)


@given(st.sampled_from([*lines(HIGH_SUICIDE), *lines(ABUSE), *lines(DENIED), *lines(QUOTED)]))
def test_a_harmless_turn_more_does_not_lower_the_level(statement: str) -> None:
    before = told(statement)
    after = parse_transcript(f"{before.text}\nInterviewer: I see.\nParticipant: I like my garden.")

    assert detect_risk(after).level.rank >= detect_risk(before).level.rank


@pytest.mark.parametrize(
    "text",
    [
        "<" * 16_000,
        "kill " * 16_000,
        "not " * 20_000,
        "i want to die " * 5_600,
        "Doctor: any thoughts of suicide?\nPatient: yeah\n" * 1_600,
        "," * 80_000,
        "a" * 80_000,
    ],
    ids=["angles", "verbs", "negators", "dangers", "answers", "commas", "one word"],
)
def test_hostile_input_takes_linear_time(text: str) -> None:
    """Four times the text would take sixteen times as long if it grew with the square."""

    def seconds(part: str) -> float:
        transcript = parse_transcript(part)
        start = time.process_time()
        detect_risk(transcript)
        return time.process_time() - start

    assert seconds(text) < 8 * seconds(text[: len(text) // 4]) + 0.5


def test_the_frozen_statements_are_read_as_well_as_recorded() -> None:
    found = {share.name: share.value for share in shares(readings())}

    assert found["recall"] >= 0.99
    assert found["recall, labelled high"] == 1.0
    assert found["labelled high, found as moderate or high"] >= 0.99
    assert found["false alarms, any level"] <= 0.01
    # Two answers that only repeat the question were labelled low; they answer nothing.
    assert found["level"] >= 0.97


@pytest.mark.parametrize(
    ("path", "least"),
    [(INTERVIEW_STATEMENTS, 60), (INTERVIEW_HELD_OUT, 22)],
    ids=["tuned to", "held out at first"],
)
def test_what_an_interviewer_is_told_is_read_as_well_as_recorded(path: Path, least: int) -> None:
    dangers, look_alikes, harmless = alarm_shares(readings(path))

    assert dangers.count >= least
    assert (look_alikes.count, harmless.count) == (0, 0)


@pytest.mark.parametrize(
    "statement",
    [
        "I want to die like I did when I was a teenager",
        "I want to kill myself. I got help once.",
        "I want to die. I left him last year.",
        "I've wanted to die since I was a child",
        "I tried to kill myself years ago and now I want to do it again, I want to die",
        "No. I want to die though",
        "I never wanted to kill myself until now",
        "I haven't slept and I want to kill myself",
        "i dont eat i dont sleep i want to kill myself",
        "I can't work because I'm suicidal",
        "nobody knows I'm suicidal",
        "I told my wife about wanting to die",
        "Any thoughts of suicide? | not today",
        "Any thoughts of suicide? | no comment",
        "Any thoughts of suicide? | no but I do think about it",
        "Any thoughts of suicide? | no... well... sometimes",
        "Any thoughts of suicide? | I'd be lying if I said no",
        "Have you thought of suicide? | No. Well, yes, I want to kill myself",
    ],
)
def test_a_danger_of_now_is_not_taken_as_past_or_denied(statement: str) -> None:
    assert read(statement).level is RiskLevel.HIGH


def test_the_most_urgent_of_many_signals_are_listed_in_their_order() -> None:
    text = "Patient: " + "I don't want to die. " * 300 + "I want to kill myself. " * 2_000

    report = detect_risk(parse_transcript(text))

    assert report.signal_count == 2_300
    assert len(report.signals) == MOST_SIGNALS
    assert {signal.level for signal in report.signals} == {RiskLevel.HIGH}
    starts = [signal.start for signal in report.signals]
    assert starts == sorted(starts)
    assert starts[0] == text.index("kill myself")


def test_fewer_signals_are_all_listed() -> None:
    report = detect_risk(parse_transcript("Patient: " + "I don't want to die. " * 150))

    assert report.signal_count == len(report.signals) == 150
    assert report.level is RiskLevel.NONE


def test_the_level_is_that_of_the_last_of_many_signals() -> None:
    report = detect_risk(
        parse_transcript("Patient: " + "I don't want to die. " * 500 + "I want to kill myself.")
    )

    assert report.level is RiskLevel.HIGH
    assert report.signals[-1].level is RiskLevel.HIGH
    assert [signal.level for signal in report.signals[:-1]] == [RiskLevel.NONE] * 199


SPANISH = "Quiero morirme, ya no tengo ganas de vivir y nadie me ayuda."


def in_turns(*said: str) -> RiskReport:
    return detect_risk(parse_transcript("\n".join(f"Participant: {words}" for words in said)))


def test_words_in_a_language_that_is_not_read_are_never_no_danger() -> None:
    report = in_turns("I sleep well these days.", SPANISH)
    assert report.level is RiskLevel.NOT_EXAMINED
    assert [(one.turn, one.language) for one in report.examined.turns_not_examined] == [(1, "es")]


def test_what_was_not_examined_outweighs_a_denial_and_no_sign_of_danger() -> None:
    assert in_turns("I don't want to die.", SPANISH).level is RiskLevel.NOT_EXAMINED
    assert in_turns("I wish I was dead.", SPANISH).level.rank > RiskLevel.NOT_EXAMINED.rank
    assert in_turns("I want to kill myself.", SPANISH).level is RiskLevel.HIGH


def test_the_interviewers_language_alone_leaves_nothing_unexamined() -> None:
    said = f"Interviewer: {SPANISH}\nParticipant: I do not understand what you are saying to me."
    assert detect_risk(parse_transcript(said)).level is RiskLevel.NONE


def table_of(kind: RiskKind) -> dict[str, list[str]]:
    """Read the words of a kind of danger."""
    folder = resources.files("ai_psychiatrist.services.language.vocabulary")
    place = folder.joinpath("en", "danger", f"{kind.value}.toml")
    table: dict[str, list[str]] = tomllib.loads(place.read_text(encoding="utf-8"))
    return table


@pytest.mark.parametrize("kind", [one for one in RiskKind if one is not RiskKind.UNSPECIFIED])
def test_the_examples_of_a_kind_are_read_as_its_table_says(kind: RiskKind) -> None:
    table = table_of(kind)
    alarming, harmless = table["examples"], table["harmless_examples"]

    assert min(len(alarming), len(harmless)) >= 6
    assert [
        said
        for said in alarming
        if not any(
            signal.category is kind.category and signal.level.rank >= RiskLevel.MODERATE.rank
            for signal in read(said).signals
        )
    ] == []
    assert [said for said in harmless if read(said).signals] == []


@pytest.mark.parametrize(
    ("question", "told", "level"),
    [
        ("How is work?", "I've got it all worked out.", RiskLevel.NONE),
        ("Have you thought about suicide?", "I've got it all worked out.", RiskLevel.HIGH),
    ],
)
def test_what_only_the_topic_gives_a_meaning(question: str, told: str, level: RiskLevel) -> None:
    assert read(f"{question} | {told}").level is level


def test_a_topic_stays_open_for_some_turns_and_not_for_ever() -> None:
    opened = "Interviewer: What is it?\nParticipant: I want to kill myself.\n"
    other = "Interviewer: How is the food here?\nParticipant: Not bad.\n"
    told = "Interviewer: And the weekend?\nParticipant: I've got it all worked out."

    soon = detect_risk(parse_transcript(f"{opened}{told}"))
    late = detect_risk(parse_transcript(f"{opened}{other * 3}{told}"))

    assert len(soon.signals) == 2
    assert len(late.signals) == 1
