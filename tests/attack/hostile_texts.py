"""Transcripts that cost most for their length: one shape each, of any size."""

import itertools
from collections.abc import Callable, Mapping
from typing import Final

Shape = Callable[[int], str]


def repeated(unit: str, *, before: str = "", after: str = "") -> Shape:
    """Return the shape of one unit said again and again between two ends that stay."""

    def text(size: int) -> str:
        room = max(size - len(before) - len(after), 0)
        return before + (unit * (room // len(unit) + 1))[:room] + after

    return text


def halves(first: str, second: str, *, before: str = "") -> Shape:
    """Return the shape of a run of one unit and an equally long run of another."""

    def text(size: int) -> str:
        half = max(size - len(before), 0) // 2
        return before + (first * half)[:half] + (second * half)[:half]

    return text


def counted(form: str) -> Shape:
    """Return the shape of a unit that holds a number which never comes again."""

    def text(size: int) -> str:
        parts: list[str] = []
        length = 0
        for number in itertools.count(1):
            parts.append(form.format(number))
            length += len(parts[-1])
            if length >= size:
                break
        return "".join(parts)[:size]

    return text


def nested(opening: str, closing: str) -> Shape:
    """Return the shape of brackets that all open before any of them closes."""
    return halves(opening, closing, before="I feel ")


HOSTILE_TEXTS: Final[Mapping[str, Shape]] = {
    # Unicode
    "marks in order": repeated("\u0301", before="a"),
    "marks out of order": halves("\u0301", "\u0316", before="a"),
    "marks alternating": repeated("\u0301\u0316", before="a"),
    "marks of many classes": repeated("\u0334\u0345\u0327\u0315\u0591\u3099", before="a"),
    "marks on every letter": repeated("a\u0301\u0316\u0327"),
    "marks without a base": repeated("\u0301\u0316 "),
    "marks with zero width": repeated("\u0301\u200b\u0316\u200d", before="a"),
    "ligature of eighteen letters": repeated("\ufdfa"),
    "ligatures with marks": repeated("\ufdfa\u0316\u0301"),
    "latin ligatures": repeated("\ufb03\ufb06\u0132"),
    "decomposing marks": repeated("\u0344\u0f73", before="a"),
    "hangul jamo": repeated("\u1100\u1161\u11a8"),
    "hangul leading jamo": repeated("\u1100"),
    "ideographs": repeated("我每天都觉得很累"),
    "one ideograph": repeated("累"),
    "kana": repeated("つかれた"),
    "thai": repeated("เหนื่อยมาก"),
    "right to left": repeated("أنا متعب جدا "),
    "direction overrides": repeated("\u202etired\u202c "),
    "emoji sequences": repeated("👩‍👩‍👧‍👦"),
    "astral letters": repeated("𝒕𝒊𝒓𝒆𝒅 "),
    "homoglyphs": repeated("tіrеd "),
    "zero width": repeated("\u200b", before="tired"),
    "zero width in words": repeated("t\u200bi\u200dr\ufeffe\u00add "),
    "dotted capitals": repeated("İI "),
    "fractions": repeated("½¼⅞"),
    "superscripts": repeated("x²³"),
    # Words
    "one endless word": repeated("tired"),
    "one endless accented word": repeated("müde"),
    "one word": repeated("tired "),
    "two words": repeated("very tired "),
    "one letter": repeated("a "),
    "words that differ": counted("word{} "),
    "no": repeated("no "),
    "no with commas": repeated("no, "),
    "not not": repeated("not ", before="I am ", after="tired"),
    "repeated start": repeated("I ", after="feel tired"),
    "repeated start in sentences": repeated("I I I mean "),
    "repeated starts nested": repeated("I feel I feel tired I feel I feel tired so "),
    "repeats of four words": repeated("I was so very I was so very "),
    "um": repeated("um "),
    "fillers with dashes": repeated("um - uh — er – "),
    "fillers joined": repeated("um-"),
    "you know": repeated("you know, "),
    "i mean": repeated("I mean, "),
    "cut off": repeated("w- w- w- wa "),
    "cut off far": repeated("w- x y "),
    "cut off growing": counted("tire- {} tire"),
    "dashes": repeated("- "),
    "and": repeated("and "),
    "if": repeated("if "),
    "and i": repeated("and I "),
    "but": repeated("but "),
    "others": repeated("my wife and "),
    "openers": repeated("so well um "),
    "one clause without a stop": repeated("I walked the dog to the park with the man "),
    "frequencies": repeated("every day "),
    "numbers in words": repeated("seven eight nine "),
    "counts of days": repeated("four nights a week or "),
    "not once": repeated("not ", after=" two"),
    "not at all": repeated("not at all two "),
    "years": repeated("1999 when "),
    "since": repeated("when after before until "),
    # Sentences
    "danger in every sentence": repeated("I want to kill myself. "),
    "danger in one clause": repeated("I want to kill myself and "),
    "danger begun": repeated("I want to "),
    "danger with gaps": repeated("he used to then still hit "),
    "speech of others": repeated('she said "I want to die" '),
    "symptom in every sentence": repeated("I feel hopeless. "),
    "symptom in one clause": repeated("hopeless tired sad "),
    "symptoms that differ": counted("I felt hopeless {} times. "),
    "wellness": repeated("I sleep well "),
    "symptoms of others": repeated("my wife can't sleep, "),
    "questions": repeated("Do you feel sad? "),
    "one word sentences": repeated("No. Yes. "),
    "ellipses": repeated("...", before="tired", after="no"),
    "stops and spaces": repeated(".  ", before="tired"),
    "lament": repeated("what's the point? "),
    # Marks and tags
    "digits with commas": repeated("1,2,3,4,"),
    "digits with colons": repeated("1:"),
    "digits": repeated("1234567890"),
    "decimals": repeated("1.1."),
    "accented digits": repeated("é1,1:"),
    "commas": repeated(",", before="tired"),
    "commas with spaces": repeated(", ", before="tired"),
    "apostrophes": repeated("'", before="tired"),
    "apostrophes with letters": repeated("'s", before="it"),
    "typographic apostrophes": repeated("’s", before="it"),
    "quotation marks": repeated('"', before="tired"),
    "typographic quotation marks": repeated("“”", before="tired"),
    "open tags": repeated("<a", before="tired "),
    "tags": repeated("<a>", before="tired "),
    "less than": repeated("<", before="tired "),
    "tags of much": repeated("<laughter><not>", before="tired "),
    "open sounds": repeated("[pause", before="tired "),
    "sounds": repeated("[pause]", before="tired "),
    "open cleared throat": repeated("(clears throat", before="tired "),
    "parentheses": repeated("(", before="tired "),
    "nested parentheses": nested("(", ")"),
    "symbols": repeated("%$&@+="),
    "minus": repeated("-", before="tired ", after="1"),
    "backticks": repeated("`a`", before="tired "),
    "underscores": repeated("_", before="tired"),
    "control characters": repeated("\x00\x01\x1b", before="tired"),
    # Lines and turns
    "newlines": repeated("\n", before="tired", after="sad"),
    "carriage returns": repeated("\r\n", before="tired", after="sad"),
    "spaces": repeated(" ", before="tired", after="sad"),
    "tabs": repeated("\t", before="tired", after="sad"),
    "indented lines": repeated("\n" + " " * 60, before="tired", after="sad"),
    "unicode spaces": repeated("\u2003\u00a0", before="tired", after="sad"),
    "line separators": repeated("\u2028\u0085\v\f", before="tired", after="sad"),
    "blank lines with spaces": repeated("\n" + " " * 79 + ".", before="tired"),
    "empty turns": repeated("P:\n", before="P: tired\n"),
    "two speakers": repeated("I: ok\nP: tired\n"),
    "nearly too many turns": repeated("I: how do you feel?\nP: tired, mostly.\n" + " " * 3),
    "answers": repeated("I: Do you feel safe at home?\nP: no\n"),
    "questions without answers": repeated("I: Do you want to die?\n", before="P: hm\n"),
    "wordy turns": repeated("I: How do you sleep?\nP: I can't sleep at all, most nights.\n"),
    "long questions": repeated("do you ", before="I: ", after="want to die?\nP: no"),
    "pseudo labels": repeated("x" * 59 + ":\n", before="Patient: tired\n"),
    "pseudo labels of words": repeated("a b " * 14 + "\n", before="Patient: tired\n"),
    "labels without end": repeated("P", before="Patient: tired\n"),
    "labels with spaces": repeated("P" + " " * 50 + "\n", before="Patient: tired\n"),
    "colons": repeated(":", before="Patient: tired\n"),
    "wide colons": repeated("：\n", before="Patient: tired\n"),
    "long labels": repeated("ﬃ" * 59 + ":\n", before="Patient: tired\n"),
}
"""Name → text of about so many characters; a transcript of the participant's words, or labelled."""
