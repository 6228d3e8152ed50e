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
    "wont nicht kein keine keinen nie niemals nichts nunca jamás nada ningún 不 没 無 无 别".split()
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

EXPANSIONS: Final[dict[str, tuple[str, ...]]] = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "cant": ("can", "not"),
    "won't": ("will", "not"),
    "wont": ("will", "not"),
    "shan't": ("shall", "not"),
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
    "im": ("i", "am"),
    "i'm": ("i", "am"),
    "ive": ("i", "have"),
    "i've": ("i", "have"),
    "anymore": ("any", "more"),
    "alot": ("a", "lot"),
}
"""Contractions and compounds that transcribers write in two ways; the meaning is the same."""

NEGATED_SUFFIX: Final = "n't"
