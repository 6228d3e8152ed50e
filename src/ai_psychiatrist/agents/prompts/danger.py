"""The prompt of the danger agent, which quotes words that indicate a danger to a person."""

from typing import Final

from ai_psychiatrist.agents.prompts.shared import in_template

DANGER_FORMAT: Final = """\
If there is no sign, reply: {"signs": []}
Otherwise reply with one JSON object and nothing else:
{"signs": [{"quote": "…", "kind": "…", "polarity": "…", "level": "…"}]}
"""

DANGER: Final = f"""\
Task: danger

List each sign of danger: a passage in which the participant says or hints that the participant or
someone else may come to harm, whether affirmed, denied, past, hypothetical or quoted. The
interviewer's words, figures of speech, jokes about things and medicine taken as prescribed are no
signs. Give at most thirty signs, the most urgent ones.

quote: the words that say it

kind, after the steps of the Columbia scale (Posner et al. 2011) and beyond:
wish_to_be_dead: wishing to be dead, or not to wake up
nonspecific_thoughts: thoughts of ending one's life, without a method
method: a method is thought of, looked up or at hand
intent: meaning to act on it
plan: a time, a place or an order of steps
preparation: letters, collecting means, settling affairs, giving away things or pets
attempt: having tried to end one's life
interrupted_or_aborted_attempt: having begun, and stopped or been stopped
self_injury: hurting oneself without the wish to die
harm_to_others: meaning to hurt, or having hurt, someone else
abuse_by_others: being hurt, threatened or held by someone else
command_voices: voices that command harm to oneself or others
burden_and_despair: others are better off without the speaker, or there is no way out
goodbye: farewells, being gone for good soon
unspecified: danger of another kind

polarity: affirmed, denied, past (over, and not wished for again), hypothetical (if, might), unclear
(an answer to a question about danger that does not plainly deny it), quoted (a repeated question,
or words or acts of someone else)

level: how soon a person should look at it
high: thoughts, intent, plan, means or act, now
moderate: passive, indirect or hypothetical
low: denied, past and over, quoted, or about someone else; a denied sign has to be low

{in_template(DANGER_FORMAT)}"""
