"""Words with a role in grounding: they carry no content, answer a question, or fill a pause."""

from typing import Final

ANSWER_WORDS: Final = frozenset(
    "yes yeah yep yup no nope nah never not none rarely seldom sometimes often always definitely "
    "absolutely certainly constantly mostly somewhat slightly".split()
)

FILLERS: Final = frozenset("um umm uh uhh er erm hmm hm mm mmm uhm ah eh äh ähm öh 嗯 呃".split())

NUMBER_WORDS: Final = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand once twice half couple dozen".split()
)

NEGATIONS: Final = frozenset(
    "not no never none nothing nobody nowhere neither nor without hardly barely scarcely cannot "
    "don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't can't couldn't won't "
    "wouldn't shouldn't mustn't ain't n't dont doesnt didnt isnt wasnt havent hasnt cant couldnt "
    "wont nicht kein keine keinen nie niemals nichts nunca jamás nada ningún sin pas jamais rien "
    "aucun non mai niente nessuno niet geen nooit não nem nenhum sem 不 没 無 无 别".split()
)

FREQUENCY_WORDS: Final = frozenset(
    "always sometimes often usually daily weekly every constantly mostly days nights".split()
)

PROTECTED: Final = ANSWER_WORDS | NEGATIONS | FREQUENCY_WORDS | NUMBER_WORDS
"""Words that a tolerant match never leaves out."""

STOP_WORDS: Final = (
    ANSWER_WORDS
    | FILLERS
    | frozenset(
        "a an the and or but so if then than that this these those there here it it's its i i'm "
        "i've i'd i'll me my mine myself you you're you've your yours he he's she she's his her "
        "him hers they they're their them we we're us our is are was were be been being am do does "
        "did done doing have has had having can can't cannot could couldn't will won't would "
        "wouldn't shall should shouldn't may might must don't doesn't didn't isn't aren't wasn't "
        "weren't haven't hasn't hadn't of to in on at by for from with about as into out up down "
        "off over again too very just really quite rather also only even still yet now all any "
        "some more most much many what which who whom when where why how oh okay ok well like know "
        "mean guess maybe perhaps sort kind bit lot get got go going".split()
    )
)

PERSONS: Final = frozenset("i we he she you they me my his her him our us your their".split())

QUANTITIES: Final = frozenset(
    "occasionally frequently regularly few fewer less least more most all some any much many "
    "little lot".split()
)
"""Words in brackets that may say how much or how often: "[most of the time]"."""

SOUNDS: Final = frozenset(
    "laughter laugh laughs laughing laughed chuckle chuckles chuckling giggle giggles giggling "
    "sigh sighs sighing cough coughs coughing crying cries sniff sniffs sniffle sniffles "
    "sniffling sob sobs sobbing pause pauses silence inaudible unintelligible indistinct crosstalk "
    "breath breaths breathes breathing inhales exhales gasp gasps groan groans yawn yawns snort "
    "snorts noise music applause mumbles mumbling whispers whispering sync".split()
)
"""What a note in brackets names that is no speech."""

SOUND_MODIFIERS: Final = frozenset(
    "a an and the of in out both long short brief slight slightly deep deeply heavy heavily loud "
    "loudly soft softly quiet quietly nervous nervously big small background".split()
)

SOUND_PHRASES: Final = frozenset(
    {"cross talk", "clears throat", "clearing throat", "throat clearing"}
    | {"clears his throat", "clears her throat", "clears their throat"}
)

EXPANSIONS: Final[dict[str, tuple[str, ...]]] = {
    "cannot": ("can", "not"),
    "cant": ("can", "not"),
    "wont": ("will", "not"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "isnt": ("is", "not"),
    "wasnt": ("was", "not"),
    "couldnt": ("could", "not"),
    "wouldnt": ("would", "not"),
    "shouldnt": ("should", "not"),
    "havent": ("have", "not"),
    "hasnt": ("has", "not"),
    "hadnt": ("had", "not"),
    "dunno": ("do", "not", "know"),
    "im": ("i", "am"),
    "i'm": ("i", "am"),
    "ive": ("i", "have"),
    "let's": ("let", "us"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "gotta": ("got", "to"),
    "hafta": ("have", "to"),
    "kinda": ("kind", "of"),
    "sorta": ("sort", "of"),
    "outta": ("out", "of"),
    "lotta": ("lot", "of"),
    "gimme": ("give", "me"),
    "lemme": ("let", "me"),
    "cuz": ("because",),
    "ok": ("okay",),
    "alright": ("all", "right"),
    "anymore": ("any", "more"),
    "alot": ("a", "lot"),
}
"""Contractions and compounds that transcribers write in two ways; the meaning is the same."""

NEGATED_STEMS: Final = {"ca": "can", "wo": "will", "sha": "shall"}
"""What stands before "n't" where it is no word itself."""

SHORTENED_AUXILIARIES: Final = {"'ll": "will", "'re": "are", "'ve": "have"}

WITH_SHORTENED_VERB: Final = frozenset(
    "i you he she it we they that there here this what who where how when why everything "
    "everybody everyone something somebody someone nothing nobody".split()
)
"""Words whose "'s" and "'d" are verbs; after others an "'s" may be possession."""

ADVERBS: Final = frozenset(
    "not never always often sometimes just also even still already ever only so too rather quite "
    "kind sort of almost maybe perhaps now then".split()
)

PERFECTS: Final = frozenset(
    "been had got gotten become taken given happened started stopped come grown helped worked "
    "improved".split()
)
"""Before these an "'s" stands for "has", before others for "is"."""

PARTICIPLES: Final = frozenset(
    "been had gone done seen known taken given got gotten lost felt slept eaten thought said told "
    "made left kept found heard begun become written broken chosen driven fallen forgotten grown "
    "spent stood understood woken worn brought bought caught taught meant sent built held met sat "
    "won drunk swum sworn torn thrown shown spoken stolen risen ridden hidden frozen flown drawn "
    "better".split()
)
"""After these a "'d" was "had"."""

TIMELESS_PARTICIPLES: Final = frozenset(
    "hurt put cut let quit hit come become run read set shut cost split spread beat bet burst cast "
    "rid shed overcome".split()
)
"""They do not tell whether "'d" was "had" or "would"."""

BARE_WORDS: Final = (
    ANSWER_WORDS
    | FILLERS
    | NEGATIONS
    | frozenset(
        "i i'm i've i'd i'll you you're he she it it's that that's we they is are was were be been "
        "am do does did have has had can could will would should may might must just really very "
        "too so much quite at all to of the a lot bit and but oh okay ok well".split()
    )
)
"""Words that say by themselves nothing of what somebody is, has or does."""
