"""The prompt of the danger agent, which quotes words that indicate a danger to a person."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template

DANGER_FORMAT: Final = """\
Without any sign, reply: {"signs": []}
Otherwise reply with one JSON object and nothing else:
{"signs": [{"quote": "…", "kind": "…", "polarity": "…", "level": "…"}]}
"""

DANGER: Final = f"""\
Task: danger

Read the transcript for danger alone: the participant, or somebody else, may come to harm. List
each stretch of words that speaks of it, in plain words or by a hint, be it said, denied, past,
imagined or quoted. Words of the interviewer are no sign. Words that only sound alike are none
either: a figure of speech, a joke about a machine, medicine taken as prescribed.

kind, by the steps of the Columbia scale and beyond:
wish_to_be_dead: wishing not to be alive, or not to wake up
nonspecific_thoughts: thoughts of ending one's life, without a way
method: a way is thought of, looked up, or at hand
intent: meaning to act on it
plan: a time, a place or an order of steps
preparation: letters, collecting means, affairs put in order, things or pets given away
attempt: having tried to end one's life
interrupted_or_aborted_attempt: having begun, and stopped or been stopped
self_injury: hurting oneself without the wish to die
harm_to_others: meaning to hurt, or having hurt, somebody else
abuse_by_others: being hurt, threatened or held by somebody else
command_voices: voices that tell somebody to come to harm
burden_and_despair: others are better off without the speaker, or there is no way on
goodbye: farewells, soon gone for good

unspecified: danger of another kind

polarity: affirmed, denied, past (over, and not wished for again), hypothetical (if, might), unclear
(an answer to a question about it that does not plainly deny it), quoted (a question repeated, or
words or acts of somebody else)

level: how soon a person should look
high: thoughts, intent, plan, means or act, now
moderate: passive, indirect or hypothetical
low: denied, past and over, quoted, or about somebody else

quote: the words that say it, copied letter by letter, one unbroken stretch of one turn, long
enough to be understood. At most thirty signs, the most urgent ones.

{in_template(DANGER_FORMAT)}"""
